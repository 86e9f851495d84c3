/** The progress of a long check, in a file next to the index, so that the next run resumes there. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { codeOf } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import { chainOf, hashAt } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import type { Difference } from './report.ts';

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
