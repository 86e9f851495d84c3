/** `atlas-node export`: tables of the index as Parquet or CSV files. */
import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { configuredTradeLists } from '../config/configured-lists.ts';
import type { Config } from '../config/parse-config.ts';
import type { TableName } from '../export/export.ts';
import type { Format } from '../export/files.ts';
import { ConfigError } from '../lib/errors.ts';
import { formatBytes, formatDuration, formatNumber } from './format.ts';
import { addConfigOptions, addNotes, examples, existingIndexPath } from './options.ts';
import { waitForStopSignal } from './signals.ts';
import { statusLine } from './terminal.ts';

const NOTES = [
  'transfers, trades and blocks are split by block range, at multiples of --blocks-per-file; --from begins with the \
range that contains it. A file holds only final blocks and never changes: the same range yields the same bytes. The \
newest range is written once complete. --to ends the last file earlier; that file is called "open", and a later export \
replaces it.',
  'tokens, wallets and holders change with every block, so an export of them is one file, as of the last indexed \
block. The next export replaces it.',
  'Each table has its own folder in --out, with a manifest.json that lists files, rows and SHA-256 sums. Run the same \
command again to resume after a stop. A folder belongs to one chain and to one export at a time. The daemon may keep \
running.',
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
        'trades',
        'blocks',
        'tokens',
        'wallets',
        'holders',
      ]),
    )
    .requiredOption('--out <folder>', 'folder for the files')
    .addOption(new Option('--format <name>', 'file format').choices(['parquet', 'csv']).default('parquet'))
    .option(
      '--from <block>',
      'first block, rounded down to a range (default: the first of the index)',
      parseBlock,
    )
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
    rejectRange(table, options);
    await runExport(config, table, options);
  });
}

/** Throws ConfigError for options that only the tables with ranges of blocks have. */
function rejectRange(table: TableName, { from, to, follow }: Options): void {
  if (table === 'transfers' || table === 'trades' || table === 'blocks') return;
  for (const [option, value] of Object.entries({ '--from': from, '--to': to, '--follow': follow }))
    if (value !== undefined)
      throw new ConfigError(
        `${option} is for transfers, trades and blocks: ${table} are exported as of the last indexed block`,
      );
}

async function runExport(
  { data_dir, index, trades }: Config,
  table: TableName,
  { out, follow, ...options }: Options,
): Promise<void> {
  const path = existingIndexPath(data_dir);
  const { openIndexForReading } = await import('../store/index-file.ts');
  const { exportTable } = await import('../export/export.ts');
  const stop = new AbortController();
  void waitForStopSignal().then(() => stop.abort());
  const line = statusLine();
  const startedAt = performance.now();
  let rowsBefore = 0;
  let written = 0;
  let idle = '';
  const rate = (rows: number) => formatNumber(rows / Math.max(0.001, (performance.now() - startedAt) / 1000));
  const db = openIndexForReading(path);
  try {
    const files = await exportTable(
      db,
      {
        ...{ table, out: resolve(out), follow: follow === true, maxReorg: index.max_reorg },
        tradeLists: configuredTradeLists({ trades }),
        ...options,
      },
      {
        onProgress: (rows, what) =>
          line.show(`${what}: ${formatNumber(rows)} rows, ${rate(rowsBefore + rows)} rows/s`),
        onFile({ path: file, rows, bytes }) {
          line.clear();
          rowsBefore += rows;
          written++;
          console.log(`${file}: ${formatNumber(rows)} rows, ${formatBytes(bytes)}`);
        },
        onIdle(reason, finality) {
          idle = `${reason}; ${finality}`;
          if (follow) console.log(`waiting: ${idle}`);
        },
      },
      stop.signal,
    );
    const duration = formatDuration((performance.now() - startedAt) / 1000);
    console.log(
      written === 0
        ? `${
            files === 0
              ? 'nothing to export yet'
              : `nothing new to export, ${formatNumber(files)} files in all`
          }: ${idle}`
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
