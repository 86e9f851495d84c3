import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoSeconds } from '../../src/lib/time.ts';

fc.configureGlobal({ seed: 1 }); // the same inputs in every run

test('seconds as ISO text equal what Date says, across days and centuries', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 32_503_680_000 }), (seconds) => {
      assert.equal(isoSeconds(seconds), new Date(seconds * 1000).toISOString());
    }),
    { examples: [[0], [86_399], [86_400], [1_763_740_800]] },
  );
});
