/** The checks that need only the file, not a node. Read-only. */
import { FatalError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import { chainOf, readLastBlock, type Tip } from '../store/chain.ts';
import { damageOf, openIndexForReading } from '../store/index-file.ts';
import type { Db } from '../store/open-database.ts';
import { checkAllCounters } from './check-all-counters.ts';
import { checkContiguity } from './check-blocks.ts';
import { checkChecksums } from './check-checksums.ts';
import { checkCounters } from './check-counters.ts';
import { checkStructure } from './check-structure.ts';
import { Check, finishReport, runCheck, type VerifyReport } from './report.ts';

interface FileCheckOptions {
  signal: AbortSignal;
  /** Called with a description of the current work. */
  onProgress(text: string): void;
}

interface FileScope {
  /** If absent, the checks cover the whole file. */
  sample?: { size: number; random: Random };
  /** Adds to the check of blocks. */
  compareHashes?(blocks: Check): Promise<void>;
  onChangedBlock?(block: number): void;
  /** Whether to check tables again that an earlier, stopped run found intact. */
  checksAgain?: boolean;
}

/**
 * Finds every changed byte of a stored fact: SQLite checks pages and rows, checksums cover the rows of each block, and
 * everything else is recounted from them. Throws FatalError when there is no index to verify.
 */
export async function verifyFile(path: string, options: FileCheckOptions): Promise<VerifyReport> {
  return withIndex(path, async (db) => {
    const checks = Object.values(await checkFileContents(db, options));
    return { node: null, checks, tokens: [] };
  });
}

/** Reports the checks of an index. Throws FatalError when it holds no block. */
export async function withIndex(
  path: string,
  verify: (
    db: Db,
    chain: { chainId: number; startBlock: number },
    tip: Tip,
  ) => Promise<Pick<VerifyReport, 'node' | 'checks' | 'tokens'>>,
): Promise<VerifyReport> {
  const startedAt = performance.now();
  const db = openIndexForReading(path);
  try {
    const chain = chainOf(db);
    const tip = readLastBlock(db);
    if (chain === null || tip === null)
      throw new FatalError(`${path} holds no block yet: there is nothing to verify`);
    return finishReport({ path, chain, tip, ...(await verify(db, chain, tip)), startedAt });
  } finally {
    db.close();
  }
}

/** The checks that need no node: of the whole file, or of a sample. */
export async function checkFileContents(
  db: Db,
  { signal, onProgress }: FileCheckOptions,
  { sample, compareHashes, onChangedBlock, checksAgain = false }: FileScope = {},
) {
  const [file, blocks, checksums] = [new Check('file'), new Check('blocks'), new Check('checksums')];
  const [wallets, tokens] = [new Check('wallets'), new Check('tokens')];
  const show = (what: string) => (done: number) => onProgress(`${what} ${Math.floor(done * 100)} %`);
  await runCheck(file, signal, () => {
    const damage = damageOf(db);
    if (damage !== null) file.addDifference(describeMark(damage));
    return checkStructure(db, file, { signal, onProgress, checksAgain });
  });
  onProgress('blocks');
  await runCheck(blocks, signal, async () => {
    checkContiguity(db, blocks);
    await compareHashes?.(blocks);
  });
  await runCheck(checksums, signal, () =>
    checkChecksums(db, checksums, {
      transfers: sample ? sample.size * TRANSFERS_PER_SAMPLE : Number.POSITIVE_INFINITY,
      signal,
      onProgress: show('checksums'),
      ...(onChangedBlock && { onChangedBlock }),
    }),
  );
  const counters = { signal, onProgress: show('counters') };
  await runCheck(wallets, signal, () =>
    sample
      ? checkCounters(db, { wallets, tokens }, { ...counters, sample: sample.size, random: sample.random })
      : checkAllCounters(db, { wallets, tokens }, counters),
  );
  return { file, blocks, checksums, wallets, tokens };
}

/** Newest transfers whose checksums are compared, per unit of the sample size. */
const TRANSFERS_PER_SAMPLE = 100_000;

/** The difference to report for a marked file. */
export function describeMark(damage: string): string {
  return `a repair found the file damaged and did not finish: ${damage}`;
}
