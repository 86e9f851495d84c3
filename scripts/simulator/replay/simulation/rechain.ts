/** Links blocks that are not adjacent, or come from several recordings, into one chain. */
import { toQuantity } from '../../../../src/lib/hex.ts';
import type { ChainBlock } from '../blocks/block.ts';

const PARENT_HASH = /"parentHash"\s*:\s*"0x[0-9a-fA-F]{64}"/;

/** The block under another number, linked to `parentHash`. Hashes stay, so they no longer match the headers. */
export function renumber(block: ChainBlock, number: number, parentHash: string | null): ChainBlock {
  const swap = (text: string | Buffer | null | undefined) =>
    text === null || text === undefined ? null : replaceBlockNumber(text.toString(), block.number, number);
  const heightField = new RegExp(`"number"\\s*:\\s*"${toQuantity(block.number)}"`, 'i');
  const renumbered = replaceBlockNumber(block.block.toString(), block.number, number).replace(
    heightField,
    `"number":"${toQuantity(number)}"`,
  );
  return {
    number,
    hash: block.hash,
    block: parentHash === null ? renumbered : withParent(renumbered, parentHash),
    receipts: swap(block.receipts),
    trace: block.trace ?? null,
    flatTrace: swap(block.flatTrace),
  };
}

/** The block's JSON with another `parentHash`. */
export function withParent(block: string, parentHash: string): string {
  return block.replace(PARENT_HASH, `"parentHash":"${parentHash}"`);
}

/** `blockNumber` is a quantity in most answers and a plain number in flat traces. */
function replaceBlockNumber(text: string, from: number, to: number): string {
  const field = new RegExp(`"blockNumber"\\s*:\\s*(?:"${toQuantity(from)}"|${from}\\b)`, 'gi');
  return text.replaceAll(field, (found) =>
    found.endsWith('"') ? `"blockNumber":"${toQuantity(to)}"` : `"blockNumber":${to}`,
  );
}
