/** Signals name the sender of each transaction, whatever the node does meanwhile, and two replays are equal. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { UpstreamError } from '../../../src/lib/errors.ts';
import { createLogger } from '../../../src/log/logger.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import type { RpcCall, RpcReply } from '../../../src/node/client.ts';
import { ReadFailures } from '../../../src/query/read-failures.ts';
import { prepareStreamReads } from '../../../src/query/stream-reads.ts';
import { type Notification, Subscription } from '../../../src/streams/subscription.ts';
import { TransferStream } from '../../../src/streams/transfers/transfer-stream.ts';
import { SignalSubscription } from '../../../src/streams/transfers/transfer-subscription.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { address, createIndex, type NamedBlock } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { signalFilter } from '../filters.ts';
import { FREE } from '../free-payer.ts';

const SENDER = address('sender');

interface Signal {
  blockNumber: number;
  id: number;
  txFrom: string | null;
  txFromReason: string | null;
  removed?: true;
}

function answer(calls: readonly RpcCall[]): RpcReply[] {
  return calls.map(({ method }) =>
    method === 'eth_getBlockByHash' ? { result: null } : { result: { from: SENDER, to: SENDER } },
  );
}

/** A stream on an index in which Alice gives Bob a token in each transaction, and a node. */
function setUp(context: TestContext, batch: (calls: readonly RpcCall[]) => Promise<RpcReply[]>) {
  const cleanup = nestedCleanup(context);
  const fixture = createIndex(cleanup);
  const { db, snapshot } = fixture.snapshot(cleanup);
  const metrics = createMetrics();
  const log = createLogger({ level: 'error', format: 'json' });
  fixture.append([{}]);
  const open = () => {
    const stream = new TransferStream({
      reads: prepareStreamReads(db, snapshot),
      node: { batch },
      nativeSymbol: 'MON',
      metadataWaitMs: 0,
      metrics,
      failures: new ReadFailures({ log, metrics }),
      log,
    });
    cleanup.after(() => stream.close());
    return stream;
  };
  cleanup.after(() => metrics.close());
  const blockOf = (number: number, payments: number): NamedBlock =>
    Object.fromEntries(
      Array.from({ length: payments }, (_, i) => [
        `${number} ${i}`,
        [{ kind: 'erc20', token: 'coin', from: 'alice', to: 'bob' }],
      ]),
    );
  const commit = (blocks: number, payments: number, stream?: TransferStream) => {
    for (let i = 0; i < blocks; i++) {
      const number = (fixture.writer.head()?.number ?? 0) + 1;
      fixture.append([blockOf(number, payments)]);
      snapshot.release();
      const { hash } = fixture.writer.head()!;
      stream?.onWatermark({
        kind: 'committed',
        from: number,
        to: number,
        hash,
        timestamp: 0,
        committedAt: 0,
      });
    }
  };
  const rollBack = (to: number, stream: TransferStream) => {
    fixture.writer.rollback(to);
    snapshot.release();
    stream.onWatermark({ kind: 'rolled-back', to, hash: fixture.writer.head()!.hash });
  };
  const append = (block: NamedBlock) => {
    fixture.append([block]);
    snapshot.release();
  };
  return { open, commit, rollBack, append };
}

/** Alice's signals, from a block on or from now on. */
async function subscribe(stream: TransferStream, fromBlock: number | null): Promise<Signal[]> {
  const signals: Signal[] = [];
  const connection = {
    payer: FREE,
    backlogBytes: 0,
    push: (notification: Notification, id: Uint8Array) => {
      signals.push(JSON.parse(String(notification.messageFor(id))).params.result);
    },
    whenDrained: () => undefined,
    close: (_code: number, reason: string) => assert.fail(reason),
  };
  const subscription = new Subscription('signals', connection, { total: 0 }, 1_000_000_000);
  const filter = signalFilter({ wallets: new Set([address('alice').slice(2)]), fromBlock });
  await stream.subscribe(new SignalSubscription(subscription, filter));
  subscription.release();
  return signals;
}

