/** Logs that look like transfers but are not, and payments in traces that could not be read: counts of an index. */
import type { Hex } from '../lib/hex.ts';

/** Most contracts listed in SkippedTotals. */
export const MAX_SKIPPED_CONTRACTS = 20;

/** The logs of one contract that were skipped for one reason. */
export interface SkippedContract {
  contract: Hex;
  reason: string;
  logs: number;
  /** Hash of a transaction with such a log. */
  txHash: Hex;
}

/** What the index has skipped since it was made. */
export interface SkippedTotals {
  /** How many, by reason. */
  skippedLogs: Record<string, number>;
  /** Hash of the first transaction with such a log, by reason. */
  skippedIn: Record<string, string>;
  /** Those with the most logs, at most MAX_SKIPPED_CONTRACTS, most logs first. */
  skippedContracts: SkippedContract[];
}

export const NOTHING_SKIPPED: Readonly<SkippedTotals> = {
  skippedLogs: {},
  skippedIn: {},
  skippedContracts: [],
};
