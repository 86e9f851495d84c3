/** The prompt of `atlas-node sql`: history, completion, and commands that begin with a dot. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { makePrivateFolder } from '../../lib/files.ts';
import type { QueryProcess } from '../../sql/process/query-process.ts';
import { type AnswerOptions, printAnswer } from './print-answer.ts';

const PROMPT = 'atlas> ';
const CONTINUED = '  ...> ';
const HISTORY_LINES = 1_000;

/** Resolves when the user leaves. */
export async function runPrompt(queries: QueryProcess, given: AnswerOptions): Promise<void> {
  const options = { ...given };
  const history = openHistory();
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    completer: complete,
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
      const { runCommand } = await import('./dot-commands.ts');
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

/** Loads the tables with the first key: the prompt is there before. */
function complete(line: string, callback: (error: Error | null, found: [string[], string]) => void): void {
  import('./completion.ts').then(
    ({ completions }) => callback(null, completions(line)),
    (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), [[], '']),
  );
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
