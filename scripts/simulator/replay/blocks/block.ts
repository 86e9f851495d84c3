import type { StoredText, TextStore } from '../text-store.ts';

/** A node's results for one block, as JSON text. */
export interface ChainBlock {
  number: number;
  hash: string;
  /** Result of `eth_getBlockByNumber [n, true]`. */
  block: string | Buffer;
  /** Result of `eth_getBlockReceipts [n]`, where known. */
  receipts?: string | Buffer | null;
  /** Result of `debug_traceBlockByNumber [n, {tracer: callTracer}]`, where known. */
  trace?: string | Buffer | null;
  /** Result of `trace_block [n]`, if recorded; else it is derived from the call trees. */
  flatTrace?: string | Buffer | null;
}

/** A block whose texts are in the store. */
export interface StoredBlock {
  number: number;
  /** Lower case. */
  hash: string;
  block: StoredText;
  receipts: StoredText | null;
  trace: StoredText | null;
  flatTrace: StoredText | null;
}

export type BlockPart = 'block' | 'receipts' | 'trace' | 'flatTrace';

/** Puts the block's texts into the store. Buffers are kept, not copied. */
export function storeBlock(store: TextStore, block: ChainBlock): StoredBlock {
  const keep = (text: string | Buffer) => store.keep(typeof text === 'string' ? Buffer.from(text) : text);
  const keepKnown = (text: string | Buffer | null | undefined) =>
    text === null || text === undefined ? null : keep(text);
  return {
    number: block.number,
    hash: block.hash.toLowerCase(),
    block: keep(block.block),
    receipts: keepKnown(block.receipts),
    trace: keepKnown(block.trace),
    flatTrace: keepKnown(block.flatTrace),
  };
}

/** The block with its texts read back. */
export function readBlock(store: TextStore, stored: StoredBlock): ChainBlock {
  const read = (text: StoredText | null) => text && store.read(text);
  return {
    number: stored.number,
    hash: stored.hash,
    block: store.read(stored.block),
    receipts: read(stored.receipts),
    trace: read(stored.trace),
    flatTrace: read(stored.flatTrace),
  };
}
