/** Runs one command and turns its outcome into an exit code. */
import { type Command, CommanderError } from 'commander';
import { isJournal, journalPriority } from '../log/pretty.ts';
import { describeError, EXIT_USAGE } from './errors.ts';
import { assertOutputWritten, handleOutputErrors } from './output-errors.ts';
import { buildProgram } from './program.ts';

const STDERR = 2;

/** Runs one command line and returns the exit code. Prints an error on stderr, each mistake on one line. */
export async function run(args: string[]): Promise<number> {
  handleOutputErrors();
  const program = await buildProgram(args[0]);
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
    .replace(/^error: (command-argument value )?/, '')
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
