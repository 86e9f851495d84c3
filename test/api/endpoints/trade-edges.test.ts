/** Trades at the edges: amounts beyond 256 bits in sums, the most decimals, and pages while the chain goes on. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { seenText } from '../../../src/api/seen.ts';
import { ReorgedError } from '../../../src/lib/errors.ts';
import { newTradeRules } from '../../../src/model/trade-rules.ts';
import { type AskApi, askApi } from '../../support/clients/ask-api.ts';
import { address, createIndex, type NamedBlock } from '../../support/index/index-fixture.ts';
import { indexedTransfers } from '../../support/index/index-rows.ts';
import { compareTraders, plainTraders } from '../../support/trades/compare-traders.ts';
import { compareTrades } from '../../support/trades/compare-trades.ts';
import { buy, sell } from '../../support/trades/named-transfers.ts';
import { PlainTrades } from '../../support/trades/plain-trades.ts';
import { plainSums, storedSums } from '../../support/trades/stored-sums.ts';

const MEME = address('meme');
const LISTS = { equivalents: [], quotes: [], sinks: [] };
const RULES = newTradeRules({ chainId: 143, wrappedNative: [], configured: {} });
const MOST = 2n ** 256n - 1n;

test('sums beyond 256 bits are exact, with 77 decimals, in windows and after a rollback', async (t) => {
  const index = createIndex(t);
  index.writer.setTradeRules(RULES);
  index.append([
    { a: buy('alice', MOST, 3n), b: buy('alice', MOST, MOST), c: buy('alice', MOST, MOST) },
    { d: sell('alice', MOST, MOST), e: buy('bob', 1n, MOST), f: sell('alice', MOST - 1n, 7n) },
    { g: sell('alice', MOST, MOST) },
  ]);
  const text = { name: 'Meme', symbol: 'MEME', decimals: 77 };
  index.writer.saveMetadata([{ address: MEME, ...text, tries: 1, retryAt: null }]);
  const ask = askApi(t, index.path);
  const compare = async () => {
    const plain = new PlainTrades(indexedTransfers(dirname(index.path)), LISTS);
    const wallets = ['alice', 'bob', 'pool'].map(address);
    await compareTrades(ask, plain, wallets, ['native']);
    const input = { token: MEME, quote: 'native' };
    await compareTraders(ask, input, plainTraders(plain, MEME, 'native'));
    const last = index.writer.head()?.number ?? 0;
    const newest = plainTraders(plain, MEME, 'native', ({ block }) => block > last - 2);
    await compareTraders(ask, { ...input, blocks: '2' }, newest);
    assert.deepEqual(
      storedSums(index.path),
      plainSums(index.path, LISTS, () => false),
    );
  };
  await compare();
  index.writer.rollback(2);
  await compare();
  index.append([{ h: sell('alice', 2n, 5n) }], 'other');
  await compare();
  // 3 coins of 18 decimals for 2^256 - 1 units of 77.
  const { trades } = await ask('wallet_trades', { address: address('alice'), until: '1700000002' });
  assert.ok(Array.isArray(trades));
  assert.deepEqual(
    trades.map(({ price }) => price),
    [`1${'0'.repeat(59)}`, `1${'0'.repeat(59)}`, '0.00000000000000000259085056652833338'],
  );
});

/** One page after another; `between` changes the chain after each. */
async function pages(
  ask: AskApi,
  [path, list]: readonly [string, string],
  input: Record<string, string>,
  between: () => void,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let cursor: unknown = null; ; between()) {
    const answer = await ask(path, { ...input, limit: '2', ...(cursor !== null && { cursor: `${cursor}` }) });
    const rows = answer[list];
    assert.ok(Array.isArray(rows));
    found.push(...rows);
    cursor = answer.nextCursor;
    if (cursor === null) return found;
  }
}

const PAGED = [
  ['wallet_trades', 'trades', { address: address('alice') }],
  ['token_transfers', 'transfers', { token: MEME }],
  ['token_traders', 'traders', { token: MEME, order: 'recent', include_contracts: 'true' }],
] as const;

for (const [path, list, input] of PAGED)
  test(`pages of ${path} neither repeat nor lose a row while blocks arrive, and a reorg is told`, async (t) => {
    const index = createIndex(t);
    index.writer.setTradeRules(RULES);
    const traders = ['alice', 'bob', 'carol', 'dave', 'erin'];
    const blocks = Array.from({ length: 8 }, (_, i): NamedBlock => {
      const who = traders[i % traders.length] ?? '';
      return { [`buy ${i}`]: buy(who, 5n, 9n), [`own ${i}`]: buy('alice', 3n, 2n) };
    });
    index.append(blocks);
    const ask = askApi(t, index.path);
    const whole = await pages(ask, [path, list], input, () => undefined);
    assert.ok(whole.length > 4, `${whole.length} rows`);
    let count = 0;
    const arriving = () => index.append([{ [`new ${count++}`]: buy(`newcomer ${count}`, 1n, 1n) }]);
    assert.deepEqual(await pages(ask, [path, list], input, arriving), whole);
    const { db, snapshot } = index.snapshot(t);
    const head = snapshot.head();
    assert.ok(head && db);
    snapshot.release();
    const seen = seenText(head);
    await ask(path, { ...input, limit: '2', seen });
    index.writer.rollback(head.number - 2);
    index.append([{ other: buy('frank', 1n, 1n) }], 'other');
    await assert.rejects(ask(path, { ...input, limit: '2', seen }), (error) => {
      assert.ok(error instanceof ReorgedError);
      assert.ok(error.from <= head.number);
      return true;
    });
  });
