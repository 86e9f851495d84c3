import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type CounterChecks, checkCounters } from '../../src/verify/check-counters.ts';
import { Check } from '../../src/verify/report.ts';
import { namedScope, sampleScope } from '../../src/verify/scope.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { address, createIndex, type IndexFixture, type NamedBlock } from '../support/index/index-fixture.ts';

/** A block with this many transfers in one transaction. */
function blockOf(name: string, transfers: number): NamedBlock {
  return { [name]: Array.from({ length: transfers }, () => ({ from: 'alice', to: 'bob' })) };
}

/** Checks a sample large enough for all wallets and tokens of the index. */
async function check(t: TestContext, index: IndexFixture, onProgress = () => {}): Promise<CounterChecks> {
  const checks = { wallets: new Check('wallets'), tokens: new Check('tokens') };
  const { signal } = new AbortController();
  await checkCounters(index.reader(t), checks, sampleScope(20, randomSource(1)), { signal, onProgress });
  return checks;
}

test('a reorg during the scan causes no false difference, and real ones are reported once', async (t) => {
  const index = createIndex(t);
  index.append([blockOf('a', 90_000), blockOf('b', 120_000)]); // read in three pieces
  index.damage('DELETE FROM transfers WHERE id = 80000');
  let pieces = 0;
  const checks = await check(t, index, () => {
    if (++pieces === 1) index.writer.rollback(1);
  });
  assert.match(checks.wallets.compared, /from 90,000 transfers/, 'what is left was compared');
  const missing = checks.wallets.differences.filter(({ text }) => /are missing/.test(text));
  assert.deepEqual(
    missing.map(({ text }) => text),
    ['of the transfers 1 to 90000 1 are missing'],
  );
});

test('a wallet of very many transfers is recounted too', async (t) => {
  const index = createIndex(t);
  for (const name of ['a', 'b', 'c']) index.append([blockOf(name, 80_000)]);
  index.damage(`
    UPDATE wallets SET internal_received = 7 WHERE id = 2;
    UPDATE activity SET entries = substr(entries, 1, length(entries) - 1) WHERE wallet = 1
    AND first_transfer = 130049`);
  const checks = await check(t, index);
  assert.deepEqual(
    checks.wallets.differences.map(({ text }) => text),
    [
      `the activity of ${address('alice')}: entry 130176 is 130176 native_direct out of 0 wei with wallet ` +
        '2, must be 130176 native_direct out of 1 wei with wallet 2',
      `internal_received of ${address('bob')} is 7 in the index, must be 0`,
    ],
  );
});

test('the largest native transfer of a span is looked for in that span alone', async (t) => {
  const index = createIndex(t);
  const transfers = (count: number): NamedBlock[string] => blockOf('a', count).a ?? [];
  index.append([{ a: [...transfers(255), { from: 'alice', to: 'bob', amount: 9n }, ...transfers(300)] }]);
  assert.deepEqual((await check(t, index)).wallets.differences, []);
});

test('a sample in any order is recounted completely', async (t) => {
  const index = createIndex(t);
  const tokens = Array.from({ length: 9 }, (_, i) => `token${i}`);
  index.append([{ a: tokens.map((token) => ({ from: 'alice', to: 'bob', token, kind: 'erc20' as const })) }]);
  const checks = { wallets: new Check('wallets'), tokens: new Check('tokens') };
  await checkCounters(index.reader(t), checks, namedScope({ wallets: [], tokens: [3, 9, 5] }), {
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  assert.deepEqual([...checks.wallets.differences, ...checks.tokens.differences], []);
});
