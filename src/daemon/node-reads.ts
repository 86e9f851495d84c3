/** REST's reads from the node. */
import type { NodeReads } from '../api/node-reads.ts';
import { pause } from '../lib/async.ts';
import { RequestError, UpstreamError } from '../lib/errors.ts';
import { type Hex, spelledBigInt, toQuantity } from '../lib/hex.ts';
import type { Logger } from '../log/logger.ts';
import type { NodeWatch } from '../node/choice/node-watch.ts';
import type { RpcClient } from '../node/client.ts';
import { readBlock, readBlockHeader } from '../node/methods.ts';
import { isUnreachable } from '../node/node-errors.ts';
import { readHash, readQuantity } from '../node/reply.ts';
import type { TransactionParties } from '../streams/transfers/transaction-parties.ts';

/** How long a request waits for the node, milliseconds. */
const TIME_LIMIT_MS = 2_000;
/** Time limit for a balance, milliseconds. After that the answer is sent without it. */
const BALANCE_LIMIT_MS = 500;

type Caller = Pick<RpcClient, 'call'>;

/** With several nodes: retries a failed call until a node answers, the signal aborts or the time is up. */
export function repeatedAtOtherNodes(client: Caller, watch: Pick<NodeWatch, 'awaitNode'>): Caller {
  return {
    async call(method, params, signal) {
      const startedAt = performance.now();
      for (;;) {
        try {
          return await client.call(method, params, signal);
        } catch (error) {
          if (!(error instanceof UpstreamError) || !isUnreachable(error) || signal?.aborted) throw error;
          const { promise, resolve } = Promise.withResolvers<void>();
          if (watch.awaitNode(startedAt, resolve) === null) throw error;
          await promise;
        }
      }
    },
  };
}

/** `parties` knows or asks for the senders of transactions. */
export function openNodeReads(
  client: Caller,
  parties: Pick<TransactionParties, 'get' | 'nextSettled'>,
  log: Logger,
  timeLimitMs = TIME_LIMIT_MS,
): NodeReads {
  /** Calls the node and passes the result to `read`; null if the node has none. */
  const ask = async <T>(
    method: string,
    params: unknown[],
    read: (result: unknown) => T,
  ): Promise<T | null> => {
    const signal = AbortSignal.timeout(timeLimitMs);
    try {
      const result = await client.call(method, params, signal);
      return result === null ? null : read(result);
    } catch (error) {
      if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
      log.debug({ err: error, method }, 'the node did not answer for a REST request');
      throw new RequestError(503, 'node_unavailable', 'the node does not answer at present; try again later');
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
    blockByHash: (hash) =>
      ask('eth_getBlockByHash', [hash, false], (block) => {
        const { number, hash } = readBlockHeader(block, 'eth_getBlockByHash');
        return { number, hash };
      }),
    async balanceAt(address, block) {
      const signal = AbortSignal.timeout(BALANCE_LIMIT_MS);
      try {
        const wei = await client.call('eth_getBalance', [address, toQuantity(block)], signal);
        return spelledBigInt(wei);
      } catch (error) {
        if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
        return null; // the rest of the answer does not depend on the node
      }
    },
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
