import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCounters } from '../../src/verify/check-counters.ts';
import { Check } from '../../src/verify/report.ts';
import { createIndex, type NamedBlock } from '../support/index-fixture.ts';
import { randomSource } from '../support/random-chain.ts';

/** A block with so many transfers in one transaction. */
function blockOf(name: string, transfers: number): NamedBlock {
  return { [name]: Array.from({ length: transfers }, () => ({ from: 'alice', to: 'bob' })) };
}

test('of transfers that a reorg removes between two pieces of the scan none is missing, and others are told once', async (t) => {
  const index = createIndex(t);
  index.append([blockOf('a', 90_000), blockOf('b', 120_000)]); // read in three pieces
  index.damage('DELETE FROM transfers WHERE id = 80000');
  const checks = { wallets: new Check('wallets'), tokens: new Check('tokens') };
  let pieces = 0;
  await checkCounters(index.reader(t), checks, {
    sample: 20,
    random: randomSource(1),
    signal: new AbortController().signal,
    onProgress() {
      if (++pieces === 1) index.writer.rollback(1);
    },
  });
  assert.match(checks.wallets.compared, /from 90,000 transfers/, 'what is left was compared');
  const missing = checks.wallets.differences.filter(({ text }) => /are missing/.test(text));
  assert.deepEqual(
    missing.map(({ text }) => text),
    ['of the transfers 1 to 90000 1 are missing'],
  );
});
