/** `atlas-node sql`: queries on the index. */
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { configuredTradeLists } from '../../config/configured-lists.ts';
import { ConfigError, FatalError } from '../../lib/errors.ts';
import type { QueryProcess } from '../../sql/process/query-process.ts';
import { addConfigOptions, addNotes, examples, existingIndexPath } from '../options.ts';
import { FORMATS } from './answer-text.ts';
import { commandOf } from './command-of.ts';
import { type AnswerOptions, printAnswer } from './print-answer.ts';

const NOTES = [
  'Without a query it reads one from standard input; at a terminal it shows a prompt. Type .help there.',
  'A query is one SELECT in the dialect of SQLite; docs/sql.md has the tables, functions and examples. Equality on a \
wallet, a token, a transaction or a block, and ranges of blocks and times, are read by index. Any other condition \
reads the whole table, and the query says so before it runs.',
  'The query runs in a process of its own, which is ended when it takes more than --timeout, 512 MiB of memory or 1 \
GiB of temporary files. Nothing can be changed by a query. The daemon may keep running.',
];

/** Seconds, and rows. */
const MAX_TIMEOUT = 3_600;
const MAX_LIMIT = 1_000_000;

export function addSql(program: Command): void {
  const command = program
    .command('sql')
    .description('ask the index anything with SQL')
    .argument('[query]', 'one SELECT, or .tables, .schema, .functions')
    .addOption(new Option('--format <name>', 'of the answer').choices(FORMATS).default('table'))
    .option('--limit <rows>', 'most rows of an answer', wholeNumber(MAX_LIMIT), 10_000)
    .option('--timeout <seconds>', 'longest time of a query', wholeNumber(MAX_TIMEOUT), 30)
    .addHelpText(
      'after',
      examples(
        'sql "SELECT symbol, holders FROM tokens ORDER BY holders DESC LIMIT 10"',
        'sql --format csv < question.sql > answer.csv',
        'sql .schema',
        'sql',
      ),
    );
  addNotes(command, ...NOTES);
  const load = addConfigOptions(command, ['--data-dir']);
  command.action(async (query: string | undefined, options: AnswerOptions) => {
    const dotCommand = commandOf(query ?? '');
    if (dotCommand !== undefined) {
      const { runCommand } = await import('./dot-commands.ts');
      return void runCommand(dotCommand, options);
    }
    const { queries } = await import('./queries.ts');
    try {
      const { config } = await load();
      queries.open(existingIndexPath(config.data_dir), configuredTradeLists(config));
      if (query === undefined && process.stdin.isTTY) {
        const { runPrompt } = await import('./prompt.ts');
        await runPrompt(queries, options);
      } else await answerOnce(queries, query ?? (await text(process.stdin)), options);
    } finally {
      await queries.close();
    }
  });
}

async function answerOnce(queries: QueryProcess, query: string, options: AnswerOptions): Promise<void> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  try {
    await printAnswer(queries, query, options, stop.signal);
  } catch (error) {
    throw toCommandError(error);
  }
}

/** A mistake in the query ends with the exit code of bad usage, one that took too much with that of a failure. */
function toCommandError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === 'QueryRefusal') return new ConfigError(error.message);
  return error.name === 'QueryLimitError' ? new FatalError(error.message, { cause: error }) : error;
}

function wholeNumber(most: number): (given: string) => number {
  return (given) => {
    const number = /^[1-9]\d{0,8}$/.test(given) ? Number(given) : 0;
    if (number < 1 || number > most)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
    return number;
  };
}
