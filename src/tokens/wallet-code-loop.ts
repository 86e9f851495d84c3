/** Finds out in the background which of the wallets that answers were asked about are contracts. */

import { type DamagedFileError, UpstreamError } from '../lib/errors.ts';
import { toQuantity } from '../lib/hex.ts';
import type { ThreadLog } from '../log/logger.ts';
import type { RpcClient, RpcReply } from '../node/client.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import { batchAt } from './anchored-batch.ts';
import { runBackgroundLoop } from './background-loop.ts';

/** Wallets per batch. */
const WALLETS_PER_BATCH = 50;
/** Shortest pause between two batches, milliseconds. */
const MIN_PAUSE_MS = 100;
/** Pause between looks for requests, milliseconds. */
const IDLE_MS = 250;

/** Most wallets that wait. A wallet refused now is requested again when it is in an answer again. */
const MAX_WAITING = 20_000;

/** Wallets to examine, in the order of the requests. */
export class CodeRequests {
  private readonly waiting = new Set<number>();

  add(wallets: readonly number[]): void {
    for (const wallet of wallets) if (this.waiting.size < MAX_WAITING) this.waiting.add(wallet);
  }

  /** The next wallets, which stay until `drop`. */
  next(): number[] {
    return [...this.waiting].slice(0, WALLETS_PER_BATCH);
  }

  drop(wallets: readonly number[]): void {
    for (const wallet of wallets) this.waiting.delete(wallet);
  }
}

interface WalletCodeLoopOptions {
  store: Pick<IndexWriter, 'head' | 'hashAt' | 'unreadCode' | 'saveCode'>;
  client: Pick<RpcClient, 'batch'>;
  requests: CodeRequests;
  /** Whether the index is at the node's head, the only place where every node has the state. */
  isFollowing(): boolean;
  log: ThreadLog;
  /** Called whenever the loop finds damage in the index. */
  onDamage?(error: DamagedFileError): void;
}

/** Resolves when the signal aborts. Rejects only for a bug. */
export function runWalletCodeLoop(options: WalletCodeLoopOptions, signal: AbortSignal): Promise<void> {
  const { store, client, requests, log, onDamage } = options;
  const step = async (): Promise<boolean> => {
    const wallets = requests.next();
    const head = wallets.length === 0 ? null : store.head();
    if (head === null || !options.isFollowing()) return false;
    const unread = store.unreadCode(wallets);
    if (unread.length > 0) {
      const block = toQuantity(head.number);
      const calls = unread.map(({ address }) => ({ method: 'eth_getCode', params: [address, block] }));
      const replies = await batchAt(client, head, calls, signal);
      const codes = unread.map(({ wallet }, i) => ({ wallet, found: isContract(replies[i]!) }));
      requests.drop(wallets); // one that failed is requested again when it is listed again, and holds up no other
      const known = codes.flatMap(({ wallet, found }): [number, boolean][] =>
        found instanceof UpstreamError ? [] : [[wallet, found]],
      );
      // After a rollback the ids may belong to other wallets.
      if (store.hashAt(head.number) === head.hash) store.saveCode(new Map(known), head.number);
      const failure = codes.find(({ found }) => found instanceof UpstreamError)?.found;
      if (known.length === 0 && failure instanceof UpstreamError) throw failure; // makes the loop back off
    } else requests.drop(wallets);
    return true;
  };
  const timing = { name: 'wallet code', idleMs: IDLE_MS, minPauseMs: MIN_PAUSE_MS };
  return runBackgroundLoop(step, { ...timing, log, onDamage }, signal);
}

/** Code of an account that delegates to a contract (EIP-7702): this and the contract's address. It stays a wallet. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

/** Whether the reply is the code of a contract; an error for a call that failed, and for a result that is no code. */
function isContract(reply: RpcReply): boolean | UpstreamError {
  if ('error' in reply) return reply.error;
  const { result } = reply;
  if (typeof result !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(result))
    return new UpstreamError('malformed', 'eth_getCode: the result is no code');
  return result !== '0x' && !DELEGATION.test(result);
}
