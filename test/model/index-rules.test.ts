import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareRules,
  completeRules,
  newRules,
  RULES_VERSION,
  rulesText,
  type StoredRules,
} from '../../src/model/index-rules.ts';

const A = `0x${'aa'.repeat(20)}` as const;
const B = `0x${'bb'.repeat(20)}` as const;
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';

const sources = (...wrappedNative: string[]) => ({
  chainId: 1,
  monad: false,
  configured: { wrappedNative },
});

/** As in an index of an earlier release. */
const EARLIER: StoredRules = {
  version: 1,
  monad: null,
  wrappedNative: null,
  nativeContracts: [],
  unindexedErc20: [],
};

test('a new index gets the known contracts and the configured ones, whatever their order and case', () => {
  const rules = newRules(sources(B.toUpperCase().replace('X', 'x'), A, A, WETH));
  assert.equal(rules.version, RULES_VERSION);
  assert.deepEqual(rules.wrappedNative, [A, B, WETH]);
  assert.equal(rulesText(rules), rulesText(newRules(sources(WETH, B, A))));
});

test('Polygon’s coin is also a contract, whose logs repeat what its calls pay', () => {
  const { nativeContracts } = newRules({ chainId: 137, monad: false, configured: {} });
  assert.deepEqual(nativeContracts, ['0x0000000000000000000000000000000000001010']);
});

test('an index of an earlier release keeps rules 1 with the contracts of its configuration', () => {
  const rules = completeRules(EARLIER, { ...sources(A), monad: true });
  assert.deepEqual(rules, { ...EARLIER, monad: true, wrappedNative: [A, WETH] });
  const later = completeRules(rules, { ...sources(B), monad: false });
  assert.deepEqual(later, rules, 'once completed, nothing changes them');
});

test('the comparison names each contract that a new index would count otherwise, and who wants it', () => {
  const made = newRules(sources(A));
  assert.deepEqual(compareRules(made, sources(A)), {
    version: RULES_VERSION,
    newest: RULES_VERSION,
    changes: [],
    isConfigured: false,
  });
  const { changes, isConfigured } = compareRules(made, sources(B));
  assert.deepEqual(changes, [
    `${B} counts as wrapped native coin`,
    `${A} does not count as wrapped native coin`,
  ]);
  assert.equal(isConfigured, true);
  const known = compareRules({ ...made, wrappedNative: [A] }, sources(A));
  assert.deepEqual(known.changes, [`${WETH} counts as wrapped native coin`]);
  assert.equal(known.isConfigured, false, 'the program added it');
});
