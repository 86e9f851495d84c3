import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeSigned } from '../../src/lib/signed.ts';
import { prepareTopHoldings } from '../../src/query/holdings.ts';
import { prepareTokenFacts } from '../../src/query/tokens.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import { deadlineBudget, type WorkBudget } from '../../src/query/work-budget.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';

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

test('the largest holders come first, of equal ones the wallet seen earlier', (t) => {
  const balances = Array.from({ length: 60 }, (_, i) => BigInt((i * 7 + 1) % 11)); // many equal ones, and some of zero
  const index = createIndex(t);
  index.append([
    {
      mints: balances.map((amount, i) => ({
        kind: 'erc20',
        from: 'zero',
        to: `w${i}`,
        token: 'coin',
        amount,
      })),
      others: [{ from: 'bystander', to: 'another' }],
      debt: [{ kind: 'erc20', from: 'debtor', to: 'last', token: 'coin', amount: 4n }],
    },
  ]);
  const db = index.reader(t);
  const idOf = prepareWalletIdByAddress(db);
  const facts = prepareTokenFacts(db)(idOf(address('coin'))!)!;
  const holders = [...balances.map((amount, i) => ({ name: `w${i}`, amount })), { name: 'last', amount: 4n }]
    .filter(({ amount }) => amount > 0n)
    .map(({ name, amount }) => ({ wallet: idOf(address(name))!, amount }))
    .sort((a, b) => Number(b.amount - a.amount) || a.wallet - b.wallet);
  const topOf = prepareTopHoldings(db);
  for (const limit of [1, 5, 6, 7, 200]) {
    const found = topOf(facts, limit, deadlineBudget(Infinity));
    assert.deepEqual(
      found.map(({ wallet, balance }) => ({ wallet, amount: decodeSigned(balance) })),
      holders.slice(0, limit),
      `${limit} holders`,
    );
  }
});
