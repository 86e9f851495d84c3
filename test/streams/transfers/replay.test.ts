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
        const read = (wallet: number, first: number, end: number) => {
          reads++;
          const left = sorted[wallet]!.filter((id) => id >= first && id < end);
          const ids = left.slice(0, page);
          return { ids, next: left.length > page ? ids.at(-1)! + 1 : end };
        };
        const wallets = sorted.map((_, i) => i);
        const pieces = [...mergeHistories(read, wallets, from, below)];
        const merged = pieces.flatMap(({ ids }) => ids);
        const wanted = new Set(sorted.flat().filter((id) => id >= from && id < below));
        assert.deepEqual(
          merged,
          [...wanted].sort((a, b) => a - b),
        );
        assert.equal(pieces.at(-1)!.next, below);
        let end = from; // of the piece before
        for (const { ids, next } of pieces) {
          assert.ok(ids.every((id) => id >= end && id < next));
          end = next;
        }
        const pages = sorted.reduce((sum, ids) => sum + Math.max(1, Math.ceil(ids.length / page)), 0);
        assert.ok(reads <= pages, `${reads} reads of ${pages} pages`);
      },
    ),
    { numRuns: 200 },
  );
});

test('the transfers of many wallets with few each come in full pieces', () => {
  const wallets = Array.from({ length: 500 }, (_, i) => i);
  const read = (wallet: number, _first: number, below: number) => ({
    ids: [wallet, wallet + 500],
    next: below,
  });
  const sizes = [...mergeHistories(read, wallets, 0, 1_000)].map(({ ids }) => ids.length);
  assert.deepEqual(
    sizes.filter((size) => size > 0),
    new Array<number>(10).fill(100),
  );
});
