/** What a batch takes of the memory for answers, it gives back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ByteBudget } from '../../src/lib/byte-budget.ts';
import { answerBatch } from '../../src/rpc/batch.ts';
import { type Answer, createCall } from '../../src/rpc/call.ts';
import { resultPayload } from '../../src/rpc/payload.ts';
import type { IncomingCall, InvalidCall } from '../../src/rpc/request.ts';

test('a batch that fails holds no memory, and asks for nothing more', async () => {
  const budget = new ByteBudget(1_000).forClient(1);
  const calls = Array.from({ length: 40 }, (_, i) => ({ ...createCall('eth_getCode', [i]), id: String(i) }));
  let asked = 0;
  const answer = async () => {
    if (asked++ === 3) throw new Error('defect');
    await sleep(10);
    return { payload: resultPayload('"0x"'), status: 200 } as const;
  };
  await assert.rejects(answerBatch(calls, budget, answer), /defect/);
  await sleep(50);
  assert.equal(asked, 16);
  assert.ok(budget.reserve(750), 'all that one client may hold');
});

test('the transactions of a batch are sent one after the other, all else at the same time', async () => {
  const send = 'eth_sendRawTransaction';
  const methods = [send, 'eth_getCode', send, 'eth_getCode', send];
  const calls = methods.map((method, i) => ({ ...createCall(method, [i]), id: String(i) }));
  const log: string[] = [];
  const answer = async (call: IncomingCall | InvalidCall): Promise<Answer> => {
    log.push(`asked ${call.id}`);
    await sleep(call.id === '0' ? 20 : 1);
    log.push(`answered ${call.id}`);
    return { payload: resultPayload('"0x"'), status: 200 };
  };
  await answerBatch(calls, new ByteBudget(1_000).forClient(1), answer);
  const ofSending = log.filter((line) => /[024]$/.test(line));
  assert.deepEqual(
    ofSending,
    [0, 2, 4].flatMap((id) => [`asked ${id}`, `answered ${id}`]),
  );
  assert.ok(log.indexOf('answered 3') < log.indexOf('answered 0'));
});

test('when the node fails to answer a transaction, those after it in the batch are not sent', async () => {
  const calls = [1, 2, 3].map((id) => ({ ...createCall('eth_sendRawTransaction', [id]), id: `${id}` }));
  const asked: unknown[] = [];
  const answer = async ({ id }: IncomingCall | InvalidCall): Promise<Answer> => {
    asked.push(id);
    return { payload: resultPayload('"0x"'), status: id === '2' ? 504 : 200 };
  };
  await answerBatch(calls, new ByteBudget(1_000).forClient(1), answer);
  assert.deepEqual(asked, ['1', '2']);
});

test('the status of a batch tells of a failure only when every call failed, and of memory not at all', async () => {
  const result = resultPayload('"0x"');
  const statusOf = async (statuses: readonly Answer['status'][], bytes = 1_000) => {
    const calls = statuses.map((_, i) => ({ ...createCall('eth_getCode', [i]), id: String(i) }));
    const left = [...statuses];
    const answer = async (): Promise<Answer> => ({ payload: result, status: left.shift() ?? 200 });
    return (await answerBatch(calls, new ByteBudget(bytes).forClient(1), answer)).status;
  };
  assert.equal(await statusOf([502, 504, 502]), 502);
  assert.equal(await statusOf([504, 502]), 504);
  assert.equal(await statusOf([502, 200]), 200);
  assert.equal(await statusOf([502, 502], 4), 200);
});
