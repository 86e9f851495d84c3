/** What the collecting of logs takes of the memory for answers, it gives back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ByteBudget } from '../../src/lib/byte-budget.ts';
import type { RequestFn } from '../../src/rpc/call.ts';
import { collectLogs } from '../../src/rpc/logs/collect.ts';
import { RangeLimit } from '../../src/rpc/logs/range-limit.ts';
import { resultPayload } from '../../src/rpc/payload.ts';

test('a collection that fails holds no memory, also of answers that are there already', async () => {
  const budget = new ByteBudget(1_000).forClient(1);
  let asked = 0;
  // The second answer is no list, which ends the collection; the others are there and not read yet, or come later.
  const ask: RequestFn = async () => {
    const number = ++asked;
    if (number > 4) await sleep(10);
    for (let i = 0; i < number; i++) await null;
    return { payload: resultPayload(number === 2 ? '{}' : '["0x1","0x2"]'), status: 200 };
  };
  const filter = { from: 1, to: 100, rest: {} };
  const deps = { ask, nodeRange: new RangeLimit(10, 10), budget };
  const range = { from: 1, to: 100, last: 100 };
  await assert.rejects(collectLogs(deps, filter, range, new AbortController().signal), /no list/);
  await sleep(50);
  assert.ok(budget.reserve(750), 'all that one client may hold');
});

test('a collection that is called off resolves with no part of the logs', async () => {
  const calledOff = new AbortController();
  let asked = 0;
  const ask: RequestFn = async () => {
    // When the last answer is there, none is read yet.
    if (++asked === 8) calledOff.abort();
    return { payload: resultPayload('["0x1"]'), status: 200 };
  };
  const filter = { from: 1, to: 80, rest: {} };
  const deps = { ask, nodeRange: new RangeLimit(10, 10), budget: new ByteBudget(1_000).forClient(1) };
  const collected = collectLogs(deps, filter, { from: 1, to: 80, last: 80 }, calledOff.signal);
  await assert.rejects(collected, { name: 'AbortError' });
});
