/** `atlas-node backup`: online copies of the index, the keys and the webhooks. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { ConfigError, FatalError } from '../lib/errors.ts';
import { fileErrorReason } from '../lib/files.ts';
import type { UnnamedCopy } from '../store/backup.ts';
import { formatBytes, formatDuration, formatNumber } from './format.ts';
import { addConfigOptions, addNotes, existingIndexPath } from './options.ts';
import { waitForStopSignal } from './signals.ts';
import { type StatusLine, statusLine } from './terminal.ts';

const EXAMPLES = `
Examples:
  $ atlas-node backup /backup/monday.db   the keys go to /backup/monday.keys.db
  $ atlas-node backup /backup/today       a folder, for all files`;

const NOTES = `The daemon may keep running. To restore a backup, stop the daemon and copy the files to data_dir as \
index.db, keys.db and hooks.db, without any *-wal and *-shm files; the next start indexes the blocks since the backup. \
The WAL of the index grows during the backup: leave disk space for it.`;

export function addBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('copy the index, the keys and the webhooks while the daemon runs')
    .argument('<file>', 'file for the index, with the others beside it, or an existing folder for all')
    .option(
      '--max-mb-per-second <n>',
      'limit of the copy rate, to leave disk bandwidth to the daemon',
      parseRate,
    )
    .addHelpText('after', EXAMPLES);
  addNotes(command, NOTES);
  const load = addConfigOptions(command, ['--data-dir']);
  command.action(async (file: string, { maxMbPerSecond }: BackupOptions) =>
    backup((await load()).config.data_dir, resolve(file), maxMbPerSecond),
  );
}

interface BackupOptions {
  maxMbPerSecond?: number;
}

function parseRate(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('It must be a whole number of megabytes, 1 or more.');
  return Number(text);
}

async function backup(dataDir: string, file: string, mbPerSecond?: number): Promise<void> {
  const source = existingIndexPath(dataDir);
  const { withBackupLock } = await import('../store/backup.ts');
  const targets = backupPaths(file);
  requireFolder(dirname(targets.index)); // the folder of the lock file
  await withBackupLock(source, targets.index, () => backupTo(targets, source, dataDir, mbPerSecond));
}

async function backupTo(
  targets: BackupPaths,
  source: string,
  dataDir: string,
  mbPerSecond?: number,
): Promise<void> {
  requireFree(targets);
  const { checkIndexFile } = await import('../store/index-file.ts');
  const { rejectForeignWal } = await import('../store/wal.ts');
  checkIndexFile(source);
  const irreplaceable = (['keys', 'hooks'] as const)
    .map((what) => ({ what, path: join(dataDir, `${what}.db`) }))
    .filter(({ path }) => existsSync(path));
  for (const { path } of irreplaceable) rejectForeignWal(path);
  const stop = new AbortController();
  void waitForStopSignal().then(() => stop.abort());
  const line = statusLine();
  const copies: UnnamedCopy[] = [];
  try {
    for (const { what, path } of irreplaceable)
      copies.push(await copy(what, path, targets[what], line, stop.signal));
    copies.push(await copy('index', source, targets.index, line, stop.signal, mbPerSecond));
    requireFree(targets); // again, because copying may have taken hours
    // Publish both at the end, because a file left by a killed backup would block the next one.
    for (const copy of copies) copy.publish();
    console.log(await describeCopy(targets.index));
  } catch (error) {
    for (const copy of copies) copy.discard();
    throw error;
  } finally {
    line.clear();
  }
}

function requireFree(targets: BackupPaths): void {
  for (const target of Object.values(targets)) {
    if (existsSync(target))
      throw new ConfigError(
        `${target} already exists and is left unchanged; move it away, or name another file`,
      );
  }
}

/** Throws a ConfigError naming the folder of the copies if it is missing or not writable. */
function requireFolder(folder: string): void {
  if (!existsSync(folder))
    throw new ConfigError(`the folder ${folder} does not exist: create it, or name a file elsewhere`);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `cannot write to the folder ${folder}: ${fileErrorReason(error)}; name a file in a folder that you may write to`,
    );
  }
}

interface BackupPaths {
  hooks: string;
  index: string;
  keys: string;
}

/** Paths of the copies: under their own names in a folder, or side by side under the given name. */
function backupPaths(file: string): BackupPaths {
  if (existsSync(file) && statSync(file).isDirectory())
    return { index: join(file, 'index.db'), keys: join(file, 'keys.db'), hooks: join(file, 'hooks.db') };
  const beside = (what: string) => join(dirname(file), `${basename(file, '.db')}.${what}.db`);
  return { index: file, keys: beside('keys'), hooks: beside('hooks') };
}

async function copy(
  what: 'keys' | 'hooks' | 'index',
  source: string,
  target: string,
  line: StatusLine,
  signal: AbortSignal,
  mbPerSecond?: number,
): Promise<UnnamedCopy> {
  const { copyDatabase } = await import('../store/backup.ts');
  const { KEYS_CORRUPTION_ADVICE } = await import('../access/keys-file.ts');
  const startedAt = performance.now();
  const copied = await copyDatabase(source, target, {
    isPrivate: what !== 'index',
    bytesPerSecond: mbPerSecond && mbPerSecond * 1e6,
    ...(what === 'keys' && { corruptionAdvice: KEYS_CORRUPTION_ADVICE }),
    onProgress: (done, of) => {
      if (signal.aborted)
        throw new FatalError('stopped before the copy was complete; removed the partial copy');
      line.show(`copying the ${what}: ${formatBytes(done)} of ${formatBytes(of)}`);
    },
  });
  line.clear();
  const duration = formatDuration((performance.now() - startedAt) / 1000);
  console.log(`${what}: ${target}, ${formatBytes(copied.bytes)} in ${duration}`);
  return copied;
}

/** Describes the copy by reading it. */
async function describeCopy(path: string): Promise<string> {
  const { openDatabase } = await import('../store/open-database.ts');
  const { chainOf, readLastBlock } = await import('../store/chain.ts');
  const db = openDatabase(path, { readonly: true });
  try {
    const chain = chainOf(db);
    const head = readLastBlock(db);
    if (chain === null || head === null) return 'the index is empty';
    return `the copy ends with block ${formatNumber(head.number)} (${head.hash}) of chain ${chain.chainId}`;
  } finally {
    db.close();
  }
}
