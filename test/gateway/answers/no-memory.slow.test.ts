/** Answers that arrive when no memory is left to buffer them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FinalityWatch } from '../../../src/chain/finality-watch.ts';
import { type CallConsumer, createCall } from '../../../src/gateway/call.ts';
import { Gateway } from '../../../src/gateway/gateway.ts';
import { LargeAnswer } from '../../../src/gateway/large-answer.ts';
import { RpcMeter } from '../../../src/gateway/meter.ts';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import { createLogger } from '../../../src/log/logger.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { pollFrom } from '../../../src/model/finality.ts';
import { type PostOptions, StreamingHttpClient } from '../../../src/node/http/streaming-client.ts';
import { RPC_SETTINGS } from '../../support/daemon/rpc-settings.ts';
import { startNode } from '../node.ts';

const BUDGET_BYTES = 1_000;
const DIGITS = 'ab'.repeat(50_000);

/** The parts of a gateway with little memory, in front of the node at `url`. */
function gatewayParts(t: TestContext, url: string, maxSockets: number) {
  const limits = { maxSockets, maxWaiting: 1, maxWaitingBytes: 1_000 };
  const node = new StreamingHttpClient({ url, timeoutMs: 5_000, ...limits });
  const metrics = createMetrics();
  t.after(() => {
    node.close();
    metrics.close();
  });
  return {
    node,
    failover: undefined,
    finality: new FinalityWatch(async () => pollFrom('tag', [], true), 128),
    settings: RPC_SETTINGS,
    budget: new ByteBudget(BUDGET_BYTES),
    meter: new RpcMeter(metrics),
    log: createLogger({ level: 'error', format: 'json', write: () => undefined }),
  };
}

/** The response tail received by a client that accepts pieces, from a node that writes these pieces. */
async function streamed(t: TestContext, pieces: readonly string[]): Promise<string> {
  const node = await startNode(t, async (_, response) => {
    response.setHeader('content-length', pieces.join('').length);
    for (const piece of pieces) {
      response.write(piece);
      await sleep(50);
    }
    response.end();
  });
  const parts = gatewayParts(t, node.url, 1);
  const gateway = new Gateway(parts);
  const text = await new Promise<string>((resolve) => {
    let received = '';
    const consumer: CallConsumer = {
      canStream: true,
      requiresValidJson: false,
      send: (tail) => resolve((tail instanceof LargeAnswer ? tail.join() : tail).toString()),
      begin: () => undefined,
      write(piece) {
        received += piece.toString();
        return true;
      },
      end: (last) => resolve(received + last.toString()),
      abort: () => resolve('aborted'),
    };
    gateway.run(createCall('debug_traceCall', []), consumer, 1);
  });
  assert.ok(parts.budget.forClient(1).reserve((BUDGET_BYTES * 3) / 4), 'no memory is held');
  return text;
}

for (const [what, pieces] of Object.entries({
  'when there is no room for its first piece': [
    `{"jsonrpc":"2.0","id":1,"result":"0x${DIGITS}`,
    `${DIGITS}"}`,
  ],
  'when it begins in the piece for which there is no room': [
    '{"jsonrpc":"2.0",',
    `"id":1,"result":"0x${DIGITS}`,
    `${DIGITS}"}`,
  ],
  'when there is no room for the last piece': [
    '{"jsonrpc":"2.0",',
    `"id":1,"result":"0x${DIGITS}${DIGITS}"}`,
  ],
})) {
  test(`a client that takes pieces gets an answer ${what}`, async (t) => {
    assert.equal(await streamed(t, pieces), `"result":"0x${DIGITS}${DIGITS}"}`);
  });
}

test('an invalid answer is not forwarded, however little memory is left', async (t) => {
  const text = await streamed(t, ['<html>', 'x'.repeat(100_000), '</html>']);
  assert.match(text, /this key has too many bytes of answers in flight; retry/);
});

test('a separate call for one of several waiting clients shares nothing with theirs', async (t) => {
  const node = await startNode(t, async (_, response) => {
    response.write(`{"jsonrpc":"2.0","id":1,"result":"0x${DIGITS}`);
    await sleep(20);
    response.end('"}');
  });
  const parts = gatewayParts(t, node.url, 2);
  const clients: PostOptions['client'][] = [];
  const gateway = new Gateway({
    ...parts,
    node: {
      post(body, what, listener, options) {
        clients.push(options?.client);
        return parts.node.post(body, what, listener, options);
      },
    },
  });
  const ask = (client: number) =>
    new Promise<void>((resolve) => {
      const consumer: CallConsumer = {
        canStream: true,
        requiresValidJson: false,
        send: () => resolve(),
        begin: () => undefined,
        write: () => true,
        end: () => resolve(),
        abort: () => resolve(),
      };
      gateway.run(createCall('debug_traceCall', []), consumer, client);
    });
  const clock = t.mock.method(performance, 'now', () => 0); // both are asked at the same time, however long it takes
  const both = [ask(1), ask(2)];
  clock.mock.restore();
  assert.deepEqual(clients, [1], 'one call for both');
  await Promise.all(both);
  assert.deepEqual(clients, [1, 2]);
});
