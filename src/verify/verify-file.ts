/** The checks that need only the file, not a node. They never write. */
import { FatalError } from '../lib/errors.ts';
import { chainOf, readLastBlock } from '../store/chain.ts';
import { damageOf, openIndexForReading } from '../store/index-file.ts';
import type { Db } from '../store/open-database.ts';
import { checkAllCounters } from './check-all-counters.ts';
import { checkContiguity } from './check-blocks.ts';
import { checkChecksums } from './check-checksums.ts';
import { Check, finishReport, runCheck, type VerifyReport } from './report.ts';

export interface FileCheckOptions {
  signal: AbortSignal;
  /** Called with what is being done, in words. */
  onProgress(text: string): void;
}

/**
 * Finds every changed byte of a stored fact: SQLite checks pages and rows, checksums cover what was stored of each
 * block, and everything else is recounted from that. Throws FatalError when there is no index to verify.
 */
export async function verifyFile(path: string, options: FileCheckOptions): Promise<VerifyReport> {
  const startedAt = performance.now();
  const db = openIndexForReading(path);
  try {
    const chain = chainOf(db);
    const tip = readLastBlock(db);
    if (chain === null || tip === null)
      throw new FatalError(`${path} holds no block yet: there is nothing to verify`);
    const checks = await checkWholeFile(db, options);
    return finishReport({ path, chain, tip, node: null, checks, tokens: [], startedAt });
  } finally {
    db.close();
  }
}

/** The checks that need no node, over the whole file. */
export async function checkWholeFile(
  db: Db,
  { signal, onProgress }: FileCheckOptions,
  onChangedBlock?: (block: number) => void,
): Promise<Check[]> {
  const [file, blocks, checksums] = [new Check('file'), new Check('blocks'), new Check('checksums')];
  const [wallets, tokens] = [new Check('wallets'), new Check('tokens')];
  const show = (what: string) => (done: number) => onProgress(`${what} ${Math.floor(done * 100)} %`);
  onProgress('file: SQLite reads all of it');
  await runCheck(file, signal, () => checkFile(db, file, Number.POSITIVE_INFINITY));
  await runCheck(blocks, signal, () => checkContiguity(db, blocks));
  await runCheck(checksums, signal, () =>
    checkChecksums(db, checksums, {
      transfers: Number.POSITIVE_INFINITY,
      signal,
      onProgress: show('checksums'),
      ...(onChangedBlock && { onChangedBlock }),
    }),
  );
  await runCheck(wallets, signal, () =>
    checkAllCounters(db, { wallets, tokens }, { signal, onProgress: show('counters') }),
  );
  return [file, blocks, checksums, wallets, tokens];
}

/** Largest file that a default run reads in full, bytes: two seconds of CPU plus the disk's time. */
const MAX_BYTES = 2 * 2 ** 30;
const MAX_FAULTS = 10;

/**
 * SQLite's own check of pages, rows and indexes, of files up to `maxBytes`. It reads one commit and holds up checkpoints
 * while it runs.
 */
export function checkFile(db: Db, check: Check, maxBytes = MAX_BYTES): void {
  const damage = damageOf(db);
  if (damage !== null) check.addDifference(describeMark(damage));
  const pages = Number(db.pragma('page_count', { simple: true }));
  const bytes = pages * Number(db.pragma('page_size', { simple: true }));
  if (bytes > maxBytes) return check.addNote('not read through: it is larger than 2 GiB (--file reads it)');
  const faults = db.prepare<[], string>(`PRAGMA integrity_check(${MAX_FAULTS})`).pluck().all();
  for (const fault of faults) if (fault !== 'ok') check.addDifference(`SQLite finds ${fault}`);
  check.share = 1;
  check.compared = `${pages.toLocaleString('en-US')} pages read through`;
}

/** The difference that a marked file shows. */
export function describeMark(damage: string): string {
  return `a repair found the file damaged and did not finish: ${damage}`;
}
