/** Unknown filter members are refused, because ignoring one would select far more than intended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChainLogFilter, parseLogFilter } from '../../src/streams/node/log-filter.ts';
import { onlyFilter } from '../../src/streams/subscribe-errors.ts';
import { parseSignalFilter, parseWalletFilter } from '../../src/streams/transfers/parse-filter.ts';

const ADDRESS = `0x${'a'.repeat(40)}`;

const refusal = (parse: (filter: unknown) => unknown, filter: object): string => {
  try {
    parse(filter);
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error && error.code === 'invalid_params', String(error));
    return error.message;
  }
  return assert.fail(`accepted ${JSON.stringify(filter)}`);
};

test('each filter accepts all of its members, including null values', () => {
  const wallet = {
    address: ADDRESS,
    direction: 'in',
    includeNative: true,
    includeTokens: true,
    fromBlock: 1,
  };
  const signals = { wallets: [ADDRESS], tokens: [ADDRESS], events: ['wallet_funded'], fromBlock: 1 };
  const logs = { address: ADDRESS, topics: [], fromBlock: '0x1', toBlock: '0x2', blockHash: null };
  parseWalletFilter(wallet);
  parseWalletFilter({
    ...wallet,
    direction: null,
    includeNative: null,
    includeTokens: null,
    fromBlock: null,
  });
  parseSignalFilter(signals);
  parseSignalFilter([signals]);
  parseSignalFilter({ wallets: null, tokens: null, events: null, fromBlock: null });
  for (const nothing of [undefined, null, {}, [], [{}], [null]]) parseSignalFilter(nothing);
  parseLogFilter(logs);
  assert.equal(parseChainLogFilter({ ...logs, commitStates: true }).everyState, true);
  assert.equal(parseChainLogFilter({ ...logs, commitStates: null }).everyState, false);
  assert.equal(parseChainLogFilter(undefined).everyState, false);
});

test('an unknown member is refused by name, with the closest known one', () => {
  const cases: [(filter: unknown) => unknown, object, string, string][] = [
    [parseSignalFilter, { address: ADDRESS }, 'address', 'wallets'],
    [parseSignalFilter, { addresses: [ADDRESS] }, 'addresses', 'wallets'],
    [parseSignalFilter, [{ wallet: ADDRESS }], 'wallet', 'wallets'],
    [parseSignalFilter, { Wallets: [ADDRESS] }, 'Wallets', 'wallets'],
    [parseSignalFilter, { wallets: [ADDRESS], token: ADDRESS }, 'token', 'tokens'],
    [parseSignalFilter, { contract: ADDRESS }, 'contract', 'tokens'],
    [parseSignalFilter, { event: 'wallet_funded' }, 'event', 'events'],
    [parseSignalFilter, { from_block: 5 }, 'from_block', 'fromBlock'],
    [parseWalletFilter, { wallet: ADDRESS, address: ADDRESS }, 'wallet', 'address'],
    [parseWalletFilter, { address: ADDRESS, includeToken: false }, 'includeToken', 'includeTokens'],
    [parseWalletFilter, { address: ADDRESS, dirction: 'in' }, 'dirction', 'direction'],
    [parseLogFilter, { addresses: [ADDRESS] }, 'addresses', 'address'],
    [parseLogFilter, { wallets: [ADDRESS] }, 'wallets', 'address'],
    [parseLogFilter, { topic: [] }, 'topic', 'topics'],
    [parseLogFilter, { fromblock: '0x1' }, 'fromblock', 'fromBlock'],
    [parseChainLogFilter, { commitState: true }, 'commitState', 'commitStates'],
  ];
  for (const [parse, filter, name, meant] of cases) {
    assert.ok(
      refusal(parse, filter).startsWith(`unknown filter member "${name}" (did you mean "${meant}"?)`),
      refusal(parse, filter),
    );
  }
});

test('without a close match, the refusal lists the members', () => {
  assert.equal(
    refusal(parseSignalFilter, { colour: 'red' }),
    'unknown filter member "colour"; the members are wallets, tokens, events, minMon, minAmount, ' +
      'excludeMints, purchasesOnly, kinds, minQuote, initiated, fromBlock, lastSeen, progress',
  );
  // A member of chainLogs is not a member of logs.
  assert.equal(
    refusal(parseLogFilter, { commitStates: true }),
    'unknown filter member "commitStates"; the members are address, topics, fromBlock, toBlock',
  );
  for (const name of ['__proto__', 'constructor', 'toString'])
    assert.match(refusal(parseSignalFilter, JSON.parse(`{"${name}":[]}`)), /^unknown filter member/);
});

test('a megabyte-long name is refused as fast as a short one and quoted in part', () => {
  const name = 'wallets'.repeat(150_000);
  const started = performance.now();
  assert.ok(refusal(parseSignalFilter, { [name]: [] }).length < 250);
  assert.ok(performance.now() - started < 500); // comparing all of it with the members takes seconds
});

test('a second filter object is refused', () => {
  const filter = { wallets: [ADDRESS] };
  assert.equal(onlyFilter([filter]), filter);
  assert.equal(onlyFilter([]), undefined);
  assert.match(refusal(parseSignalFilter, [filter, filter]), /one filter object/);
});

test('wallet_transfers takes 1,000 addresses in one filter, and no more', () => {
  const addresses = Array.from({ length: 1_001 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`);
  assert.equal(parseWalletFilter({ addresses: addresses.slice(1) }).wallets.size, 1_000);
  assert.throws(() => parseWalletFilter({ addresses }), /addresses has more than 1000 addresses/);
});
