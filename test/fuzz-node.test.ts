import { test } from 'node:test';
import { NODE_ANSWERS } from './support/fuzz/node-answers.ts';

/** Inputs per property, always the same ones; scripts/soak/fuzz.ts makes others, as many as it is given time for. */
const INPUTS = { runs: 400, seed: 1 };

for (const property of NODE_ANSWERS) {
  test(`whatever a node answers, decoding soon ends in transfers or an UpstreamError: ${property.name}`, () => {
    property.check(INPUTS);
  });
}
