/** The lists in the docs and those in the program have the same members: tables, columns, events, codes, settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configSchema } from '../src/config/schema.ts';
import { flatten } from '../src/config/tree.ts';
import { TABLES as EXPORTED } from '../src/export/export.ts';
import { HOOK_MEMBERS } from '../src/hooks/hook-spec.ts';
import { API_ERROR_CODES } from '../src/lib/errors.ts';
import { SIGNAL_EVENTS, SIGNAL_FILTER } from '../src/model/stream-filters.ts';
import { TRADE_COLUMNS } from '../src/model/trade-columns.ts';
import { COLUMNS } from '../src/sink/columns.ts';
import { SHAPES } from '../src/sql/tables/tables.ts';
import { document } from './support/clients/openapi.ts';
import { PAGES, tableRows } from './support/docs.ts';
import { metricSeries } from './support/metrics.ts';

/** The names in a text: what stands in backquotes and has no spaces. */
function namesIn(text = ''): string[] {
  return [...text.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name);
}

/** The first cells of a table, which may hold several names. */
function named(page: string, heading: string): string[] {
  return tableRows(page, heading).flatMap(([first]) => namesIn(first));
}

function columnsOf(table: string): string[] {
  const shape = SHAPES.find(({ name }) => name === table) ?? assert.fail(table);
  return shape.columns.map(({ name }) => name);
}

test('the events of signals', () => {
  assert.deepEqual(named('docs/streams.md', 'event'), SIGNAL_EVENTS);
});

test('the members of filters and of hooks', () => {
  const elsewhere = ['fromBlock', 'lastSeen', 'progress']; // with replays and confirmations
  const members = Object.keys(SIGNAL_FILTER).filter((name) => !elsewhere.includes(name));
  assert.deepEqual(named('docs/streams.md', 'member').sort(), members.sort());
  assert.deepEqual(named('docs/webhooks.md', 'member').sort(), [...HOOK_MEMBERS].sort());
});

test('the exported tables, and the columns of trades', () => {
  assert.deepEqual(
    tableRows('docs/analytics.md', 'table').flatMap((cells) => (cells.length === 3 ? namesIn(cells[0]) : [])),
    [...Object.keys(EXPORTED), ...POSTGRES_TABLES],
  );
  assert.deepEqual(
    named('docs/analytics.md', 'column'),
    TRADE_COLUMNS.map(({ name }) => name),
  );
});

/** The third column of their table has the columns. */
const POSTGRES_TABLES = [
  ...['transfers', 'trades', 'blocks', 'tokens', 'wallets'],
  ...['named_transfers', 'readable_transfers', 'named_trades', 'readable_trades', 'sink'],
];

test('the columns in PostgreSQL', () => {
  const rows = tableRows('docs/analytics.md', 'table').slice(Object.keys(EXPORTED).length);
  const documented = new Map(rows.map(([name, , columns]) => [namesIn(name)[0], namesIn(columns)]));
  for (const [table, columns] of Object.entries(COLUMNS)) {
    if (table === 'trades') continue; // in a table of their own
    const listed = documented.get(table)?.filter((name) => !name.includes('.'));
    assert.deepEqual(listed?.sort(), Object.keys(columns).sort(), table);
  }
});

test('the columns of atlas-node sql are documented, and those of the files and PostgreSQL of the same name', () => {
  const rows = tableRows('docs/sql.md', 'table').filter((cells) => cells.length === 4);
  assert.deepEqual(
    rows.flatMap(([name]) => namesIn(name)),
    SHAPES.map(({ name }) => name),
  );
  for (const [cell, , text = ''] of rows) {
    const [table = ''] = namesIn(cell);
    const [, base] = /^those of `(\w+)`/.exec(text) ?? [];
    const listed = namesIn(text).filter((name) => !name.includes('.') && name !== base);
    const all = [...(base === undefined ? [] : columnsOf(base)), ...listed];
    if (text.includes('...'))
      assert.deepEqual(
        listed.filter((name) => !columnsOf(table).includes(name)),
        [],
      );
    else assert.deepEqual(all.sort(), columnsOf(table).sort(), table);
  }
  for (const [table, { columns }] of Object.entries(EXPORTED)) {
    const missing = columns.filter(({ name }) => !columnsOf(table).includes(name));
    assert.deepEqual(missing, [], table);
  }
  for (const [name, , text] of tableRows('docs/analytics.md', 'table')) {
    const [view = ''] = namesIn(name);
    if (!view.startsWith('named_')) continue;
    const own = namesIn(text).filter((column) => column !== view.slice('named_'.length));
    assert.deepEqual(
      own.filter((column) => !columnsOf(view).includes(column)),
      [],
      `${view} in PostgreSQL`,
    );
  }
});

test('the error codes', () => {
  const codes = tableRows('docs/api.md', 'status').flatMap(([, second]) => namesIn(second));
  assert.deepEqual([...new Set(codes)].sort(), [...API_ERROR_CODES].sort());
});

test('every endpoint stands in the list of the README', () => {
  const [readme] = PAGES;
  const listed = [...(readme?.text ?? '').matchAll(/`(?:GET |POST )?(\/[\w/.]+)`/g)].map(([, path]) => path);
  assert.deepEqual(
    Object.keys(document.paths).filter((path) => !listed.includes(path)),
    [],
  );
});

test('every metric and every setting that the docs name exists', () => {
  const text = PAGES.filter(({ path }) => path !== 'CHANGELOG.md')
    .map((page) => page.text)
    .join('\n');
  const others = ['atlas_subscribe', 'atlas_unsubscribe', 'atlas_subscription', 'atlas_keys'];
  const series = new Set([...metricSeries().keys()].map((name) => name.replace(/_(bucket|sum|count)$/, '')));
  const metrics = [...text.matchAll(/\batlas_[a-z_]+[a-z]\b/g)].map(([name]) => name);
  assert.ok(metrics.length > 20, `only ${metrics.length} were found`);
  assert.deepEqual(
    metrics.filter((name) => !series.has(name) && !others.includes(name)),
    [],
  );
  const settings = flatten(configSchema.parse({}));
  const parents = [...settings.keys()].flatMap((path) =>
    path.split('.').map((_, i, all) => all.slice(0, i).join('.')),
  );
  const sections = new Set(parents);
  const paths = namesIn(text).filter((name) => /^[a-z]+\.[a-z_.]+$/.test(name));
  const known = paths.filter((path) => sections.has(path.slice(0, path.indexOf('.'))));
  assert.ok(known.length > 40, `only ${known.length} were found`);
  assert.deepEqual(
    known.filter((path) => !sections.has(path) && !settings.has(path) && !/\.(db|md|toml|ts)\b/.test(path)),
    [],
  );
});
