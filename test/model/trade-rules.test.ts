/** The lists of the trades of an index: what they start from, and how they are stored and compared. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareTradeRules,
  formatTradeRules,
  newTradeRules,
  parseTradeRules,
} from '../../src/model/trade-rules.ts';

const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const BLUR = '0x0000000000a39bb272e79075ade125fd351887ac';
const MINE = '0x00000000000000000000000000000000000000AA';

const rulesOf = (chainId: number, configured = {}) =>
  newTradeRules({ chainId, wrappedNative: chainId === 1 ? [WETH] : [], configured });

test('known contracts come with the chain, the configuration adds to them', () => {
  const ethereum = rulesOf(1);
  assert.deepEqual(ethereum.nativeEquivalents, [BLUR, WETH]);
  assert.ok(ethereum.quoteTokens.includes(USDC));
  assert.equal(rulesOf(143).quoteTokens.length, 3);

  const own = rulesOf(1, { nativeEquivalents: [MINE], quoteTokens: [MINE], feeSinks: [MINE, MINE] });
  assert.deepEqual(own.nativeEquivalents, [MINE.toLowerCase(), BLUR, WETH]);
  assert.deepEqual(own.quoteTokens, ethereum.quoteTokens, 'an equivalent of the coin is no quote token');
  assert.equal(own.feeSinks.length, ethereum.feeSinks.length + 1);

  const development = rulesOf(31_337);
  assert.deepEqual([development.nativeEquivalents, development.quoteTokens], [[], []]);
  assert.equal(development.feeSinks.length, ethereum.feeSinks.length, 'the same on every chain');
});

test('every list is in lower case, sorted and without duplicates', () => {
  for (const chainId of [1, 10, 56, 137, 143, 8453, 10143, 42161, 43114]) {
    const { nativeEquivalents, quoteTokens, feeSinks } = rulesOf(chainId);
    for (const list of [nativeEquivalents, quoteTokens, feeSinks]) {
      assert.deepEqual(list, [...new Set(list)].sort());
      for (const address of list) assert.match(address, /^0x[0-9a-f]{40}$/);
    }
  }
});

test('rules survive their text, and another text is none', () => {
  for (const rules of [rulesOf(1), rulesOf(31_337), rulesOf(7, { quoteTokens: [MINE] })])
    assert.deepEqual(parseTradeRules(formatTradeRules(rules)), rules);
  const text = formatTradeRules(rulesOf(1));
  for (const other of ['', 'version 1', `${text} `, text.replace('quoteTokens', 'quotes')])
    assert.equal(parseTradeRules(other), null);
});

test('a comparison names each change', () => {
  const rules = rulesOf(1);
  assert.deepEqual(compareTradeRules(rules, rules), []);
  const other = { ...rulesOf(1, { feeSinks: [MINE] }), version: 2, quoteTokens: rules.quoteTokens.slice(1) };
  assert.deepEqual(compareTradeRules(rules, other), [
    'trades are classified by version 2',
    `${rules.quoteTokens[0]} does not count as a quote token`,
    `${MINE.toLowerCase()} counts as a fee sink`,
  ]);
});
