/** `atlas-node export`: tables of the index as Parquet or CSV files. */
import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { TableName } from '../export/export.ts';
import type { Format } from '../export/files.ts';
import { formatBytes, formatDuration, formatNumber } from './format.ts';
import { addConfigOptions, addNotes, examples, existingIndexPath } from './options.ts';
import { waitForStopSignal } from './signals.ts';
import { statusLine } from './terminal.ts';

const NOTES = [
  'transfers and blocks are split by block range. A file holds only final blocks and never changes: the same range yields \
the same bytes. The newest range is written once complete; --to ends the last file earlier.',
  'tokens, wallets and holders change with every block, so an export of them is one file, as of the last indexed block.',
  'Each table has its own folder in --out, with a manifest.json that lists files, rows and SHA-256 sums. Run the same \
command again to resume after a stop. The daemon may keep running.',
];

interface Options {
  format: Format;
  out: string;
  from?: number;
  to?: number;
  blocksPerFile: number;
  follow?: true;
}

export function addExport(program: Command): void {
  const command = program
    .command('export')
    .description('export tables of the index as Parquet or CSV files')
    .addArgument(
      new Argument('<table>', 'table to export').choices([
        'transfers',
        'blocks',
        'tokens',
        'wallets',
        'holders',
      ]),
    )
    .requiredOption('--out <folder>', 'folder for the files')
    .addOption(new Option('--format <name>', 'file format').choices(['parquet', 'csv']).default('parquet'))
    .option('--from <block>', 'first block (default: the first of the index)', parseBlock)
    .option('--to <block>', 'last block (default: the end of the last complete file)', parseBlock)
    .option('--blocks-per-file <n>', 'blocks per file', parseCount, 10_000)
    .option('--follow', 'keep running and write each file once its blocks are final')
    .addHelpText(
      'after',
      examples(
        'export transfers --out /data/atlas',
        'export transfers --out /data/atlas --follow',
        'export holders --format csv --out .',
      ),
    );
  addNotes(command, ...NOTES);
  const load = addConfigOptions(command, ['--data-dir']);
  command.action(async (table: TableName, options: Options) => {
    const { config } = await load();
    await runExport(existingIndexPath(config.data_dir), table, options);
  });
}

async function runExport(
  path: string,
  table: TableName,
  { out, follow, ...options }: Options,
): Promise<void> {
  const { openIndexForReading } = await import('../store/index-file.ts');
  const { exportTable } = await import('../export/export.ts');
  const stop = new AbortController();
  void waitForStopSignal().then(() => stop.abort());
  const line = statusLine();
  const startedAt = performance.now();
  let rowsBefore = 0;
  const rate = (rows: number) => formatNumber(rows / Math.max(0.001, (performance.now() - startedAt) / 1000));
  const db = openIndexForReading(path);
  try {
    const files = await exportTable(
      db,
      { table, out: resolve(out), follow: follow === true, ...options },
      {
        onProgress: (rows, what) =>
          line.show(`${what}: ${formatNumber(rows)} rows, ${rate(rowsBefore + rows)} rows/s`),
        onFile({ path: file, rows, bytes }) {
          line.clear();
          rowsBefore += rows;
          console.log(`${file}: ${formatNumber(rows)} rows, ${formatBytes(bytes)}`);
        },
      },
      stop.signal,
    );
    const duration = formatDuration((performance.now() - startedAt) / 1000);
    console.log(
      rowsBefore === 0
        ? `nothing new to export: ${formatNumber(files)} files are complete`
        : `${formatNumber(rowsBefore)} rows in ${duration}, ${rate(rowsBefore)} rows/s; ${formatNumber(files)} files`,
    );
  } finally {
    line.clear();
    db.close();
  }
}

function parseBlock(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a block number.');
  return Number(text);
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
}
