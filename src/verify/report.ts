/** The result of a verification. */

import { UpstreamError } from '../lib/errors.ts';
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { decodeSigned, isSignedEncoding } from '../lib/signed.ts';
import type { BlockRef } from '../model/block.ts';
import type { BalanceAccuracyName } from '../store/balance-accuracy.ts';
import type { Tip } from '../store/chain.ts';
import { isCorruption } from '../store/storage-error.ts';

/** Most differences kept per check. Further ones are only counted. */
const MAX_DIFFERENCES = 20;

/** A wrong value in the index. */
export interface Difference {
  /** The location and both values, on one line. */
  text: string;
  /** The block it belongs to, if any. */
  block: number | null;
}

/** One check, running or finished. */
export class Check {
  readonly name: string;
  /** What was compared, in words. */
  compared = '';
  readonly differences: Difference[] = [];
  differenceCount = 0;
  /** The compared fraction, 0 to 1; null if not applicable. */
  share: number | null = null;
  /** What could not be compared, and why. */
  readonly notes: string[] = [];
  /** Why the check did not finish; null if it did. */
  brokenOffBy: string | null = null;

  constructor(name: string) {
    this.name = name;
  }

  addDifference(text: string, block: number | null = null): void {
    this.differenceCount++;
    if (this.differences.length < MAX_DIFFERENCES) this.differences.push({ text, block });
  }

  /** Records a difference unless both are the same text, number or amount. */
  expect(what: string, inIndex: unknown, expected: unknown): void {
    if (inIndex !== expected) this.addDifference(`${what} is ${inIndex} in the index, must be ${expected}`);
  }

  addNote(text: string): void {
    this.notes.push(text);
  }
}

/** A stored signed number for `Check.expect`; text if the bytes are not its encoding, by which SQLite sorts. */
export function storedNumber(bytes: Uint8Array): bigint | string {
  return isSignedEncoding(bytes) ? decodeSigned(bytes) : `the bytes ${bytesToHex(bytes)}`;
}

/** Whether a token's balances follow from its transfers. */
export interface TokenVerdict {
  token: Hex;
  /** Null if the node gave no answer. */
  quality: BalanceAccuracyName | null;
  /** The evidence, on one line. */
  reason: string;
}

export interface VerifyReport {
  index: { path: string; chainId: number; startBlock: number; head: BlockRef; transfers: number };
  /** Null if only the file was examined. */
  node: { client: string; head: number } | null;
  checks: Check[];
  tokens: TokenVerdict[];
  /** Over all checks. */
  differences: number;
  /** Names of the checks that did not finish, so that their result is unknown. */
  unfinished: string[];
  seconds: number;
}

/** The report of finished checks. */
export function finishReport({
  path,
  chain,
  tip,
  node,
  checks,
  tokens,
  startedAt,
}: {
  path: string;
  chain: { chainId: number; startBlock: number };
  tip: Tip;
  node: VerifyReport['node'];
  checks: Check[];
  tokens: TokenVerdict[];
  /** By `performance.now()`. */
  startedAt: number;
}): VerifyReport {
  return {
    index: { path, ...chain, head: { number: tip.number, hash: tip.hash }, transfers: tip.lastTransfer },
    node,
    checks,
    tokens,
    differences: checks.reduce((sum, { differenceCount }) => sum + differenceCount, 0),
    unfinished: checks.filter(({ brokenOffBy }) => brokenOffBy !== null).map(({ name }) => name),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** Runs one check. An unreadable page is a difference; a failing node leaves the check unfinished. */
export async function runCheck(
  check: Check,
  signal: AbortSignal,
  work: () => void | Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UpstreamError && !signal.aborted) check.brokenOffBy = error.message;
    else if (isCorruption(error)) check.addDifference(`the file cannot be read: ${error.message}`);
    else throw error;
  }
}
