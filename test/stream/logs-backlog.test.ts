/** A node that gives blocks and hardly any logs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/log.ts';
import type { ChainListener } from '../../src/stream/chain.ts';
import { parseLogFilter } from '../../src/stream/log-filter.ts';
import { Logs } from '../../src/stream/logs.ts';
import { Subscription } from '../../src/stream/subscription.ts';
import type { Hex } from '../../src/types.ts';

const MAX_WAITING = 16_384;

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;

test('clients are closed when the logs of too many blocks wait for the node', async (t) => {
  let listener: ChainListener | undefined;
  const chain = {
    listen: (one: ChainListener) => {
      listener = one;
    },
    use: async () => () => undefined,
  };
  const calls: string[] = [];
  const client = {
    call: (method: string) => {
      calls.push(method);
      return new Promise<unknown>(() => undefined);
    },
  };
  const logs = new Logs(chain, client, createLogger({ level: 'error', format: 'json' }));
  t.after(() => logs.close());
  const closed: unknown[] = [];
  const outlet = {
    backlog: 0,
    push: () => undefined,
    whenDrained: () => undefined,
    close: (code: number, reason: string) => closed.push([code, reason]),
  };
  const end = await logs.open(parseLogFilter({}), new Subscription('logs', outlet, { total: 0 }, 1_000));
  const add = (number: number) =>
    listener?.added({
      number,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: 1_700_000_000 + number,
      json: '{}',
      hasLogs: true,
      orphaned: false,
    });
  for (let number = 1; number <= MAX_WAITING; number++) add(number);
  assert.deepEqual(closed, []);
  add(MAX_WAITING + 1);
  assert.deepEqual(closed, [[1013, 'logs of the node cannot be caught up with']]);
  end();
  assert.equal(calls.length, 8, 'no more blocks are asked for at once than before');
});
