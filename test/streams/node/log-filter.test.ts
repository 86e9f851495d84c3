import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LogFilter, matchesLog, parseLogFilter } from '../../../src/streams/node/log-filter.ts';

const ADDRESS = (digit: string) => `0x${digit.repeat(40)}`;
const TOPIC = (digit: string) => `0x${digit.repeat(64)}`;

/** A log at `a` with the topics 1, 2, 3. */
const LOG = {
  address: ADDRESS('a'),
  topics: [TOPIC('1'), TOPIC('2'), TOPIC('3')],
  blockNumber: '0x5',
  blockHash: TOPIC('0'),
  logIndex: '0x0',
};

const passes = (filter: unknown): boolean => matchesLog(parseLogFilter(filter), LOG, 5);

test('a filter matches what eth_getLogs returns', () => {
  const cases: [unknown, boolean][] = [
    [undefined, true],
    [null, true],
    [{}, true],
    [{ address: null, topics: null }, true],
    [{ address: ADDRESS('a') }, true],
    [{ address: ADDRESS('A') }, true],
    [{ address: ADDRESS('b') }, false],
    [{ address: [ADDRESS('b'), ADDRESS('a')] }, true],
    [{ address: [] }, true],
    [{ topics: [] }, true],
    [{ topics: [TOPIC('1')] }, true],
    [{ topics: [TOPIC('2')] }, false],
    [{ topics: [null, TOPIC('2')] }, true],
    [{ topics: [[TOPIC('9'), TOPIC('1')], null, TOPIC('3')] }, true],
    [{ topics: [[TOPIC('9'), TOPIC('8')]] }, false],
    [{ topics: [[]] }, true],
    [{ topics: [[TOPIC('9'), null]] }, true],
    [{ topics: [null, null, null] }, true],
    [{ topics: [null, null, null, null] }, true],
    [{ topics: [TOPIC('1'), null, [], [TOPIC('9'), null]] }, true],
    [{ topics: [null, null, null, TOPIC('3')] }, false],
    [{ fromBlock: '0x5', toBlock: '0x5' }, true],
    [{ fromBlock: '0x6' }, false],
    [{ toBlock: '0x4' }, false],
    [{ fromBlock: 'latest', toBlock: 'latest' }, true],
  ];
  for (const [filter, expected] of cases) assert.equal(passes(filter), expected, JSON.stringify(filter));
});

test('a malformed filter is refused with the reason', () => {
  const cases: [unknown, RegExp][] = [
    ['0x', /must be an object/],
    [[], /must be an object/],
    [{ address: '0x12' }, /address must be/],
    [{ address: 5 }, /address must be/],
    [{ address: [ADDRESS('a'), null] }, /address must be/],
    [{ topics: TOPIC('1') }, /topics must be an array/],
    [{ topics: [5] }, /topics\[0\] must be/],
    [{ topics: [null, ['0x1']] }, /topics\[1\] must be/],
    [{ topics: [null, null, null, null, null] }, /more than 4/],
    [{ topics: [Array(1001).fill(TOPIC('1'))] }, /more than 1000/],
    [{ blockHash: TOPIC('1') }, /eth_getLogs/],
    [{ fromBlock: 5 }, /fromBlock must be/],
    [{ fromBlock: '0x6', toBlock: '0x5' }, /invalid block range/],
  ];
  for (const [filter, message] of cases) {
    assert.throws(() => parseLogFilter(filter), { code: 'invalid_params', message }, JSON.stringify(filter));
  }
});

test('an absent filter matches everything', () => {
  const expected: LogFilter = { addresses: null, topics: [], from: 0, to: Number.POSITIVE_INFINITY };
  assert.deepEqual(parseLogFilter(undefined), expected);
});
