/** The prompt of `atlas-node sql`: history, completion, and commands that begin with a dot. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { makePrivateFolder } from '../../lib/files.ts';
import type { QueryProcess } from '../../sql/process/query-process.ts';
import { tokensOf } from '../../sql/text/tokens.ts';
import { commandOf } from './command-of.ts';
import { type AnswerOptions, printAnswer } from './print-answer.ts';

const PROMPT = 'atlas> ';
const CONTINUED = '  ...> ';
const HISTORY_LINES = 1_000;
/** Stands for a line break in the file of earlier queries, as in that of psql. */
const BREAK = '\x01';

/** Where lines come from, and where the prompt is shown. Answers go to the console. */
interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** Resolves when the user leaves. */
export async function runPrompt(
  queries: Pick<QueryProcess, 'run'>,
  given: AnswerOptions,
  terminal: Terminal = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const options = { ...given };
  const history = openHistory();
  /** What the arrow keys lead to, newest first. */
  let recalled: string[] = [];
  const lines = createInterface({
    ...terminal,
    completer: (line: string, callback: Completed) => complete(line, query, callback),
    history: history.lines,
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
  });
  console.log('SQL on the index, read-only. Type .help for help, a query ends with a semicolon.');
  lines.on('history', (entries: string[]) => {
    recalled = entries;
  });
  let query = '';
  let isClosed = false;
  const closed = Promise.withResolvers<void>();
  lines.once('close', () => {
    isClosed = true;
    closed.resolve();
  });
  let running: AbortController | null = null;
  const ask = () => {
    lines.setPrompt(query === '' ? PROMPT : CONTINUED);
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    typed = [];
    if (running !== null) return running.abort();
    query = '';
    clearLine(lines);
    ask();
  });
  const take = async (line: string): Promise<void> => {
    const command = query === '' ? commandOf(line) : undefined;
    if (command !== undefined) {
      const { runCommand } = await import('./dot-commands.ts');
      if (runCommand(command, options)) lines.close();
      return;
    }
    query = query === '' ? line : `${query}\n${line}`;
    if (query.trim() === '') query = '';
    if (!isWhole(query)) return;
    history.add(query);
    joinLines(recalled, query);
    running = new AbortController();
    await printAnswer(queries, query, options, running.signal).catch(printFailure);
    running = null;
    query = '';
  };
  // Lines may be pasted, so that some come while a query runs.
  let typed: string[] = [];
  let isTaking = false;
  lines.on('line', async (line) => {
    typed.push(line);
    if (isTaking) return;
    isTaking = true;
    for (let next = typed.shift(); next !== undefined && !isClosed; next = typed.shift()) await take(next);
    isTaking = false;
    if (!isClosed) ask();
  });
  ask();
  await closed.promise;
  console.log();
}

/** Joins the lines of a query into one history entry, the form in which the history file keeps it. */
function joinLines(recalled: string[], query: string): void {
  for (const line of query.split('\n')) {
    const at = recalled.indexOf(line);
    if (at >= 0) recalled.splice(at, 1);
  }
  recalled.unshift(query);
}

type Completed = (error: Error | null, found: [names: string[], part: string]) => void;

/** Loads the tables with the first key: the prompt is there before. */
function complete(line: string, before: string, callback: Completed): void {
  import('./completion.ts').then(
    ({ completions }) => callback(null, completions(line, before)),
    (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), [[], '']),
  );
}

/** Whether a query ends with a semicolon, behind which a comment may stand. */
function isWhole(query: string): boolean {
  try {
    return tokensOf(query).at(-1)?.value === ';';
  } catch {
    return query.trimEnd().endsWith(';'); // it will be told what is wrong with it
  }
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

/** The queries of earlier sessions, newest first, in the user's folder for such files. */
function openHistory(): { lines: string[]; add(query: string): void } {
  const state = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  const file = join(state, 'atlas-node', 'sql-history');
  try {
    makePrivateFolder(dirname(file));
    if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
    const entries = readFileSync(file, 'utf8').split('\n').filter(Boolean).slice(-HISTORY_LINES);
    writeFileSync(file, entries.map((entry) => `${entry}\n`).join(''));
    return {
      lines: entries.reverse().map((entry) => entry.replaceAll(BREAK, '\n')),
      add(query) {
        try {
          appendFileSync(file, `${query.replaceAll('\n', BREAK)}\n`);
        } catch {
          // the prompt goes on without
        }
      },
    };
  } catch {
    return { lines: [], add: () => undefined };
  }
}
