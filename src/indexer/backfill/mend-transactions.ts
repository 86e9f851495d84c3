/** Transactions of which a node sent only the hashes, although it was asked for the whole ones. */
import { transactionHash } from '../../decode/block.ts';
import { type JsonObject, readHex, readingBlock, readObject } from '../../decode/read-json.ts';
import { UpstreamError } from '../../lib/errors.ts';
import type { RpcClient } from '../../node/client.ts';
import { transactionCall } from '../../node/methods.ts';
import { requireResult } from './load-receipts.ts';

/**
 * The block with its transactions, each asked for by its hash, which determines its content. Throws UpstreamError when
 * the node does not have one.
 */
export async function mendTransactions(
  client: RpcClient,
  block: JsonObject,
  number: number,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const { transactions } = block;
  const items: unknown[] = Array.isArray(transactions) ? transactions : [];
  if (!items.some((item) => typeof item === 'string')) return block;
  const hashes = readingBlock(block, () => items.map((item) => readHex(item, 64, 'transaction hash')));
  const replies = await client.batch(hashes.map(transactionCall), signal);
  const results = replies.map((reply) => requireResult(reply, 'transactions', number));
  return readingBlock(block, () => ({
    ...block,
    transactions: results.map((result, i) => {
      const transaction = readObject(result, 'transaction');
      const hash = transactionHash(transaction);
      if (hash === hashes[i]) return transaction;
      throw new UpstreamError('inconsistent', `the node sent transaction ${hash} instead of ${hashes[i]}`);
    }),
  }));
}
