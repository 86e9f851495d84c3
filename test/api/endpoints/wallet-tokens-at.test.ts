/** wallet_tokens at an earlier block equals what an index that ends there says. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { prepareEarlierHoldings } from '../../../src/query/holdings-at.ts';
import { Snapshot } from '../../../src/query/snapshot.ts';
import { unitBudget } from '../../../src/query/work-budget.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { errorOf, serve } from '../../server/serving.ts';
import { type PlainBlock, randomBlocks, toBatch } from '../../support/chain/random-chain.ts';
import { type AskApi, askApi } from '../../support/clients/ask-api.ts';
import { address, createIndex } from '../../support/index/index-fixture.ts';
import { tempDir } from '../../support/temp-dir.ts';

type Row = Record<string, unknown>;

function indexOf(owner: Parameters<typeof tempDir>[0], blocks: readonly PlainBlock[]): string {
  const path = join(tempDir(owner), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(blocks)]);
  writer.close();
  return path;
}

async function allOf(ask: AskApi, input: Row): Promise<Row[]> {
  const found: Row[] = [];
  for (let cursor: unknown = null; ; ) {
    const answer = await ask('wallet_tokens', { ...input, limit: '2', ...(cursor !== null && { cursor }) });
    // The share is in the supply of now.
    if (Array.isArray(answer.tokens)) found.push(...answer.tokens.map(({ share: _, ...row }) => row));
    cursor = answer.nextCursor;
    if (cursor === null) return found;
  }
}

test('holdings at a block are those of an index that ends there', async (t) => {
  const blocks = randomBlocks(1, 60, `0x${'00'.repeat(32)}`, 11);
  const whole = askApi(t, indexOf(t, blocks));
  const wallets = new Set<string>();
  for (const { transactions } of blocks)
    for (const { transfers } of transactions)
      for (const { from, to } of transfers) wallets.add(`0x${from}`).add(`0x${to}`);
  let compared = 0;
  for (const last of [1, 25, 59, 60]) {
    const cut = askApi(t, indexOf(t, blocks.slice(0, last)));
    for (const wallet of [...wallets].slice(0, 12)) {
      const block = `${last}`;
      for (const filter of [{}, { include_zero: 'true' }]) {
        const input = { address: wallet, ...filter };
        const expected = await allOf(cut, input);
        assert.deepEqual(await allOf(whole, { ...input, block }), expected, `${wallet} at ${last}`);
        compared += expected.length;
      }
      const tokens = new Set((await allOf(whole, { address: wallet, include_zero: 'true' })).map(tokenOf));
      for (const token of [...tokens].slice(0, 3))
        assert.deepEqual(
          await allOf(whole, { address: wallet, token, block }),
          await allOf(cut, { address: wallet, token }),
        );
    }
  }
  assert.ok(compared > 200, `${compared} rows`);
});

function tokenOf({ tokenAddress }: Row): unknown {
  return tokenAddress;
}

test('a block beyond the index, before it, or beside moved_since is refused', async (t) => {
  const index = createIndex(t, 100);
  index.append([{ a: [{ kind: 'erc20', token: 'coin', from: 'zero', to: 'alice', amount: 5n }] }, {}]);
  const { fetch, json } = await serve(t, { index });
  const path = `/api/wallet_tokens?address=${address('alice')}`;
  const { asOf, truncated, fromBlock } = await json(`${path}&block=100`);
  assert.deepEqual([truncated, fromBlock], [false, null]);
  for (const [query, status, message] of [
    ['block=102', 503, 'block 102 is not indexed yet; the last indexed block is 101'],
    ['block=99', 404, 'block 99 is before the first indexed block 100'],
    [`block=100&moved_since=${asOf}`, 400, /^moved_since cannot be combined with block/],
    ['block=0x10', 400, 'block must be a block number'],
  ] as const) {
    const answer = await fetch(`${path}&${query}`);
    assert.equal(answer.status, status, query);
    assert.match(
      (await errorOf(answer)).error.message,
      typeof message === 'string' ? new RegExp(`^${message}$`) : message,
    );
  }
  assert.deepEqual((await json(`/api/wallet_tokens?address=${address('nobody')}&block=100`)).tokens, []);
});

test('beyond the work limit the holdings are those after a later whole block', (t) => {
  const index = createIndex(t);
  const give = (name: string) => ({ kind: 'erc20', token: name, from: 'zero', to: 'alice' }) as const;
  index.append(Array.from({ length: 20 }, (_, i) => ({ [`${i}`]: [give('coin'), give(`coin ${i % 3}`)] })));
  const { db, snapshot, walletIds } = index.snapshot(t);
  assert.ok(snapshot instanceof Snapshot && snapshot.head() !== null);
  const wallet = walletIds.idOf(address('alice')) ?? -1;
  const at = prepareEarlierHoldings(db, { transfers: 10 })(wallet, 3, 20, unitBudget(1e6));
  assert.deepEqual(
    [at.block, [...at.changes.values()].map(({ transfers }) => transfers)],
    [16, [4, 2, 1, 1]],
  );
  assert.equal(prepareEarlierHoldings(db, { transfers: 100 })(wallet, 3, 20, unitBudget(1e6)).block, 3);
});
