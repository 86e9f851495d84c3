/** The command line: runs one command and turns its outcome into an exit code. */
import './server/max-header-size.ts';
import { type Command, CommanderError } from 'commander';
import { describeError, EXIT_USAGE } from './cli/errors.ts';
import { assertOutputWritten, handleOutputErrors } from './cli/output-errors.ts';
import { buildProgram } from './cli/program.ts';
import { isJournal, journalPriority } from './log/pretty.ts';

const STDERR = 2;

// Not awaited: the single binary contains this file as a CommonJS script.
void run(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});

/** Runs one command line and returns the exit code. Prints an error on stderr, each mistake on one line. */
async function run(args: string[]): Promise<number> {
  handleOutputErrors();
  const program = buildProgram();
  try {
    await program.parseAsync(args, { from: 'user' }).catch(rethrowUnlessHelp);
    await assertOutputWritten();
    return 0;
  } catch (error) {
    const { lines, exitCode } =
      error instanceof CommanderError ? describeUsageError(error, program, args) : describeError(error);
    const priority = isJournal(STDERR) ? journalPriority('error') : '';
    for (const line of lines) process.stderr.write(`${priority}atlas-node: ${line}\n`);
    return exitCode;
  }
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
): { lines: string[]; exitCode: number } {
  if (error.code === 'commander.help') return { lines: [], exitCode: EXIT_USAGE };
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '');
  const line = `${message}; see ${matchedCommandName(program, args)} --help`;
  return { lines: [line], exitCode: EXIT_USAGE };
}

/** The longest command at the beginning of the arguments, such as `atlas-node keys create`. */
function matchedCommandName(program: Command, [first, ...rest]: readonly string[]): string {
  const command = program.commands.find((candidate) => candidate.name() === first);
  return command === undefined ? program.name() : `${program.name()} ${matchedCommandName(command, rest)}`;
}
