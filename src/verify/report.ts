/** The result of a verification, and the progress of a long check, which the next run resumes. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { codeOf, UpstreamError } from '../lib/errors.ts';
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { decodeSigned, isSignedEncoding } from '../lib/signed.ts';
import { isObject } from '../lib/text.ts';
import type { BlockRef } from '../model/block.ts';
import { chainOf, hashAt, type Tip } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';
import type { BalanceAccuracyName } from '../store/tokens/balance-accuracy.ts';

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

/** Identifies the index of the progress: its chain, and a block with its hash. */
export interface ProgressMark {
  chainId: number;
  startBlock: number;
  block: number;
  hash: string;
}

/** Progress of a comparison of all blocks. Its block is the last one compared. */
export interface VerifyProgress extends ProgressMark {
  /** How much was compared. */
  blocks: number;
  transfers: number;
  /** Number of blocks whose roots could not be computed, and why the first could not. */
  unproven: number;
  unprovenReason: string;
  wrongRoots: readonly { block: number; text: string }[];
  /** Differences so far. */
  differences: readonly Difference[];
  differenceCount: number;
}

/** Progress in a file next to the index. */
export class ProgressFile<T extends ProgressMark> {
  private readonly path: string;
  private readonly isProgress: (value: unknown) => value is T;

  constructor(path: string, isProgress: (value: unknown) => value is T) {
    this.path = path;
    this.isProgress = isProgress;
  }

  /** The progress of an earlier run, unless it concerns other blocks than the index holds now. */
  load(db: Db): T | null {
    const chain = chainOf(db);
    const saved = this.read();
    if (!this.isProgress(saved) || chain === null) return null;
    const { chainId, startBlock, block, hash } = saved;
    const isSame = chainId === chain.chainId && startBlock === chain.startBlock && hash === hashAt(db, block);
    return isSame ? saved : null;
  }

  save(progress: T): void {
    writeFileSync(`${this.path}.partial`, JSON.stringify(progress));
    renameSync(`${this.path}.partial`, this.path);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }

  /** Null for a missing or truncated file. */
  private read(): unknown {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8'));
    } catch (error) {
      if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }
}

export function isMark(value: unknown): value is ProgressMark {
  if (!isObject(value) || typeof value['hash'] !== 'string') return false;
  return ['chainId', 'startBlock', 'block'].every((name) => Number.isSafeInteger(value[name]));
}

export function isVerifyProgress(value: unknown): value is VerifyProgress {
  if (!isObject(value) || !isMark(value) || !Array.isArray(value['differences'])) return false;
  const numbers = ['blocks', 'transfers', 'unproven', 'differenceCount'];
  if (typeof value['unprovenReason'] !== 'string' || !Array.isArray(value['wrongRoots'])) return false;
  return (
    numbers.every((name) => Number.isSafeInteger(value[name])) &&
    value['differences'].every((each: unknown) => isObject(each) && typeof each['text'] === 'string')
  );
}
