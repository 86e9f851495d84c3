/** What a verification found. */
import type { QualityName } from '../store/quality.ts';
import type { BlockRef, Hex } from '../types.ts';

/** Differences kept of one check; further ones are only counted. */
const MAX_DIFFERENCES = 20;

/** Something in the index that is not as it must be. */
export interface Difference {
  /** The place and both values, on one line. */
  text: string;
  /** The block that it belongs to, if any. */
  block: number | null;
}

/** One check, while it runs and then with its result. */
export class Check {
  readonly name: string;
  /** What was compared, in words. */
  compared = '';
  readonly differences: Difference[] = [];
  differenceCount = 0;
  /** What could not be compared, and why. */
  readonly notes: string[] = [];
  /** Why the check did not finish; null when it did. */
  brokenOffBy: string | null = null;

  constructor(name: string) {
    this.name = name;
  }

  addDifference(text: string, block: number | null = null): void {
    this.differenceCount++;
    if (this.differences.length < MAX_DIFFERENCES) this.differences.push({ text, block });
  }

  /** Notes a difference when the two are not the same text, number or amount. */
  expect(what: string, inIndex: unknown, expected: unknown): void {
    if (inIndex !== expected) this.addDifference(`${what} is ${inIndex} in the index, must be ${expected}`);
  }

  addNote(text: string): void {
    this.notes.push(text);
  }
}

/** Whether a token's balances follow from its transfers. */
export interface TokenVerdict {
  token: Hex;
  /** Null when the node gave no answer. */
  quality: QualityName | null;
  /** The evidence for it, on one line. */
  reason: string;
}

export interface VerifyReport {
  index: { path: string; chainId: number; startBlock: number; head: BlockRef; transfers: number };
  node: { client: string; head: number };
  checks: Check[];
  tokens: TokenVerdict[];
  /** Of all checks. */
  differences: number;
  /** Names of the checks that did not finish: their result is unknown. */
  unfinished: string[];
  seconds: number;
}
