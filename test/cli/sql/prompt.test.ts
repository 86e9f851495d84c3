/** The prompt of `atlas-node sql`: which lines are a query, and what becomes of the others. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { commandOf } from '../../../src/cli/sql/command-of.ts';
import { completions } from '../../../src/cli/sql/completion.ts';
import { runPrompt } from '../../../src/cli/sql/prompt.ts';
import { pause } from '../../../src/lib/async.ts';
import type { QueryAnswer } from '../../../src/sql/session.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait.ts';

const ANSWER: QueryAnswer = {
  columns: ['a'],
  rows: [[1]],
  cut: null,
  head: { number: 7, hash: '0x12345678', timestamp: 0 },
  startBlock: 1,
  gaps: 0,
  damage: null,
  plan: [],
  notes: [],
};

/**
 * Types lines at once, or each of several after the answer to the one before. Returns the queries that were run, and
 * what was printed.
 */
async function type(
  t: TestContext,
  lines: string | readonly string[],
  { state = tempDir(t), isTTY = false } = {},
): Promise<{ asked: string[]; printed: string; state: string }> {
  const before = process.env.XDG_STATE_HOME;
  process.env.XDG_STATE_HOME = state;
  const asked: string[] = [];
  const printed: string[] = [];
  t.mock.method(console, 'log', (text = '') => void printed.push(text));
  const queries = {
    async run({ text }: { text: string }) {
      asked.push(text);
      await pause(5); // the next lines are there before the answer
      return ANSWER;
    },
  };
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  output.resume();
  try {
    const ended = runPrompt(queries, { format: 'table', limit: 10, timeout: 1 }, { input, output });
    for (const [i, line] of [lines].flat().entries()) {
      await waitFor(() => asked.length >= i, { what: 'the query before' });
      input.write(line);
    }
    await ended;
  } finally {
    t.mock.restoreAll();
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
  }
  return { asked, printed: printed.join('\n'), state };
}

test('queries that are pasted together run one after the other, each up to its semicolon', async (t) => {
  const text = "SELECT 1;\nSELECT 2; -- two\nSELECT\n'a;b'\n, 3 -- ;\n;\n\nSELECT 'open;\n.exit\nSELECT 4;\n";
  const { asked, state } = await type(t, text);
  assert.deepEqual(asked, ['SELECT 1;', 'SELECT 2; -- two', "SELECT\n'a;b'\n, 3 -- ;\n;", "SELECT 'open;"]);
  const history = readFileSync(join(state, 'atlas-node', 'sql-history'), 'utf8').split('\n');
  assert.deepEqual(history.slice(0, 2), ['SELECT 1;', 'SELECT 2; -- two']);
});

test('the arrow keys lead to whole queries with their lines, now and after a restart', async (t) => {
  const [up, enter, end] = ['\x1b[A', '\r', '\x04'];
  const query = "SELECT 1 -- one\n, '  a\n b'\n;";
  const typed = query.replaceAll('\n', enter) + enter;
  const keys = [`SELECT 0;${enter}`, typed, `${up}${enter}`, `${up}${up}${enter}`, end];
  const first = await type(t, keys, { isTTY: true });
  assert.deepEqual(first.asked, ['SELECT 0;', query, query, 'SELECT 0;']);
  const second = await type(t, [`${up}${up}${enter}`, end], { isTTY: true, state: first.state });
  assert.deepEqual(second.asked, [query]);
});

test('the words of other prompts work, and an unknown command is told', async (t) => {
  const { asked, printed } = await type(t, 'help\n.tabels\nSELECT\nexit;\nquit;\n');
  assert.deepEqual(asked, ['SELECT\nexit;'], 'within a query they are names');
  assert.match(printed, /\.schema \[table\]/);
  assert.match(printed, /there is no command "\.tabels"; these are:\n\.tables /);
});

test('names are completed by the tables that the lines above name', () => {
  assert.deepEqual(completions('SELECT hold', 'x'), [['holders', 'holder_address'], 'hold']);
  assert.deepEqual(completions('WHERE h.bal', 'SELECT 1 FROM holders h'), [
    ['h.balance', 'h.balance_real'],
    'h.bal',
  ]);
  assert.deepEqual(completions('.sch'), [['.schema'], '.sch']);
  assert.deepEqual(completions('.schema hold'), [['holders'], 'hold']);
  assert.deepEqual(completions('.format j'), [['json'], 'j']);
  assert.deepEqual(completions('SELECT h.holder_a'), [['h.holder_address'], 'h.holder_a'], 'before FROM');
  assert.deepEqual(completions('SELECT strf', 'x'), [['strftime('], 'strf']);
});

test('the tables and columns are listed as in other prompts', async (t) => {
  const columns = [
    '\\d blocks',
    'describe "blocks";',
    'SHOW COLUMNS FROM atlas.blocks;',
    'PRAGMA table_info(blocks);',
  ];
  for (const line of [...columns, 'desc BLOCKS', 'Explain blocks'])
    assert.equal(commandOf(line), '.schema blocks');
  for (const line of ['\\dt', 'show  tables;', '.tables']) assert.equal(commandOf(line), '.tables');
  assert.equal(commandOf('\\d'), '.schema');
  for (const line of ['SELECT 1', 'describe SELECT 1', 'show', '', 'EXPLAIN SELECT 1;'])
    assert.equal(commandOf(line), undefined);
  const { asked, printed } = await type(t, '\\d blocks\n.schema block\n\\timing\nSELECT 1;\nexit\n');
  assert.deepEqual(asked, ['SELECT 1;']);
  assert.match(printed, /\nthere is no command "\\timing"; these are:\n\.tables/);
  assert.match(
    printed,
    /\nblocks\(number integer, [^\n]*\)\nthere is no table "block": did you mean blocks\?/,
  );
});
