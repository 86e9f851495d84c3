/** The page SQL of the operator's panel. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { RequestError } from '../../src/lib/errors.ts';
import type { AdminSql, SqlAnswer } from '../../src/server/admin/sql.ts';
import { operate } from '../server/operating.ts';
import { waitFor } from '../support/wait.ts';
import { assertAccessible } from './accessible.ts';
import { pageTests, textOf } from './browser.ts';
import { isOpen, partOf, signIn } from './panel.ts';

const ANSWER: SqlAnswer = {
  columns: ['number', 'transfers', 'hash'],
  rows: Array.from({ length: 600 }, (_, i) => [600 - i, i % 7, `0x${'ab'.repeat(32)}`]),
  cut: 'rows',
  head: { number: 1_234, hash: '0x00', timestamp: 1 },
  gaps: 2,
  damage: null,
  plan: [{ table: 'blocks', alias: 'blocks', by: [], scannedRows: 600 }],
  notes: [
    'scans blocks, about 600 rows: no condition leads to an index; for analyses see "atlas-node export blocks"',
  ],
};

interface Asked {
  query: string;
  signal: AbortSignal | undefined;
}

function operatorsSql(asked: Asked[]): AdminSql {
  return {
    describe: () => ({
      tables: [
        {
          name: 'blocks',
          description: 'every indexed block',
          columns: [{ name: 'number', type: 'integer' }],
        },
      ],
      functions: [{ signature: 'units(amount, decimals)', description: 'an amount in whole coins' }],
      running: 0,
      waiting: 1,
      reading: 2,
      oldestMs: 3_400,
      logBytes: 2,
      logLimitBytes: 1,
    }),
    async run(query, _rows, signal) {
      asked.push({ query, signal });
      if (query === 'wrong') throw new RequestError(400, 'query_refused', 'no such column: wrong');
      if (query === 'for ever') await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      return ANSWER;
    },
  };
}

pageTests({
  'the page SQL runs, stops and keeps queries, and shows answers as a table, a chart and a file': async (
    t,
    open,
  ) => {
    const asked: Asked[] = [];
    const { server } = await operate(t, { sql: operatorsSql(asked) });
    const page = await open(t, `${server.url}/admin`);
    await signIn(page);
    await isOpen(page);
    await partOf(page, 'SQL').click();
    const editor = page.getByLabel('Query', { exact: true });
    await page.getByText(/2 running, the oldest for 3 s, 1 waiting, the log of the index is full/).waitFor();

    await editor.fill('SELECT * FROM blocks');
    await editor.press('Control+Enter');
    await page
      .getByText(/600 rows as of block 1,234.*more rows were cut: ask for fewer.*; 2 blocks lack/)
      .waitFor();
    await page.getByText(`S${ANSWER.notes[0]?.slice(1)}.`, { exact: true }).waitFor();
    assert.equal(await page.getByRole('region', { name: 'Answer' }).locator('tbody tr').count(), 500);
    await page.getByText('The first 500 of 600 rows. The file').waitFor();
    await page.getByText('Chart', { exact: true }).click();
    await page.getByText('The first 500 of 600 rows.', { exact: true }).waitFor();
    await page.getByLabel('Across').selectOption('number');
    await page.getByLabel('Up').selectOption('transfers');
    await page.getByLabel('transfers by number').first().waitFor();
    await assertAccessible(page, 'SQL with an answer');

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const lines = readFileSync(await (await downloading).path(), 'utf8').split('\n');
    assert.deepEqual([lines[0], lines.length], ['number,transfers,hash', 601]);

    await editor.fill('wrong');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    assert.equal(await textOf(page.getByRole('alert')), 'No such column: wrong.');
    assert.equal(
      await page.getByRole('region', { name: 'Answer' }).count(),
      0,
      'the answer of another query',
    );

    await editor.fill('for ever');
    await editor.press('Control+Enter');
    await editor.press('Control+Enter');
    await waitFor(() => asked.at(-1)?.query === 'for ever', { what: 'the query to begin' });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The query was stopped.').waitFor();
    await waitFor(() => asked.at(-1)?.signal?.aborted, { what: 'the end of the query' });
    assert.equal(asked.length, 3);
    await page.keyboard.press('Control+Enter');
    await waitFor(() => asked.length === 4, { what: 'the editor to have the focus' });
    await page.keyboard.press('Escape');
    await page.getByText('The query was stopped.').waitFor();
    await partOf(page, 'Overview').click();
    await partOf(page, 'SQL').click();
    assert.equal(await editor.inputValue(), 'for ever', 'it stays in the editor');

    await page.getByLabel('Name').fill('my query');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.reload();
    await partOf(page, 'SQL').click();
    await page.getByRole('button', { name: 'my query', exact: true }).click();
    assert.equal(await editor.inputValue(), 'for ever');
    const restore = page.getByRole('button', { name: 'Restore draft' });
    assert.equal(await restore.count(), 0, 'nothing was replaced');
    await editor.fill('first');
    await page.getByRole('button', { name: 'my query', exact: true }).click();
    await editor.fill('second');
    await page.getByRole('button', { name: 'Newest transfers', exact: true }).click();
    await partOf(page, 'Overview').click();
    await partOf(page, 'SQL').click();
    const restored: string[] = [];
    for (let i = 0; i < 3; i++) {
      await restore.click();
      restored.push(await editor.inputValue());
    }
    assert.deepEqual(restored, ['second', 'first', 'second'], 'no draft is lost');
    await page.getByRole('button', { name: 'my query', exact: true }).click();
    await assertAccessible(page, 'SQL with a replaced draft');
    await page.getByRole('button', { name: 'Remove my query' }).click();
    assert.equal(await page.getByRole('button', { name: 'my query', exact: true }).count(), 0);

    await editor.press('Control+Enter');
    await waitFor(() => asked.length === 5, { what: 'the query to begin' });
    await partOf(page, 'Overview').click();
    await waitFor(() => asked.at(-1)?.signal?.aborted, { what: 'the end of a query whose page was left' });
  },
});
