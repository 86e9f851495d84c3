/** `atlas-node lists`: lists of addresses that filters name. */
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../config/parse-config.ts';
import { ConfigError } from '../lib/errors.ts';
import { fileErrorReason } from '../lib/files.ts';
import { formatTable } from './format.ts';
import { withHookStore } from './hooks.ts';
import { addReport, examples } from './options.ts';

export function addLists(program: Command): void {
  const lists = program
    .command('lists')
    .description('import, list and remove address lists for filters')
    .addHelpText('after', examples('lists import whales.txt', 'lists list', 'lists remove whales'));
  addImport(lists);
  addList(lists);
  addRemove(lists);
}

function addImport(lists: Command): void {
  const command = lists
    .command('import')
    .description('store or replace a list; filters refer to it as "list:NAME"')
    .argument('<file>', 'file with the addresses as text, CSV or JSON; at most 100,000')
    .option('--name <name>', 'name of the list (default: the file name)')
    .addHelpText('after', examples('lists import whales.txt', 'lists import today.csv --name watched'));
  const importList = async ({ data_dir }: Config, file: string, { name: given }: { name?: string }) => {
    const name = given ?? basename(file, extname(file));
    const addresses = readAddresses(file);
    await withHookStore(data_dir, (store) => store.lists.import(name, addresses), { create: true });
    return [`list ${name}: ${addresses.size} addresses`, { name, addresses: addresses.size }] as const;
  };
  addReport(command, importList, () => true);
}

function addList(lists: Command): void {
  const command = lists
    .command('list')
    .description('show the lists and their sizes')
    .addHelpText('after', examples('lists list', 'lists list --json'));
  addReport(command, async ({ data_dir }) => {
    const stored = await withHookStore(data_dir, (store) => store.lists.list());
    const shown = stored.map((list) => ({ ...list, importedAt: new Date(list.importedAt).toISOString() }));
    const rows = shown.map((list) => [list.name, String(list.addresses), list.importedAt]);
    return [formatTable(['NAME', 'ADDRESSES', 'IMPORTED (UTC)'], rows), shown];
  });
}

function addRemove(lists: Command): void {
  const command = lists
    .command('remove')
    .description('remove a list that no hook uses')
    .argument('<name>', 'name of the list')
    .addHelpText('after', examples('lists remove whales'));
  addReport(command, async ({ data_dir }, name: string) => {
    await withHookStore(data_dir, (store) => store.lists.remove(name));
    return [`removed list ${name}`, { name }];
  });
}

/** Every address in a file, 40 lower-case digits each, with any separators. */
function readAddresses(file: string): Set<string> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${fileErrorReason(error)}`);
  }
  const hex = text.match(/\b0x[0-9a-fA-F]+\b/g) ?? [];
  const malformed = hex.find((word) => word.length !== 42);
  if (malformed !== undefined)
    throw new ConfigError(`${file} holds ${malformed.slice(0, 50)}, which is not an address`);
  return new Set(hex.map((word) => word.slice(2).toLowerCase()));
}
