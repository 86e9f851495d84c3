/** What REST reads from the node. */
import type { NodeReads } from '../api/node-reads.ts';
import { RequestError, UpstreamError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import type { RpcClient } from '../node/client.ts';
import { readBlock, readBlockHeader } from '../node/methods.ts';
import { readHash, readQuantity } from '../node/reply.ts';

/** How long a request waits for the node, milliseconds. */
const TIME_LIMIT_MS = 2_000;

export function openNodeReads(client: Pick<RpcClient, 'call'>, log: Logger): NodeReads {
  /** Calls the node and passes the result to `read`; null when the node has none. */
  const ask = async <T>(
    method: string,
    params: unknown[],
    read: (result: unknown) => T,
  ): Promise<T | null> => {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    try {
      const result = await client.call(method, params, signal);
      return result === null ? null : read(result);
    } catch (error) {
      if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
      log.debug({ err: error, method }, 'the node did not answer a REST request');
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
  };
}
