/** The prompt of `atlas-node sql`: history, completion, and commands that begin with a dot. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { makePrivateFolder } from '../../lib/files.ts';
import { FUNCTIONS } from '../../sql/functions.ts';
import type { QueryProcess } from '../../sql/process/query-process.ts';
import { SHAPES } from '../../sql/tables/tables.ts';
import { alignColumns } from '../format.ts';
import { FORMATS } from './answer-text.ts';
import { completions } from './completion.ts';
import { type AnswerOptions, printAnswer } from './print-answer.ts';

const PROMPT = 'atlas> ';
const CONTINUED = '  ...> ';
const HISTORY_LINES = 1_000;

const HELP = `.tables          the tables
.schema [table]  the columns of the tables
.functions       the functions besides those of SQLite
.format <name>   ${FORMATS.join(', ')}
.help            this list
.exit            ends the prompt, as Ctrl-D does
A query ends with a semicolon. Ctrl-C ends a query that runs. The Tab key completes names.`;

/** Resolves when the user leaves. */
export async function runPrompt(queries: QueryProcess, given: AnswerOptions): Promise<void> {
  const options = { ...given };
  const history = openHistory();
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    completer: (line: string) => completions(line),
    history: history.lines,
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
  });
  console.log('SQL on the index, read-only. Type .help for help, a query ends with a semicolon.');
  let query = '';
  let running: AbortController | null = null;
  const ask = () => {
    lines.setPrompt(query === '' ? PROMPT : CONTINUED);
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    if (running !== null) return running.abort();
    query = '';
    clearLine(lines);
    ask();
  });
  lines.on('line', async (line) => {
    if (running !== null) return;
    if (query === '' && line.trim().startsWith('.')) {
      if (runCommand(line.trim(), options)) return lines.close();
      return ask();
    }
    query = query === '' ? line : `${query}\n${line}`;
    if (query.trim() === '') query = '';
    if (!query.trimEnd().endsWith(';')) return ask();
    history.add(query);
    running = new AbortController();
    await printAnswer(queries, query, options, running.signal).catch(printFailure);
    running = null;
    query = '';
    ask();
  });
  ask();
  await new Promise((resolve) => lines.once('close', resolve));
  console.log();
}

/** What is typed but not sent is given up, as in a shell. */
function clearLine(lines: Interface): void {
  process.stdout.write('^C\n');
  lines.write(null, { ctrl: true, name: 'e' });
  lines.write(null, { ctrl: true, name: 'u' });
}

function printFailure(error: unknown): void {
  console.error(error instanceof Error ? error.message : String(error));
}

/** Whether the prompt ends. */
function runCommand(line: string, options: AnswerOptions): boolean {
  const [command = '', argument] = line.replace(/;$/, '').split(/\s+/);
  if (command === '.exit' || command === '.quit') return true;
  if (command === '.tables') console.log(alignColumns(tableLines(), () => false).join('\n'));
  else if (command === '.functions')
    console.log(
      alignColumns(
        FUNCTIONS.map(({ signature, description }) => [signature, description]),
        () => false,
      ).join('\n'),
    );
  else if (command === '.schema') printSchema(argument);
  else if (command === '.format') setFormat(argument, options);
  else console.log(HELP);
  return false;
}

function tableLines(): string[][] {
  return SHAPES.map(({ name, description }) => [name, description]);
}

function printSchema(table: string | undefined): void {
  const wanted = SHAPES.filter(({ name }) => table === undefined || name === table.toLowerCase());
  if (wanted.length === 0) console.log(`there is no table "${table}": type .tables`);
  for (const { name, columns } of wanted)
    console.log(`${name}(${columns.map((column) => `${column.name} ${column.type}`).join(', ')})`);
}

function setFormat(name: string | undefined, options: AnswerOptions): void {
  const format = FORMATS.find((known) => known === name);
  if (format === undefined) console.log(`the formats are ${FORMATS.join(', ')}`);
  else options.format = format;
}

/** The queries of earlier sessions, newest first, in the user's folder for such files. */
function openHistory(): { lines: string[]; add(query: string): void } {
  const state = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  const file = join(state, 'atlas-node', 'sql-history');
  try {
    makePrivateFolder(dirname(file));
    if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean).slice(-HISTORY_LINES);
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    return {
      lines: lines.reverse(),
      add(query) {
        try {
          appendFileSync(file, `${query.replace(/\s*\n\s*/g, ' ')}\n`);
        } catch {
          // the prompt goes on without
        }
      },
    };
  } catch {
    return { lines: [], add: () => undefined };
  }
}
