import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeHistories } from '../../../src/streams/transfers/replay.ts';

fc.configureGlobal({ seed: 1 }); // the same inputs in every run

test('wallet histories merge into one ascending list without duplicates', () => {
  const histories = fc.array(fc.uniqueArray(fc.nat(300), { maxLength: 60 }), { maxLength: 120 });
  fc.assert(
    fc.property(
      histories,
      fc.nat(300),
      fc.nat(300),
      fc.integer({ min: 1, max: 9 }),
      (lists, from, span, page) => {
        const below = from + span;
        const sorted = lists.map((ids) => [...ids].sort((a, b) => a - b));
        let reads = 0;
        const read = (wallet: number, first: number, end: number): number[] => {
          reads++;
          return sorted[wallet]!.filter((id) => id >= first && id < end).slice(0, page);
        };
        const wallets = sorted.map((_, i) => i);
        const merged = [...mergeHistories(read, wallets, from, below)].flatMap(({ ids }) => ids);
        const wanted = new Set(sorted.flat().filter((id) => id >= from && id < below));
        assert.deepEqual(
          merged,
          [...wanted].sort((a, b) => a - b),
        );
        const pages = sorted.reduce((sum, ids) => sum + Math.ceil(ids.length / page) + 1, 0);
        assert.ok(reads <= pages, `${reads} reads of ${pages} pages`);
      },
    ),
    { numRuns: 200 },
  );
});
