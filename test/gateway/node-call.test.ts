import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { type CallConsumer, createCall } from '../../src/gateway/call.ts';
import { CircuitBreaker } from '../../src/gateway/failover.ts';
import { HoldOff } from '../../src/gateway/hold-off.ts';
import { NodeCall } from '../../src/gateway/node-call.ts';
import { ByteBudget } from '../../src/lib/byte-budget.ts';
import { reportFailuresTo } from '../../src/lib/guard.ts';
import { TurnBudget } from '../../src/lib/limits.ts';
import { StreamingHttpClient } from '../../src/node/http/streaming-client.ts';
import { startNode } from './node.ts';

beforeEach(() => reportFailuresTo(() => undefined));
afterEach(() => reportFailuresTo());

test('a consumer that fails once its answer has begun is aborted, and the call is not made again', async (t) => {
  let calls = 0;
  const node = await startNode(t, (_, response) => {
    calls++;
    response.write('{"jsonrpc":"2.0","id":1,"result":"0x00');
    setTimeout(() => response.end('"}'), 20);
  });
  const limits = { maxSockets: 1, maxWaiting: 1, maxWaitingBytes: 1_000 };
  const client = new StreamingHttpClient({ url: node.url, timeoutMs: 20_000, ...limits });
  t.after(() => client.close());
  const budget = new ByteBudget(1_000);
  const deps = {
    node: client,
    failover: undefined,
    breaker: new CircuitBreaker(() => undefined),
    holdOff: new HoldOff(),
    budget,
    turns: new TurnBudget(1_000),
    onFailure: () => undefined,
    onBatch: () => undefined,
  };
  const options = {
    bufferBytes: 0,
    onTail: () => undefined,
    needsJson: false,
    onSealed: () => undefined,
    onEvicted: () => undefined,
  };
  const events: string[] = [];
  await new Promise<void>((resolve) => {
    const note = (event: string) => () => {
      events.push(event);
      if (event !== 'begin') resolve();
    };
    const consumer: CallConsumer = {
      canStream: true,
      requiresValidJson: false,
      begin: note('begin'),
      write() {
        throw new Error('a defect of the consumer');
      },
      send: note('send'),
      end: note('end'),
      abort: note('abort'),
    };
    const call = new NodeCall(createCall('debug_traceCall', []), 1, deps, options);
    call.join(consumer, 1);
    call.start();
  });
  assert.deepEqual(events, ['begin', 'abort']);
  assert.equal(calls, 1);
  assert.ok(budget.forClient(1).reserve(750), 'memory stays reserved');
});
