/** All commands. Each is one file in this folder and one line in `COMMANDS`. */
import { Command } from 'commander';
import { versionText } from '../lib/version.ts';
import { addBackup } from './backup.ts';
import { addBench } from './bench.ts';
import { addConfig } from './config.ts';
import { addDev } from './dev.ts';
import { addExport } from './export.ts';
import { addHooks } from './hooks.ts';
import { addInit } from './init.ts';
import { addKeys } from './keys.ts';
import { addLabels } from './labels.ts';
import { addLists } from './lists.ts';
import { addNotes } from './options.ts';
import { addSql } from './sql/sql.ts';
import { addStart } from './start/start.ts';
import { addStatus } from './status/status.ts';
import { addVerify } from './verify/verify.ts';
import { addVersion } from './version.ts';

/** In the order of `--help`. */
const COMMANDS = [
  addInit,
  addStart,
  addDev,
  addKeys,
  addHooks,
  addLists,
  addLabels,
  addStatus,
  addVerify,
  addBackup,
  addExport,
  addSql,
  addConfig,
  addBench,
  addVersion,
];

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

/** The program, which parses and runs a command line. Throws a CommanderError for an invalid one. */
export function buildProgram(): Command {
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
  for (const add of COMMANDS) add(program);
  return program;
}
