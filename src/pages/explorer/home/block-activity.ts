/** Blocks and their transferred value, derived from transfers (newest first). Pure. */
import type { Transfer } from '../../client/answers.ts';

export interface BlockActivity {
  number: number;
  timestamp: string;
  transactions: number;
  transfers: number;
}

export function blocksOf(transfers: readonly Transfer[]): BlockActivity[] {
  const blocks = new Map<number, BlockActivity>();
  const seen = new Set<string>();
  for (const { blockNumber: number, timestamp, txHash } of transfers) {
    const block = blocks.get(number) ?? { number, timestamp, transactions: 0, transfers: 0 };
    block.transfers++;
    if (!seen.has(txHash)) block.transactions++;
    seen.add(txHash);
    blocks.set(number, block);
  }
  return [...blocks.values()];
}
