/** Refusals of ranges in unknown words: by the HTTP status of the answer, and for each of several nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallResult, createCall, type RequestFn } from '../../../src/gateway/call.ts';
import { collectAnswer } from '../../../src/gateway/collect-answer.ts';
import { LogsHandler } from '../../../src/gateway/logs/logs.ts';
import { RangeLimit } from '../../../src/gateway/logs/node-range.ts';
import { RangeDescent } from '../../../src/gateway/logs/range-descent.ts';
import { errorOf, isResult } from '../../../src/gateway/response-tail.ts';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import type { Logger } from '../../../src/log/logger.ts';

const QUIET: Logger = { debug() {}, info() {}, warn() {}, error: (facts) => assert.fail(String(facts)) };
const quantity = (number: number) => `0x${number.toString(16)}`;

/** An answer of the node, with this HTTP status. */
const refusal = (httpStatus: number | undefined, words = 'no, not with this plan'): CallResult => ({
  tail: Buffer.from(`"error":{"code":-32000,"message":${JSON.stringify(words)}}}`),
  status: 200,
  httpStatus,
});
const nothing: CallResult = { tail: Buffer.from('"result":[]}'), status: 200, httpStatus: 200 };

const widthOf = (params: readonly unknown[]): number => {
  const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
  return Number(toBlock) - Number(fromBlock) + 1;
};

/** A node that takes so many blocks at once. */
function descentOf(taken: number, { isInUse = (): boolean => true, failing = refusal(200) } = {}) {
  const widths: number[] = [];
  const nodeRange = new RangeLimit(1_000, 10_000);
  const request: RequestFn = async (_method, params) => {
    const width = widthOf(params);
    widths.push(width);
    return width <= taken ? nothing : failing;
  };
  const descent = new RangeDescent({ request, nodeRange, isInUse });
  const query = { from: 1, to: 100, rest: {} };
  return { widths, nodeRange, classify: (answer: CallResult) => descent.classify(answer, query, 1, 100) };
}

test('an error of HTTP 200 or 4xx is followed up, one of 5xx or of the gateway itself is not', async () => {
  for (const status of [200, 400, 403, 413, 422]) {
    const { classify, widths, nodeRange } = descentOf(20);
    assert.equal(await classify(refusal(status)), 'wide', `HTTP ${status}`);
    assert.deepEqual(widths, [1, 50, 25, 12], `HTTP ${status}`);
    assert.equal(nodeRange.width, 12);
  }
  for (const status of [500, 502, 503, 530, undefined]) {
    const { classify, widths } = descentOf(20);
    assert.equal(await classify(refusal(status)), null, `HTTP ${status}`);
    assert.deepEqual(widths, [], `HTTP ${status}`);
  }
});

test('the search ends without a result when the node fails on the way, or is no longer in use', async () => {
  const { classify, widths } = descentOf(20, { failing: refusal(500) });
  assert.equal(await classify(refusal(400)), null);
  assert.deepEqual(widths, [1, 50]);

  let calls = 0;
  const moved = descentOf(20, { isInUse: () => ++calls < 3 });
  assert.equal(await moved.classify(refusal(400)), null);
  assert.deepEqual(moved.widths, [1]);
});

test('each of several nodes has its own eleven calls a minute, and its own range', async () => {
  /** Calls of a search, by node. */
  const searched = [0, 0, 0, 0];
  /** Blocks that the nodes take at once. */
  const taken = [0, 0, 5, 100];
  const answerTo = (width: number, from: number): CallResult =>
    width <= taken[gateway.node]! ? nothing : refusal(200, `no, ${'x'.repeat(from)}`);
  const gateway = {
    node: 0,
    finalized: 1_000,
    run: (call: ReturnType<typeof createCall>, consumer: Parameters<LogsHandler['run']>[1]) => {
      const [{ fromBlock }] = call.args as [{ fromBlock: string }];
      const width = widthOf(call.args as unknown[]);
      const answer = answerTo(width, Number(fromBlock));
      consumer.send(answer.tail, answer.status, true, undefined, answer.httpStatus);
      return { cancel() {}, resume() {} };
    },
    request: async () => assert.fail('nothing else is asked'),
    requestFor: () => gateway.request,
    requestAnchored: () => async (_: string, params: readonly unknown[]) => {
      return { answer: answerTo(widthOf(params), 1), isFinal: true, headers: null };
    },
    requestUncached: async (_: string, params: readonly unknown[]) => {
      searched[gateway.node]!++;
      return answerTo(widthOf(params), 1);
    },
  };
  const settings = { logs_max_range: 10_000, logs_node_range: 100 };
  const handler = new LogsHandler(gateway, settings, new ByteBudget(1_000_000), QUIET);
  const ask = async (from: number, width: number) => {
    const call = createCall('eth_getLogs', [
      { fromBlock: quantity(from), toBlock: quantity(from + width - 1) },
    ]);
    return collectAnswer((consumer) => handler.run(call, consumer, 1));
  };
  const askMany = async () => {
    for (let from = 1; from <= 30; from++) assert.match(errorOf((await ask(from, 2)).tail).message, /^no/);
  };
  await askMany();
  assert.deepEqual(searched.slice(0, 2), [11, 0]);
  gateway.node = 1;
  await askMany();
  assert.deepEqual(searched.slice(0, 2), [11, 11]);
  gateway.node = 0;
  await askMany();
  assert.deepEqual(searched.slice(0, 2), [11, 11], 'neither has any left');

  gateway.node = 2;
  assert.ok(isResult((await ask(1, 20)).tail));
  gateway.node = 3;
  assert.ok(isResult((await ask(1, 20)).tail), 'the range of another node is not narrowed');
});
