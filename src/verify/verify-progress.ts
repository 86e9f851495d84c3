/** The progress of a comparison of all blocks, in a file next to the index, so that the next run resumes there. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { codeOf } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import { chainOf, hashAt } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import type { Difference } from './report.ts';

export interface VerifyProgress {
  chainId: number;
  startBlock: number;
  /** The last block that was compared, and its hash. */
  block: number;
  hash: string;
  /** How much was compared. */
  blocks: number;
  transfers: number;
  /** Blocks whose roots could not be computed, and why the first could not. */
  unproven: number;
  unprovenReason: string;
  wrongRoots: readonly { block: number; text: string }[];
  /** What differed so far. */
  differences: readonly Difference[];
  differenceCount: number;
}

export class ProgressFile {
  private readonly path: string;

  constructor(indexPath: string) {
    this.path = `${indexPath}.verify`;
  }

  /** What an earlier run left, unless it is of other blocks than the index holds now. */
  load(db: Db): VerifyProgress | null {
    const chain = chainOf(db);
    const saved = this.read();
    if (!isProgress(saved) || chain === null) return null;
    const { chainId, startBlock, block, hash } = saved;
    const isSame = chainId === chain.chainId && startBlock === chain.startBlock && hash === hashAt(db, block);
    return isSame ? saved : null;
  }

  save(progress: VerifyProgress): void {
    writeFileSync(`${this.path}.partial`, JSON.stringify(progress));
    renameSync(`${this.path}.partial`, this.path);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }

  /** Null for a file that is absent or was cut short. */
  private read(): unknown {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8'));
    } catch (error) {
      if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }
}

function isProgress(value: unknown): value is VerifyProgress {
  if (!isObject(value) || typeof value['hash'] !== 'string' || !Array.isArray(value['differences']))
    return false;
  const numbers = ['chainId', 'startBlock', 'block', 'blocks', 'transfers', 'unproven', 'differenceCount'];
  if (typeof value['unprovenReason'] !== 'string' || !Array.isArray(value['wrongRoots'])) return false;
  return (
    numbers.every((name) => Number.isSafeInteger(value[name])) &&
    value['differences'].every((each: unknown) => isObject(each) && typeof each['text'] === 'string')
  );
}
