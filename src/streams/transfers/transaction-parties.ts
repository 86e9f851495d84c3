/**
 * Sender and receiver of transactions. The index does not store them. Blocks announced before their commit carry them;
 * for older ones the node is asked, a bounded number at a time.
 */
import { UpstreamError } from '../../lib/errors.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { isObject } from '../../lib/text.ts';
import { ADDRESS_PATTERN, mayBeCreation } from '../../model/address.ts';
import type { RpcCall, RpcClient, RpcReply } from '../../node/client.ts';

/** Addresses of 40 lower-case hex digits; for a contract creation, `to` is the created contract. */
export interface Parties {
  from: string;
  to: string;
}

/** About 2 MB. */
const MAX_CACHED = 8_192;
/** Transactions per batch. One batch is in flight at a time. */
const PER_BATCH = 50;
/** Longest wait for a batch, milliseconds. After that, events are pushed without the answer. */
const TIMEOUT_MS = 1_000;
/** Most queued transactions. Further ones stay unknown. */
const MAX_QUEUED = 5_000;

export class TransactionParties {
  private readonly client: Pick<RpcClient, 'batch'>;
  /** `unknown` if the node does not know the transaction, or its batch failed. */
  private readonly known = new LruMap<string, Parties | 'unknown'>(MAX_CACHED);
  private readonly queue = new Set<string>();
  private loading: Promise<void> | null = null;

  constructor(client: Pick<RpcClient, 'batch'>) {
    this.client = client;
  }

  /** The parties of a transaction, by hash as hex digits. Undefined while the node is being asked. */
  get(txHash: string): Parties | null | undefined {
    const known = this.known.get(txHash);
    if (known !== undefined) return known === 'unknown' ? null : known;
    if (!this.queue.has(txHash) && this.queue.size >= MAX_QUEUED) return null;
    this.queue.add(txHash);
    this.loading ??= this.load();
    return undefined;
  }

  /** Resolves when every earlier request is settled. */
  async settled(): Promise<void> {
    await this.loading;
  }

  private async load(): Promise<void> {
    await Promise.resolve(); // gathers the requests of one turn
    while (this.queue.size > 0) {
      const hashes = [...this.queue].slice(0, PER_BATCH);
      const found = await this.fetch(hashes);
      for (const [i, hash] of hashes.entries()) {
        this.queue.delete(hash);
        this.known.set(hash, found[i] ?? 'unknown');
      }
    }
    this.loading = null;
  }

  /** In the order of the hashes; null where the node gave no answer. */
  private async fetch(hashes: readonly string[]): Promise<(Parties | null)[]> {
    const transactions = await this.ask('eth_getTransactionByHash', hashes);
    const isCreation = (value: unknown) => isObject(value) && mayBeCreation(value.to);
    const creations = hashes.filter((_, i) => isCreation(transactions[i]));
    const receipts = creations.length === 0 ? [] : await this.ask('eth_getTransactionReceipt', creations);
    return transactions.map((value, i) => {
      if (!isObject(value)) return null;
      const receipt = receipts[creations.indexOf(hashes[i]!)];
      const created = isObject(receipt) ? receipt.contractAddress : null;
      return readParties(value.from, mayBeCreation(created) ? value.to : created);
    });
  }

  private async ask(method: string, hashes: readonly string[]): Promise<unknown[]> {
    const calls = hashes.map((hash): RpcCall => ({ method, params: [`0x${hash}`] }));
    try {
      const replies = await this.client.batch(calls, AbortSignal.timeout(TIMEOUT_MS));
      return replies.map((reply: RpcReply) => ('result' in reply ? reply.result : null));
    } catch (error) {
      if (error instanceof UpstreamError || (error instanceof Error && error.name === 'TimeoutError'))
        return hashes.map(() => null);
      throw error;
    }
  }
}

function readParties(from: unknown, to: unknown): Parties | null {
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  if (!ADDRESS_PATTERN.test(from) || !ADDRESS_PATTERN.test(to)) return null;
  return { from: from.slice(2).toLowerCase(), to: to.slice(2).toLowerCase() };
}
