import { test } from 'node:test';
import { NODE_ANSWERS } from './support/fuzz/node-answers.ts';

/** Inputs per property; scripts/fuzz.ts makes as many as it is given time for. */
const RUNS = 400;

for (const property of NODE_ANSWERS) {
  test(`whatever a node answers, decoding ends soon, in transfers or an UpstreamError: ${property.name}`, () => {
    property.check({ runs: RUNS });
  });
}
