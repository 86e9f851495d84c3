import type { Hex } from '../../../src/lib/hex.ts';
import type { TransferRow } from './ledger.ts';

/** One block: a node's results for it, and its transfers. */
export interface GeneratedBlock {
  number: number;
  hash: Hex;
  /** Result of `eth_getBlockByNumber [n, true]`. */
  block: string;
  /** Result of `eth_getBlockReceipts [n]`. */
  receipts: string;
  /** Result of `debug_traceBlockByNumber [n, {tracer: callTracer}]`, null without `traces`. */
  trace: string | null;
  /** In chain order. */
  transfers: TransferRow[];
}