const receives = (signals: readonly Signal[], count: number) =>
  waitFor(() => signals.length >= count, { what: `${count} signals; there are ${signals.length}` });

function assertNamed(signals: readonly Signal[]): void {
  const unnamed = signals.filter(({ txFrom }) => txFrom !== SENDER);
  assert.deepEqual(
    unnamed.map(({ txFromReason }) => txFromReason),
    [],
  );
}

const keys = (signals: readonly Signal[]) => signals.map(({ id, txFrom }) => `${id} ${txFrom}`);

test('a replay asks for thousands of transactions in batches, and a second one is equal', async (context) => {
  let batches = 0;
  const { open, commit } = setUp(context, async (calls) => {
    batches++;
    return answer(calls);
  });
  commit(40, 100);
  const first = await subscribe(open(), 1);
  await receives(first, 4_000);
  assert.ok(batches < 200, `${batches} batches for 4,000 transactions`);
  const second = await subscribe(open(), 1);
  await receives(second, 4_000);
  assertNamed(first);
  assert.deepEqual(keys(second), keys(first));
});

test('a node that restarts during a replay only delays it', async (context) => {
  let calls = 0;
  const { open, commit } = setUp(context, async (batch) => {
    if (++calls > 5 && calls <= 12) throw new UpstreamError('connection', 'ECONNREFUSED');
    return answer(batch);
  });
  commit(20, 100);
  const signals = await subscribe(open(), 1);
  await receives(signals, 2_000);
  assertNamed(signals);
});

test('a reorg at the head does not cut the wait of events below it, and removals stay behind them', async (context) => {
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  const { open, commit, rollBack } = setUp(context, async (calls) => {
    asked += calls.length;
    await gate.promise;
    return answer(calls);
  });
  commit(4, 20);
  const stream = open();
  const signals = await subscribe(stream, 1);
  await waitFor(() => asked === 80, { what: 'the replay to reach the head', everyMs: 5 });
  rollBack(4, stream);
  assert.deepEqual(signals, []);
  commit(1, 20, stream);
  gate.resolve();
  await receives(signals, 120);
  assertNamed(signals);
  const blocks = signals.map(({ blockNumber, removed }) => `${removed ? '-' : '+'}${blockNumber}`);
  const times = (text: string) => Array<string>(20).fill(text);
  assert.deepEqual(blocks, [
    ...times('+2'),
    ...times('+3'),
    ...times('+4'),
    ...times('+5'),
    ...times('-5'),
    ...times('+5'),
  ]);
});

test('a live subscription with thousands of events to complete catches up without losing a sender', async (context) => {
  const gate = Promise.withResolvers<void>();
  const { open, commit } = setUp(context, async (calls) => {
    await gate.promise;
    return answer(calls);
  });
  commit(1, 1);
  const stream = open();
  const signals = await subscribe(stream, null);
  commit(8, 1_000, stream);
  gate.resolve();
  await receives(signals, 8_000);
  assertNamed(signals);
  commit(1, 10, stream);
  await receives(signals, 8_010);
  assertNamed(signals);
  assert.equal(new Set(keys(signals)).size, 8_010);
});

test('the sender of a transaction that moves value itself is known without the node', async (context) => {
  const asked: unknown[] = [];
  const { open, append } = setUp(context, async (calls) => {
    asked.push(...calls);
    return answer(calls);
  });
  const coin = { kind: 'erc20', token: 'coin', to: 'alice' } as const;
  append({
    swap: [
      { kind: 'native_direct', from: 'alice', to: 'router' },
      { ...coin, from: 'pool' },
    ],
    gift: [{ ...coin, from: 'bob' }],
    reward: [
      { kind: 'native_direct', from: 'zero', to: 'validator' },
      { ...coin, from: 'pool' },
    ],
  });
  const signals = await subscribe(open(), 0);
  await receives(signals, 4);
  assert.deepEqual(
    signals.map(({ txFrom }) => txFrom),
    [address('alice'), address('alice'), SENDER, SENDER],
  );
  assert.equal(asked.length, 2);
});
