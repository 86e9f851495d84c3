/** `atlas-node labels`: names for addresses. A running daemon sees each change within a second. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import type { LabelSelection, LabelsFile } from '../labels/labels-file.ts';
import { ConfigError } from '../lib/errors.ts';
import { fileErrorReason } from '../lib/files.ts';
import { ADDRESS_PATTERN } from '../model/address.ts';
import { LABEL_CATEGORIES } from '../model/label.ts';
import { requireDataFolder } from './data-folder.ts';
import { formatNumber, formatTable } from './format.ts';
import { addConfigOptions, addNotes, addReport, examples, withDataFile } from './options.ts';

const NOTES = `A CSV file has the columns address, name, category and source, in any order if its first line names \
them; a JSON file is a list of objects with these fields. Only address and name are required. Categories: \
${LABEL_CATEGORIES.join(', ')}. An import adds to the existing labels and replaces those of the same addresses.`;

export function addLabels(program: Command): void {
  const labels = program
    .command('labels')
    .description('name addresses, such as exchanges and bridges')
    .addHelpText('after', examples('labels import exchanges.csv', 'labels list'));
  addImport(labels);
  addList(labels);
  addRemove(labels);
}

function addImport(labels: Command): void {
  const command = labels
    .command('import')
    .description('add the labels of a CSV or JSON file, all or none')
    .argument('<file>', 'CSV or JSON file')
    .addHelpText('after', examples('labels import exchanges.csv'));
  addNotes(command, NOTES);
  const load = addConfigOptions(command, ['--data-dir']);
  command.action(async (file: string) => {
    const { parseLabels } = await import('../labels/parse-labels.ts');
    const text = readList(file);
    const loaded = await load();
    const note = requireDataFolder(loaded);
    const { data_dir } = loaded.config;
    const add = (store: LabelsFile) => {
      try {
        return store.import(parseLabels(text, basename(file)));
      } catch (error) {
        throw error instanceof ConfigError ? new ConfigError(`${file}: ${error.message}`) : error;
      }
    };
    const count = await withLabels(data_dir, add, { create: true });
    console.log(`${formatNumber(count)} labels imported from ${file}`);
    if (note !== undefined) console.error(`atlas-node: ${note}`);
  });
}

function addList(labels: Command): void {
  const command = labels
    .command('list')
    .description('show the number of labels by source and category')
    .addHelpText('after', examples('labels list', 'labels list --json'));
  addReport(command, async ({ data_dir }) => {
    const rows = await withLabels(data_dir, (store) => store.summary());
    const table = rows.map(({ source, category, labels }) => [source, category, formatNumber(labels)]);
    return [formatTable(['SOURCE', 'CATEGORY', 'LABELS'], table), rows];
  });
}

function addRemove(labels: Command): void {
  const command = labels
    .command('remove')
    .description('remove the label of an address, all labels of a source, or all labels')
    .argument('[address]', 'address whose label to remove')
    .option('--source <source>', 'all labels of this source')
    .option('--all', 'all labels')
    .addHelpText('after', examples('labels remove 0x...', 'labels remove --source exchanges.csv'));
  const load = addConfigOptions(command, ['--data-dir']);
  command.action(async (address: string | undefined, options: { source?: string; all?: boolean }) => {
    const selection = selectionOf(address, options);
    const count = await withLabels((await load()).config.data_dir, (store) => store.remove(selection));
    if (count === 0 && selection !== 'all')
      throw new ConfigError(
        'address' in selection
          ? `${selection.address} has no label`
          : `there are no labels of the source "${selection.source}"; "atlas-node labels list" shows all sources`,
      );
    console.log(`${formatNumber(count)} labels removed`);
  });
}

function selectionOf(
  address: string | undefined,
  { source, all }: { source?: string; all?: boolean },
): LabelSelection {
  const given = [address, source, all].filter((value) => value !== undefined);
  if (given.length !== 1) throw new ConfigError('name one of an address, --source or --all');
  if (address === undefined) return source === undefined ? 'all' : { source };
  if (!ADDRESS_PATTERN.test(address))
    throw new ConfigError(`"${address}" is not an address of 0x and 40 hex digits`);
  return { address };
}

function readList(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${fileErrorReason(error)}`);
  }
}

/** Runs `action` with the labels, which must exist unless `create` is set, and closes them afterwards. */
function withLabels<T>(
  dataDir: string,
  action: (store: LabelsFile) => T,
  { create = false } = {},
): Promise<T> {
  const missing =
    'import names with "atlas-node labels import", or name the folder with --data-dir, or the configuration with ' +
    '--config';
  const opener = async () => (await import('../labels/labels-file.ts')).openLabelsFile;
  return withDataFile(join(dataDir, 'labels.db'), create ? null : missing, opener, action);
}
