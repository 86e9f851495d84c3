import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareLargeNativeIds } from '../../src/query/whales.ts';
import { ZONE_SPAN } from '../../src/store/zone-map.ts';
import { createIndex, type NamedTransfer } from '../support/index/index-fixture.ts';

const BUDGET = { ensure: () => undefined, spend: () => undefined };
const LARGE = 100n;

test('the newest large transfers of a range are found wherever it and the spans begin and end', (t) => {
  const upper = ZONE_SPAN ** 2; // where the second span of the upper level starts
  const borders = [ZONE_SPAN, 3 * ZONE_SPAN, upper];
  const large = borders.flatMap((border) => [border - 1, border, border + 1]);
  const count = upper + 3;
  const transfers = Array.from({ length: count }, (): NamedTransfer => ({ from: 'a', to: 'b' }));
  for (const id of large) transfers[id - 1] = { from: 'a', to: 'b', kind: 'native_internal', amount: LARGE };
  transfers[1] = { kind: 'erc20', from: 'a', to: 'b', amount: LARGE };
  const index = createIndex(t);
  index.append([{ transaction: transfers }]);
  const find = prepareLargeNativeIds(index.reader(t)).DESC;

  for (const from of [1, ...large]) {
    for (const last of [...borders.map((border) => border - 2), ...large, count]) {
      const wanted = large.filter((id) => id >= from && id <= last).reverse();
      for (const limit of [1, 2, 4, 10]) {
        const found = find(LARGE, { from, below: last + 1 }, limit, BUDGET);
        assert.deepEqual(found, wanted.slice(0, limit), `${limit} of ${from} to ${last}`);
      }
    }
  }
  assert.deepEqual(find(LARGE + 1n, { from: 1, below: count + 1 }, 10, BUDGET), []);
  assert.deepEqual(find(0n, { from: 1, below: 4 }, 10, BUDGET), [3, 1], 'a token transfer is none');
});
