/** A trade has the same members on every face that shows it, without a list kept by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../../src/api/endpoints/endpoints.ts';
import { TABLES as EXPORTED } from '../../src/export/export.ts';
import { TRADE_COLUMNS } from '../../src/model/trade-columns.ts';
import { signalSchema } from '../../src/schemas/stream-records.ts';
import { legSchema, quoteSchema, tradeSchema, tradeShape } from '../../src/schemas/trades.ts';
import { COLUMNS } from '../../src/sink/columns.ts';
import { SHAPES } from '../../src/sql/tables/tables.ts';
import { asyncDocument, document } from '../support/clients/openapi.ts';

const RECORD = Object.keys(tradeSchema.shape);

/** The members of a record in a document, without labels. */
function membersOf(from: { components: { schemas: object } }, name: string): string[] {
  const { properties = {} }: { properties?: object } = Reflect.get(from.components.schemas, name) ?? {};
  return Object.keys(properties).filter((member) => !member.endsWith('Label'));
}

test('REST records, their CSV, and those of a transaction', () => {
  assert.deepEqual(membersOf(document, 'Trade'), RECORD);
  assert.deepEqual(membersOf(document, 'TransactionTrade').sort(), ['wallet', ...RECORD].sort());
  const endpoint = ENDPOINTS.find(({ path }) => path === '/api/wallet_trades');
  const { response } = endpoint?.example ?? assert.fail();
  const [header = ''] = endpoint?.toCsv?.(response).split('\r\n') ?? [];
  assert.deepEqual(
    header.split(',').filter((title) => !title.endsWith('Label')),
    RECORD,
  );
});

test('events of streams and webhooks', () => {
  const { shape } =
    signalSchema.options.find(({ shape: { event } }) => event.value === 'wallet_trade') ?? assert.fail();
  const members = Object.keys(shape);
  assert.deepEqual(
    RECORD.filter((name) => !members.includes(name)),
    [],
  );
  assert.deepEqual(membersOf(asyncDocument, 'WalletTrade').sort(), members.sort());
  for (const [name, schema] of [
    ['TradeLeg', legSchema],
    ['TradeQuote', quoteSchema],
  ] as const)
    for (const described of [document, asyncDocument])
      assert.deepEqual(membersOf(described, name), Object.keys(schema.shape));
  for (const name of Object.keys(tradeShape)) assert.ok(RECORD.includes(name), name);
});

test('files, PostgreSQL and atlas-node sql', () => {
  const columns = TRADE_COLUMNS.map(({ name }) => name);
  assert.deepEqual(
    EXPORTED.trades.columns.map(({ name }) => name),
    columns,
  );
  assert.deepEqual(Object.keys(COLUMNS.trades), columns);
  const shape = SHAPES.find(({ name }) => name === 'trades') ?? assert.fail();
  assert.deepEqual(
    shape.columns.map(({ name }) => name).filter((name) => !name.endsWith('_real')),
    columns,
  );
});
