/** Packed sums of trades give the sums back, also those against many quotes and with the largest amounts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  packSums,
  profitAgainst,
  type QuoteSums,
  sumsAgainst,
  unpackSums,
} from '../../src/store/trades/packed-sums.ts';
import { averageCostProfit } from '../../src/trades/profit.ts';

fc.configureGlobal({ seed: 1 }); // the same inputs in every run

const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const amount = fc.bigInt({ min: 1n, max: 2n ** 300n });
const side = fc.option(fc.tuple(count, amount, amount), { nil: [0, 0n, 0n] as const });

/** Sums against the quotes 0, 3, 6, ..., each with trades. */
const sumsOfRow = fc.array(fc.tuple(side, side), { maxLength: 40 }).map((sides) =>
  sides.flatMap(([[buys, bought, spent], [sells, sold, received]], i): QuoteSums[] => {
    return buys + sells === 0 ? [] : [{ quote: 3 * i, buys, sells, bought, sold, spent, received }];
  }),
);

test('sums survive packing, whatever was packed before', () => {
  fc.assert(
    fc.property(sumsOfRow, sumsOfRow, (sums, others) => {
      const bytes = packSums(sums);
      assert.deepEqual(unpackSums(packSums(others)), others);
      assert.deepEqual(unpackSums(bytes), sums);
      for (const each of sums) {
        assert.deepEqual(sumsAgainst(bytes, each.quote), each);
        assert.equal(profitAgainst(bytes, each.quote), averageCostProfit(each));
        assert.equal(sumsAgainst(bytes, each.quote + 1), null);
      }
    }),
  );
});
