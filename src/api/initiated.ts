/** Adds to trades whether their wallet sent the transaction: the index does not store senders, the node knows them. */
import type { Hex } from '../lib/hex.ts';
import { isObject } from '../lib/text.ts';
import type { NodeReads } from './node-reads.ts';

export async function addInitiated(
  wallet: string,
  trades: unknown,
  node: Pick<NodeReads, 'sendersOf'>,
): Promise<void> {
  const records = Array.isArray(trades) ? trades.filter(isObject) : [];
  const senders = await node.sendersOf(
    records.map(({ txHash, blockHash }) => ({ txHash: asHex(txHash), blockHash: asHex(blockHash) })),
  );
  for (const [i, record] of records.entries()) {
    const sender = senders[i] ?? null;
    record.initiated = sender === null ? null : sender === wallet;
  }
}

function asHex(value: unknown): Hex {
  return `0x${String(value).slice(2)}`;
}
