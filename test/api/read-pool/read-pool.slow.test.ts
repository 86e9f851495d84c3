import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { prepareApi } from '../../../src/api/api.ts';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import { ReadPool, type StartReadThread, startReader } from '../../../src/api/read-pool/read-pool.ts';
import { RequestError } from '../../../src/lib/errors.ts';
import { monotonicNow } from '../../../src/lib/time.ts';
import { deadlineBudget } from '../../../src/query/work-budget.ts';
import { serve } from '../../server/serving.ts';
import { nodeReadsOf, PLAIN_PAYMENT } from '../../support/clients/node-reads.ts';
import {
  address,
  createIndex,
  type IndexFixture,
  type NamedBlock,
  type NamedTransfer,
} from '../../support/index/index-fixture.ts';
import { SILENT } from '../../support/logs.ts';
import { suiteCleanup } from '../../support/nodes/replay.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** Exceeds the event loop's work budget per answer. */
const MANY = 22_000;

/**
 * Requests too expensive for the event loop: about the hub, which has MANY transfers, and about the coin, which has
 * MANY holders.
 */
const HEAVY: [path: string, input: Record<string, string>][] = [
  ['/api/wallet_counterparties', { address: address('hub') }],
  ['/api/funding_recipients', { address: address('hub') }],
  ['/api/recent_token_transfers_out', { address: address('hub') }],
  ['/api/address_transfers', { address: address('hub'), direction: 'in' }],
  ['/api/token_holders', { token: address('coin') }],
  ['/api/token_transfers', { token: address('coin'), min_amount: '1000000' }],
  ['/api/whale_transfers', { min_mon: '1000', limit: '200' }],
];

function readerOf(indexPath: string): StartReadThread {
  return (onMessage) => startReader({ indexPath, nativeSymbol: 'MON', maxReorg: 128 }, SILENT, onMessage);
}

/** Threads whose requests are shown to `onRequest`. */
function observed(start: StartReadThread, onRequest: (request: unknown) => void): StartReadThread {
  return (onMessage) => {
    const thread = start(onMessage);
    return {
      ended: thread.ended,
      stop: (limitMs) => thread.stop(limitMs),
      post(request) {
        onRequest(request);
        thread.post(request);
      },
    };
  };
}

/** Rare whales among small payments by the hub; then a coin for everybody, from another sender. */
function manyTransfers(): NamedBlock[] {
  const payments = Array.from({ length: MANY }, (_, i): NamedTransfer => {
    const amount = i % 150 === 0 ? 2_000n * 10n ** 18n : BigInt(i + 1);
    return { from: 'hub', to: `wallet ${i}`, amount };
  });
  const gifts = Array.from({ length: MANY }, (_, i): NamedTransfer => {
    return { kind: 'erc20', from: 'giver', to: `wallet ${i}`, token: 'coin', amount: BigInt(i + 1) };
  });
  const received: NamedTransfer = { from: 'wallet 0', to: 'hub', amount: 7n };
  const sent: NamedTransfer = { kind: 'erc20', from: 'hub', to: 'giver', token: 'coin', amount: 0n };
  return [{ first: [received, sent] }, { payments }, { gifts }];
}

