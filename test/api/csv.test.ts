/** Lists as CSV: the same records as in JSON, for any spreadsheet. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENDPOINTS } from '../../src/api/endpoints/endpoints.ts';
import { openLabelsFile } from '../../src/labels/labels-file.ts';
import { newTradeRules } from '../../src/model/trade-rules.ts';
import { serve } from '../server/serving.ts';
import { address, createIndex, txHash } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';

const MON = 10n ** 18n;
const FORMULA = '=cmd("x"),\n1';

/** The rows of RFC 4180 text. */
function parseCsv(text: string): string[][] {
  assert.ok(text.endsWith('\r\n'));
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)];
  assert.equal(cells.map(([cell]) => cell).join(''), text);
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of cells) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

const QUERIES: Record<string, string> = {
  address_names: `addresses=${address('coin')},${address('exchange')}`,
  method_names: 'selectors=0xa9059cbb,0x12345678',
  token_holders: `token=${address('coin')}`,
  token_launch: `token=${address('coin')}`,
  token_traders: `token=${address('coin')}`,
  token_transfers: `token=${address('coin')}`,
  token_first_buyers: `token=${address('coin')}`,
  transaction_transfers: `tx=${txHash('fund')}`,
  block_transfers: 'block=1',
  whale_transfers: 'min_mon=1',
  search: `q=${address('coin')}`,
  recent_token_transfers_out: `address=${address('alice')}`,
  funding_recipients: `address=${address('exchange')}`,
};

test('every list is available as CSV with the records of the JSON, and labels by name', async (t) => {
  const labelsPath = join(tempDir(t), 'labels.db');
  const labels = openLabelsFile(labelsPath);
  t.after(() => labels.close());
  labels.import([
    { address: address('exchange'), name: 'Big, "Exchange"', category: 'exchange', source: 'test' },
  ]);
  const index = createIndex(t);
  index.writer.setTradeRules(newTradeRules({ chainId: 1, wrappedNative: [], configured: {} }));
  index.append([
    { fund: [{ from: 'exchange', to: 'alice', amount: 9n * MON }], two: [{ from: 'exchange', to: 'bob' }] },
    { coin: [{ kind: 'erc20', from: 'zero', to: 'alice', token: 'coin', amount: 5n }] },
    { give: [{ kind: 'erc20', from: 'alice', to: 'bob', token: 'coin', amount: 2n }] },
    {
      sell: [
        { kind: 'erc20', from: 'alice', to: 'exchange', token: 'coin', amount: 1n },
        { kind: 'native_internal', from: 'exchange', to: 'alice', amount: MON },
      ],
    },
  ]);
  index.damage(`INSERT INTO token_metadata (address, symbol, name, tries, checksum)
    VALUES (x'${address('coin').slice(2)}', '${FORMULA}', '-5', 1, 0)`);
  const queries =
    '[queries.blocks]\nsql = "SELECT number FROM blocks WHERE number > :n"\nparams.n = "integer"\n';
  const { fetch, json } = await serve(t, { index, labelsPath, queries });
  for (const { path, method, toCsv, response } of ENDPOINTS) {
    const name = path.slice('/api/'.length);
    const query = QUERIES[name] ?? `address=${address('alice')}`;
    if (method === 'POST' || toCsv === undefined) continue;
    const answer = await json(`${path}?${query}`);
    // What profits may be counted in is no row of token_traders.
    const lists = Object.entries(answer).filter(([member]) => member !== 'quotes');
    const [records = []] = lists.map(([, list]) => list).filter((list) => Array.isArray(list)) as Record<
      string,
      unknown
    >[][];
    assert.ok(records.length > 0, name);
    const csv = await fetch(`${path}?${query}&format=csv`);
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8', name);
    const [header = [], ...rows] = parseCsv(await csv.text());
    assert.ok(Object.keys(response.shape).length > 0 && rows.length === records.length, name);
    for (const [i, record] of records.entries()) {
      for (const member of Object.keys(record)) assert.ok(header.includes(member), `${name} ${member}`);
      const expected = header.map((title) => textOf(record[title]));
      assert.deepEqual(rows[i], expected, name);
    }
  }
});

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value === FORMULA) return `'${FORMULA}`;
  if (typeof value !== 'object') return String(value);
  return 'name' in value ? String(value.name) : JSON.stringify(value);
}

test('CSV pages continue at X-Next-Cursor, and errors are JSON', async (t) => {
  const index = createIndex(t);
  index.append([
    { a: [{ from: 'bob', to: 'alice' }] },
    { b: [{ from: 'bob', to: 'alice' }] },
    { c: [{ from: 'bob', to: 'alice' }] },
  ]);
  const { fetch, json } = await serve(t, { index });
  const path = `/api/address_transfers?address=${address('alice')}`;
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await fetch(`${path}&limit=2&format=csv${cursor === '' ? '' : `&cursor=${cursor}`}`);
    ids.push(
      ...parseCsv(await page.text())
        .slice(1)
        .map(([id = '']) => id),
    );
    cursor = page.headers.get('x-next-cursor') ?? '';
  } while (cursor !== '');
  const { transfers } = await json(path);
  assert.deepEqual(
    ids,
    (transfers as { id: number }[]).map(({ id }) => String(id)),
  );
  const refused = await fetch(`${path}&format=xml`);
  assert.deepEqual([refused.status, refused.headers.get('content-type')], [400, 'application/json']);
  const empty = await fetch(`/api/whale_transfers?min_mon=1000&format=csv`);
  assert.match(await empty.text(), /^from,fromLabel,amount,[\w,]+\r\n$/);
});
