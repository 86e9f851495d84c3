/** REST's reads from the node. */
import type { NodeBalance, NodeBalances, NodeReads } from '../api/node-reads.ts';
import { pause } from '../lib/async.ts';
import { RequestError, UpstreamError } from '../lib/errors.ts';
import { type Hex, spelledBigInt, toQuantity } from '../lib/hex.ts';
import type { Logger } from '../log/logger.ts';
import type { NodeWatch } from '../node/choice/node-watch.ts';
import type { RpcClient, RpcReply } from '../node/client.ts';
import { readBlock, readBlockHeader } from '../node/methods.ts';
import { isUnreachable } from '../node/node-errors.ts';
import { readHash, readQuantity } from '../node/reply.ts';
import type { TransactionParties } from '../streams/transfers/transaction-parties.ts';
import { readNodeTransaction } from './transaction-reads.ts';

/** How long a request waits for the node, milliseconds. */
const TIME_LIMIT_MS = 2_000;
/** Time limit for a batch of balances, milliseconds. After that the answer is sent without them. */
const BALANCE_LIMIT_MS = 500;
const MS_PER_BALANCE = 10;

/** Balances that may be asked for at the same time. */
const MAX_BALANCES = 1_000;

type Caller = Pick<RpcClient, 'call' | 'batch'>;

/** With several nodes: retries a failed request until a node answers, the signal aborts or the time is up. */
export function repeatedAtOtherNodes(client: Caller, watch: Pick<NodeWatch, 'awaitNode'>): Caller {
  const repeat = async <T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const startedAt = performance.now();
    for (;;) {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof UpstreamError) || !isUnreachable(error) || signal?.aborted) throw error;
        const { promise, resolve } = Promise.withResolvers<void>();
        if (watch.awaitNode(startedAt, resolve) === null) throw error;
        await promise;
      }
    }
  };
  return {
    call: (method, params, signal) => repeat(() => client.call(method, params, signal), signal),
    batch: (calls, signal) => repeat(() => client.batch(calls, signal), signal),
  };
}

/** `parties` knows or asks for the senders of transactions. */
export function openNodeReads(
  client: Caller,
  parties: Pick<TransactionParties, 'get' | 'nextSettled'>,
  log: Logger,
  timeLimitMs = TIME_LIMIT_MS,
): NodeReads {
  /** What `read` gets from the node within the time limit. */
  const inTime = async <T>(method: string, read: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const signal = AbortSignal.timeout(timeLimitMs);
    try {
      return await read(signal);
    } catch (error) {
      if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
      log.debug({ err: error, method }, 'the node did not answer for a REST request');
      throw new RequestError(503, 'node_unavailable', 'the node does not answer at present; try again later');
    }
  };
  /** Calls the node and passes the result to `read`; null if the node has none. */
  const ask = <T>(method: string, params: unknown[], read: (result: unknown) => T): Promise<T | null> =>
    inTime(method, async (signal) => {
      const result = await client.call(method, params, signal);
      return result === null ? null : read(result);
    });
  let balancesAsked = 0;
  /** One batch. The rest of an answer does not depend on the node, so a balance may be missing. */
  const readBalances = async (addresses: readonly string[], block: string): Promise<NodeBalances> => {
    const without = (reason: string) => new Map(addresses.map((address) => [address, { wei: null, reason }]));
    if (balancesAsked + addresses.length > MAX_BALANCES) return without('too many balances are being read');
    balancesAsked += addresses.length;
    const signal = AbortSignal.timeout(BALANCE_LIMIT_MS + addresses.length * MS_PER_BALANCE);
    try {
      const calls = addresses.map((address) => ({ method: 'eth_getBalance', params: [address, block] }));
      const replies = await client.batch(calls, signal);
      return new Map(addresses.map((address, i) => [address, balanceOf(replies[i])]));
    } catch (error) {
      if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
      return without('the node did not answer in time');
    } finally {
      balancesAsked -= addresses.length;
    }
  };
  return {
    blockOfTransaction: (hash) =>
      ask('eth_getTransactionByHash', [hash], (result) => {
        const { blockNumber, blockHash } = readBlock(result, 'eth_getTransactionByHash');
        if (blockNumber === null || blockNumber === undefined) return 'pending';
        return {
          number: readQuantity(blockNumber, 'eth_getTransactionByHash', 'blockNumber'),
          hash: readHash(blockHash, 'eth_getTransactionByHash', 'blockHash'),
        };
      }),
    transaction: (hash) =>
      inTime('eth_getTransactionByHash', (signal) => readNodeTransaction(client, hash, signal)),
    blockByHash: (hash) =>
      ask('eth_getBlockByHash', [hash, false], (block) => {
        const { number, hash } = readBlockHeader(block, 'eth_getBlockByHash');
        return { number, hash };
      }),
    balancesAt: (addresses, block) => readBalances(addresses, toQuantity(block)),
    async sendersOf(transactions) {
      const deadline = performance.now() + timeLimitMs;
      const answered = new AbortController();
      const timeUp = pause(timeLimitMs, answered.signal);
      for (;;) {
        const found = transactions.map(({ txHash, blockHash }) =>
          parties.get(txHash.slice(2), blockHash.slice(2)),
        );
        if (!found.includes(undefined) || performance.now() >= deadline) {
          answered.abort();
          return found.map((lookup): Hex | null => (lookup?.parties ? `0x${lookup.parties.from}` : null));
        }
        await Promise.race([parties.nextSettled(), timeUp]);
      }
    },
  };
}

function balanceOf(reply: RpcReply | undefined): NodeBalance {
  const wei = reply !== undefined && 'result' in reply ? spelledBigInt(reply.result) : null;
  return wei === null
    ? { wei, reason: 'the node has no balance after the last indexed block' }
    : { wei, reason: null };
}
