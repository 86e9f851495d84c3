import { test } from 'node:test';
import { NODE_ANSWERS } from './support/fuzz/node-answers.ts';

/** Inputs per property, always the same. scripts/soak/fuzz.ts generates others, as many as time permits. */
const INPUTS = { runs: 400, seed: 1 };

for (const property of NODE_ANSWERS) {
  test(`whatever a node answers, decoding soon ends in transfers or an UpstreamError: ${property.name}`, () => {
    property.check(INPUTS);
  });
}
