/** Collecting logs returns all memory that it reserved for answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallResult, RequestFn } from '../../../src/gateway/call.ts';
import { collectLogs } from '../../../src/gateway/logs/collect.ts';
import { classifyRefusal, RangeLimit } from '../../../src/gateway/logs/node-range.ts';
import { resultTail } from '../../../src/gateway/response-tail.ts';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';

/** Learns nothing. */
const KNOWN_WORDS = { classify: async (answer: CallResult) => classifyRefusal(answer) };

test('a failed collection releases its memory, that of collected answers included', async () => {
  const budget = new ByteBudget(1_000).forClient(1);
  let asked = 0;
  // The second answer is not a list, which ends the collection. The others have arrived unread, or arrive later.
  const ask: RequestFn = async () => {
    const number = ++asked;
    if (number > 4) await sleep(10);
    for (let i = 0; i < number; i++) await null;
    return { tail: resultTail(number === 2 ? '{}' : '["0x1","0x2"]'), status: 200 };
  };
  const filter = { from: 1, to: 100, rest: {} };
  const deps = { request: ask, nodeRange: new RangeLimit(10, 10), descent: KNOWN_WORDS, budget };
  const range = { from: 1, to: 100, last: 100 };
  await assert.rejects(collectLogs(deps, filter, range, new AbortController().signal), /not a list/);
  await sleep(50);
  assert.ok(budget.reserve(750), 'all that one client may hold');
});

test('an aborted collection returns no part of the logs', async () => {
  const calledOff = new AbortController();
  let asked = 0;
  const ask: RequestFn = async () => {
    // When the last answer arrives, none is read yet.
    if (++asked === 8) calledOff.abort();
    return { tail: resultTail('["0x1"]'), status: 200 };
  };
  const filter = { from: 1, to: 80, rest: {} };
  const deps = {
    request: ask,
    nodeRange: new RangeLimit(10, 10),
    descent: KNOWN_WORDS,
    budget: new ByteBudget(1_000).forClient(1),
  };
  const collected = collectLogs(deps, filter, { from: 1, to: 80, last: 80 }, calledOff.signal);
  await assert.rejects(collected, { name: 'AbortError' });
});
