import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareTopHoldings } from '../../src/query/holders.ts';
import { prepareTokenFacts } from '../../src/query/tokens.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import type { WorkBudget } from '../../src/query/work-budget.ts';
import { address, createIndex } from '../support/index-fixture.ts';

test('a token that only the zero address ever sent itself has no holders, and the work for it is a number', (t) => {
  const index = createIndex(t);
  index.append([{ a: [{ kind: 'erc20', from: 'zero', to: 'zero', token: 'coin', amount: 5n }] }]);
  const db = index.reader(t);
  const facts = prepareTokenFacts(db)(prepareWalletIdByAddress(db)(address('coin'))!)!;
  assert.equal(facts.wallets, 0);
  const check = (units: number) => assert.ok(Number.isSafeInteger(units), `${units} units of work`);
  const budget: WorkBudget = { ensure: check, spend: check };
  assert.deepEqual(prepareTopHoldings(db)(facts, 10, budget), []);
});
