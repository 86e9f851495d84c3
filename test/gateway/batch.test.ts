/** A batch returns all memory that it reserved for answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerBatch } from '../../src/gateway/batch.ts';
import { type CallResult, createCall } from '../../src/gateway/call.ts';
import type { IncomingCall, InvalidCall } from '../../src/gateway/request.ts';
import { resultTail } from '../../src/gateway/response-tail.ts';
import { ByteBudget } from '../../src/lib/byte-budget.ts';

test('a failed batch releases its memory and makes no more calls', async () => {
  const budget = new ByteBudget(1_000).forClient(1);
  const calls = Array.from({ length: 40 }, (_, i) => ({ ...createCall('eth_getCode', [i]), id: String(i) }));
  let asked = 0;
  const answer = async () => {
    if (asked++ === 3) throw new Error('defect');
    await sleep(10);
    return { tail: resultTail('"0x"'), status: 200 } as const;
  };
  await assert.rejects(answerBatch(calls, budget, answer), /defect/);
  await sleep(50);
  assert.equal(asked, 16);
  assert.ok(budget.reserve(750), 'all that one client may hold');
});

test('a batch sends its transactions one after another and everything else concurrently', async () => {
  const send = 'eth_sendRawTransaction';
  const methods = [send, 'eth_getCode', send, 'eth_getCode', send];
  const calls = methods.map((method, i) => ({ ...createCall(method, [i]), id: String(i) }));
  const log: string[] = [];
  const answer = async (call: IncomingCall | InvalidCall): Promise<CallResult> => {
    log.push(`asked ${call.id}`);
    await sleep(call.id === '0' ? 20 : 1);
    log.push(`answered ${call.id}`);
    return { tail: resultTail('"0x"'), status: 200 };
  };
  await answerBatch(calls, new ByteBudget(1_000).forClient(1), answer);
  const ofSending = log.filter((line) => /[024]$/.test(line));
  assert.deepEqual(
    ofSending,
    [0, 2, 4].flatMap((id) => [`asked ${id}`, `answered ${id}`]),
  );
  assert.ok(log.indexOf('answered 3') < log.indexOf('answered 0'));
});

test('a batch sends no transaction after one that the node fails to answer', async () => {
  const calls = [1, 2, 3].map((id) => ({ ...createCall('eth_sendRawTransaction', [id]), id: `${id}` }));
  const asked: unknown[] = [];
  const answer = async ({ id }: IncomingCall | InvalidCall): Promise<CallResult> => {
    asked.push(id);
    return { tail: resultTail('"0x"'), status: id === '2' ? 504 : 200 };
  };
  await answerBatch(calls, new ByteBudget(1_000).forClient(1), answer);
  assert.deepEqual(asked, ['1', '2']);
});

test('the status of a batch reports a failure only when every call failed, and never a lack of memory', async () => {
  const result = resultTail('"0x"');
  const statusOf = async (statuses: readonly CallResult['status'][], bytes = 1_000) => {
    const calls = statuses.map((_, i) => ({ ...createCall('eth_getCode', [i]), id: String(i) }));
    const left = [...statuses];
    const answer = async (): Promise<CallResult> => ({ tail: result, status: left.shift() ?? 200 });
    return (await answerBatch(calls, new ByteBudget(bytes).forClient(1), answer)).status;
  };
  assert.equal(await statusOf([502, 504, 502]), 502);
  assert.equal(await statusOf([504, 502]), 504);
  assert.equal(await statusOf([502, 200]), 200);
  assert.equal(await statusOf([502, 502], 4), 200);
});
