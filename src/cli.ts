/** The command line. Each command is one file in src/cli and one line in `COMMANDS`. */
import { Command, CommanderError } from 'commander';
import { addBackup } from './cli/backup.ts';
import { addBench } from './cli/bench.ts';
import { addCompletion } from './cli/completion.ts';
import { addConfig } from './cli/config.ts';
import { addDev } from './cli/dev.ts';
import { describeError, EXIT_USAGE } from './cli/errors.ts';
import { addExport } from './cli/export.ts';
import { addHooks } from './cli/hooks.ts';
import { addInit } from './cli/init.ts';
import { addKeys } from './cli/keys.ts';
import { addLabels } from './cli/labels.ts';
import { addLists } from './cli/lists.ts';
import { addNotes } from './cli/options.ts';
import { assertOutputWritten, handleOutputErrors } from './cli/output-errors.ts';
import { addStart } from './cli/start/start.ts';
import { addStatus } from './cli/status/status.ts';
import { addVerify } from './cli/verify/verify.ts';
import { versionText } from './lib/version.ts';
import { isJournal, journalPriority } from './log/journal.ts';

const STDERR = 2;

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
  addConfig,
  addBench,
  addCompletion,
];

const EXAMPLES = `
Examples:
  $ atlas-node dev        a local chain with traffic, and the daemon beside it
  $ atlas-node init       write atlas.toml and the first key
  $ atlas-node start --node-http http://127.0.0.1:8545
  $ atlas-node keys create --name app --tier growth
  $ atlas-node status`;

const NOTES = `Settings: flags over environment (ATLAS_NODE_HTTP, ATLAS_SERVER__PORT, ...) over --config over ./atlas.toml.
Exit codes: 0 stopped on request, 1 failure while running, 2 bad usage or configuration.`;

/** Fewest columns for wrapped descriptions: commander's default of 40 leaves none on a narrow terminal. */
const MIN_DESCRIPTION_COLUMNS = 25;

// Not awaited: the single binary contains this file as a CommonJS script.
void run(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});

/** Runs one command line and returns the exit code. Prints an error as one line on stderr. */
async function run(args: string[]): Promise<number> {
  handleOutputErrors();
  const program = buildProgram();
  try {
    await program.parseAsync(args, { from: 'user' }).catch(rethrowUnlessHelp);
    await assertOutputWritten();
    return 0;
  } catch (error) {
    const { line, exitCode } =
      error instanceof CommanderError ? describeUsageError(error, program, args) : describeError(error);
    if (line)
      process.stderr.write(`${isJournal(STDERR) ? journalPriority('error') : ''}atlas-node: ${line}\n`);
    return exitCode;
  }
}

function buildProgram(): Command {
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

/** Commander also throws after printing `--help` or `--version`. */
function rethrowUnlessHelp(error: unknown): void {
  if (!(error instanceof CommanderError && error.exitCode === 0)) throw error;
}

/** Commander's message on one line. Adds nothing if commander has already printed the help. */
function describeUsageError(
  error: CommanderError,
  program: Command,
  args: readonly string[],
): { line: string; exitCode: number } {
  if (error.code === 'commander.help') return { line: '', exitCode: EXIT_USAGE };
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '');
  return { line: `${message}; see ${matchedCommandName(program, args)} --help`, exitCode: EXIT_USAGE };
}

/** The longest command at the beginning of the arguments, such as `atlas-node keys create`. */
function matchedCommandName(program: Command, [first, ...rest]: readonly string[]): string {
  const command = program.commands.find((candidate) => candidate.name() === first);
  return command === undefined ? program.name() : `${program.name()} ${matchedCommandName(command, rest)}`;
}
