/** All commands. Each is one file in this folder and one line in `COMMANDS`. */
import { Command } from 'commander';
import { versionText } from '../lib/version.ts';
import { addNotes } from './options.ts';

type AddCommand = (program: Command) => void;

/** In the order of `--help`. A command line loads the one that it names: all of them take longer than most commands. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  init: async () => (await import('./init.ts')).addInit,
  start: async () => (await import('./start/start.ts')).addStart,
  dev: async () => (await import('./dev.ts')).addDev,
  keys: async () => (await import('./keys.ts')).addKeys,
  hooks: async () => (await import('./hooks.ts')).addHooks,
  lists: async () => (await import('./lists.ts')).addLists,
  labels: async () => (await import('./labels.ts')).addLabels,
  status: async () => (await import('./status/status.ts')).addStatus,
  verify: async () => (await import('./verify/verify.ts')).addVerify,
  backup: async () => (await import('./backup.ts')).addBackup,
  export: async () => (await import('./export.ts')).addExport,
  sql: async () => (await import('./sql/sql.ts')).addSql,
  config: async () => (await import('./config.ts')).addConfig,
  bench: async () => (await import('./bench.ts')).addBench,
  version: async () => (await import('./version.ts')).addVersion,
};

const EXAMPLES = `
Examples:
  $ atlas-node dev        a local chain with traffic, and the daemon beside it
  $ atlas-node init       write atlas.toml and the first key
  $ atlas-node start --node-http http://127.0.0.1:8545
  $ atlas-node keys create --name app --tier growth
  $ atlas-node status`;

const NOTES = `Settings: flags over environment (ATLAS_NODE_HTTP, ATLAS_SERVER__PORT, ...) over --config over \
./atlas.toml.
Exit codes: 0 stopped on request, 1 failure while running, 2 bad usage or configuration.`;

/** Fewest columns for wrapped descriptions. commander's default of 40 leaves none on a narrow terminal. */
const MIN_DESCRIPTION_COLUMNS = 25;

/**
 * The program, which parses and runs a command line that begins with this word. Throws a CommanderError for an invalid
 * one. Without a word, and for one that is no command, it has all commands.
 */
export async function buildProgram(word = ''): Promise<Command> {
  const program = new Command('atlas-node')
    .description(
      'Wallet and token intelligence beside your chain node: index, REST, RPC and streams in one process.',
    )
    .version(versionText)
    .addHelpText('after', EXAMPLES)
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ minWidthToWrap: MIN_DESCRIPTION_COLUMNS })
    .exitOverride();
  addNotes(program, NOTES);
  const named = Object.hasOwn(COMMANDS, word) ? [COMMANDS[word]!] : Object.values(COMMANDS);
  const found = await Promise.all(named.map((load) => load()));
  for (const add of found) add(program);
  return program;
}
