/** Records of a block of which the node did not give the traces say so, on every list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GAP_KINDS } from '../../src/model/block-gap.ts';
import { isGapSql, prepareIsGap } from '../../src/store/block-gaps.ts';
import { serve } from '../server/serving.ts';
import { address, createIndex, type NamedBlock, txHash } from '../support/index/index-fixture.ts';

const MON = 10n ** 18n;
const ALICE = address('alice');

const block = (name: string): NamedBlock => ({
  [`${name} in`]: [{ from: 'exchange', to: `new at ${name}`, amount: MON }],
  [`${name} both`]: [
    { from: 'exchange', to: 'alice', amount: 200n * MON },
    { kind: 'erc20', from: 'alice', to: 'bob', token: 'coin', amount: 2n },
  ],
});

/** The `uncertain` of each record of an answer, by its transaction. */
function marks(answer: object): unknown[] {
  const list: unknown[] = Object.values(answer).find(Array.isArray) ?? [];
  return list.map((record) => (record as { uncertain?: unknown }).uncertain);
}

test('records of a trace gap are uncertain on every list and in CSV, others have no such member', async (t) => {
  const index = createIndex(t);
  index.append([block('one')]);
  index.appendUntraced([block('two')]);
  index.append([block('three')]);
  const { json, fetch } = await serve(t, { index });
  const get = async (path: string) => marks(await json(`/api/${path}`));
  const mixed = [undefined, true, undefined];
  const twice = mixed.flatMap((mark) => [mark, mark]);
  assert.deepEqual(await get(`address_transfers?address=${ALICE}`), twice);
  assert.deepEqual(await get(`recent_token_transfers_out?address=${ALICE}`), mixed);
  assert.deepEqual(await get('whale_transfers'), mixed);
  assert.deepEqual(await get('block_transfers?block=2'), [true, true, true]);
  assert.deepEqual(await get('block_transfers?block=3'), [undefined, undefined, undefined]);
  assert.deepEqual(await get(`transaction_transfers?tx=${txHash('two both')}`), [true, true]);
  const recipients = await get(`funding_recipients?address=${address('exchange')}`);
  assert.deepEqual(
    recipients,
    [undefined, undefined, true, undefined],
    'alice by her last transfer, then the new',
  );
  assert.deepEqual(await get(`coordinated_wallets?address=${ALICE}`), [undefined, true, undefined]);
  for (const [name, mark] of [
    ['two', true],
    ['three', undefined],
  ] as const) {
    const wallet = address(`new at ${name}`);
    assert.deepEqual(await get(`funding_chain?address=${wallet}`), [mark]);
    const { latestNativeIn } = await json(`/api/latest_native_in?address=${wallet}`);
    assert.equal((latestNativeIn as { uncertain?: true }).uncertain, mark);
    const source = await json(`/api/wallet_funding_source?address=${wallet}`);
    assert.equal(source.uncertain, mark);
    assert.equal((source.firstFunding as { uncertain?: true }).uncertain, mark);
  }
  const csv = await (await fetch(`/api/whale_transfers?format=csv`)).text();
  const [header = '', ...lines] = csv.trim().split('\r\n');
  const column = header.split(',').indexOf('uncertain');
  assert.deepEqual(
    lines.map((line) => line.split(',')[column]),
    ['', 'true', ''],
  );
});

test('a gap of any kind is found by SQL, up to its ends', (t) => {
  const index = createIndex(t);
  index.append(Array.from({ length: 20 }, () => ({})));
  const db = index.reader(t);
  const isGap = prepareIsGap(db);
  assert.equal(isGap(5), false);
  for (const [kind] of GAP_KINDS.entries())
    index.damage(`INSERT INTO block_gaps VALUES (${kind}, ${4 + 5 * kind}, ${5 + 5 * kind}, 'lost', 0)`);
  const found = db
    .prepare<[], number>(`SELECT number FROM blocks WHERE ${isGapSql('number')}`)
    .pluck()
    .all();
  assert.deepEqual(found, [4, 5, 9, 10]);
  for (let block = 1; block <= 20; block++)
    assert.equal(isGap(block), found.includes(block), `block ${block}`);
});