suite('answers that are too much for the event loop', () => {
  const owner = suiteCleanup();
  let index: IndexFixture;
  let pool: ReadPool;
  let started = 0;

  before(() => {
    index = createIndex(owner);
    index.append(manyTransfers());
    pool = new ReadPool((onMessage) => {
      started++;
      return readerOf(index.path)(onMessage);
    });
    owner.after(() => pool.close());
  });

  test('come from read threads and equal what the event loop would have answered', async (t) => {
    const { db, snapshot, walletIds } = index.snapshot(t);
    const source = { db, walletIds, nativeSymbol: 'MON', maxReorg: 128 };
    let asked = 0;
    const api = prepareApi(
      source,
      snapshot,
      {
        run(...request) {
          asked++;
          return pool.run(...request);
        },
      },
      { record: (error) => error },
      nodeReadsOf(db),
      () => undefined,
    );
    for (const [path, input] of HEAVY) {
      const head = api.head()!;
      const prepared = api.endpoints.find(({ endpoint }) => endpoint.path === path)!;
      const late = prepared.handle(input, { head, chainDepth: 10 });
      assert.ok(late instanceof Promise, `${path} was answered on the event loop`);
      const { body, head: answeredOf } = await late;
      const inPlace = prepared.endpoint.prepare(source);
      const expected = inPlace(input, {
        head,
        chainDepth: 10,
        budget: deadlineBudget(Infinity),
        unexamined: [],
      });
      assert.deepEqual(JSON.parse(body), JSON.parse(JSON.stringify(expected)), path);
      assert.deepEqual(answeredOf, head);
    }
    assert.equal(asked, HEAVY.length);
    assert.ok(started <= 2, `${started} threads were started`);
  });

  test('carry the same headers as other answers, and 304 works', async (t) => {
    const { fetch } = await serve(t, { index });
    const [path, input] = HEAVY[0]!;
    const url = `${path}?${new URLSearchParams(input)}`;
    const response = await fetch(url);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-indexed-block'), '3');
    assert.notEqual(response.headers.get('ratelimit-remaining'), null);
    assert.equal(response.headers.get('cache-control'), 'private, max-age=0, must-revalidate');
    const etag = response.headers.get('etag') ?? '';
    assert.equal((await fetch(url, { headers: { 'If-None-Match': etag } })).status, 304);
  });

  test('are computed once for identical requests at one head, and again at the next', async (t) => {
    const { snapshot } = index.snapshot(t);
    const messages: unknown[] = [];
    const counted = new ReadPool(observed(readerOf(index.path), (request) => messages.push(request)));
    t.after(() => counted.close());
    const head = snapshot.head()!;
    const ask = (of: typeof head) => counted.run('/api/whale_transfers', {}, 10, of);
    const answers = await Promise.all([ask(head), ask(head), ask(head)]);
    assert.equal(await ask(head), answers[0]);
    assert.equal(messages.length, 1);
    await ask({ ...head, hashPrefix: 'another' });
    assert.equal(messages.length, 2);
  });

  test('are refused with 503 when the queue is full', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 }); // queued requests have unlimited time
    const { snapshot } = index.snapshot(t);
    const head = snapshot.head()!;
    const results = Array.from({ length: 140 }, (_, i) =>
      pool.run('/api/whale_transfers', { min_mon: String(i) }, 10, head),
    );
    const outcomes = await Promise.allSettled(results);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
    const taken = Math.min(2, Math.max(1, availableParallelism() - 1)); // one per thread
    assert.equal(refused.length, 140 - taken - 128);
    for (const error of refused) {
      assert.ok(error instanceof RequestError);
      assert.deepEqual([error.status, error.code], [503, 'busy']);
    }
  });

  test('are abandoned at their time limit', async (t) => {
    const [path, input] = HEAVY[0]!;
    const answer = Promise.withResolvers<unknown>();
    const thread = readerOf(index.path)(answer.resolve);
    t.after(() => thread.stop());
    thread.post({ path, input, chainDepth: 10, deadline: monotonicNow() - 1 });
    const message = 'the answer took too long; ask for less or try again later';
    assert.deepEqual(await answer.promise, {
      requestError: { status: 503, code: 'timeout', message, param: undefined },
    });
  });

  test('are timed by a monotonic clock', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 }); // the thread has its own Date
    const { snapshot } = index.snapshot(t);
    const [path, input] = HEAVY[1]!;
    assert.ok((await pool.run(path, { ...input, limit: '3' }, 10, snapshot.head()!)).body.length > 0);
  });

  test('are refused for a bad parameter as on the event loop', async (t) => {
    const { snapshot } = index.snapshot(t);
    const asked = pool.run('/api/token_holders', { token: 'x' }, 10, snapshot.head()!);
    await assert.rejects(asked, (error) => error instanceof RequestError && error.code === 'invalid_address');
  });
});

test('a read thread that cannot start fails its request, and the next one gets a new thread', async (t) => {
  const index = createIndex(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const { snapshot } = index.snapshot(t);
  const head = snapshot.head()!;
  let indexPath = join(tempDir(t), 'nothing.db');
  const pool = new ReadPool((onMessage) => readerOf(indexPath)(onMessage));
  t.after(() => pool.close());
  await assert.rejects(pool.run('/api/whale_transfers', {}, 10, head), /cannot open/);
  indexPath = index.path;
  const { body } = await pool.run('/api/whale_transfers', {}, 10, head);
  assert.equal(JSON.parse(body).count, 0);
});

test('a closed pool refuses requests and starts no more threads', async (t) => {
  const index = createIndex(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const { snapshot } = index.snapshot(t);
  const head = snapshot.head()!;
  let started = 0;
  const pool = new ReadPool((onMessage) => {
    started++;
    const thread = readerOf(index.path)(onMessage);
    t.after(() => thread.stop(0));
    return thread;
  });
  await pool.run('/api/whale_transfers', {}, 10, head);
  await pool.close();
  const late = pool.run('/api/whale_transfers', { limit: '1' }, 10, head);
  await assert.rejects(late, (error) => error instanceof RequestError && error.status === 503);
  assert.equal(started, 1);
  await pool.close();
});

test('the last 32 answers at a head are cached, and closing refuses waiting requests', async (t) => {
  const index = createIndex(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const { snapshot } = index.snapshot(t);
  const head = snapshot.head()!;
  let asked = 0;
  const pool = new ReadPool(observed(readerOf(index.path), () => asked++));
  t.after(() => pool.close());
  const ask = (limit: number) => pool.run('/api/whale_transfers', { limit: String(limit) }, 10, head);
  for (let limit = 1; limit <= 33; limit++) await ask(limit);
  for (let limit = 33; limit >= 2; limit--) await ask(limit);
  assert.equal(asked, 33);
  await ask(1);
  assert.equal(asked, 34, 'the oldest has left');

  const answers = Array.from({ length: 10 }, (_, i) => ask(100 + i));
  const outcomes = Promise.allSettled(answers);
  await pool.close();
  const refused = (await outcomes).filter(({ status }) => status === 'rejected');
  assert.equal(refused.length, 10 - (asked - 34), 'all but those at a thread');
  for (const { reason } of refused as PromiseRejectedResult[])
    assert.ok(reason instanceof RequestError && reason.code === 'busy', String(reason));
});

test('a read thread can answer every endpoint', async (t) => {
  const index = createIndex(t, 4711); // the block of the examples
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const { snapshot } = index.snapshot(t);
  const head = snapshot.head()!;
  const pool = new ReadPool(readerOf(index.path));
  t.after(() => pool.close());
  const block = index.writer.head();
  const nodeAnswer = { block, transactionBlock: block, transaction: { ...PLAIN_PAYMENT, block } };
  for (const { path, example } of ENDPOINTS) {
    assert.ok(JSON.parse((await pool.run(path, example.params, 10, head, nodeAnswer)).body));
  }
});
