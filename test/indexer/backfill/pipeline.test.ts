import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Pipeline } from '../../../src/indexer/backfill/pipeline.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { randomBlocks, toBatch } from '../../support/chain/random-chain.ts';

const ROOT = `0x${'00'.repeat(32)}`;
const chain = randomBlocks(1, 400, ROOT, 1);
const batchOf = (from: number, to: number): BlockBatch[] => [toBatch(chain.slice(from - 1, to))];

function numbers(batches: readonly BlockBatch[]): number[] {
  return batches.flatMap((batch) => [...batch.number]);
}

for (const depth of [1, 4]) {
  test(`blocks come in order and whole though later ranges are loaded first (${depth} at once)`, async () => {
    let inFlight = 0;
    let most = 0;
    const pipeline = new Pipeline(
      async (from, to) => {
        most = Math.max(most, ++inFlight);
        await new Promise((resolve) => setTimeout(resolve, 20 - Math.min(19, from / 20)));
        inFlight--;
        return batchOf(from, to);
      },
      { depth, batchTransfers: 300 },
    );
    const got: number[] = [];
    while (got.length < 400) {
      const taken = await pipeline.take(got.length + 1, 400);
      got.push(...numbers(taken));
      const beforeLast = taken.slice(0, -1).reduce((sum, { transferCount }) => sum + transferCount, 0);
      assert.ok(beforeLast < 300, `another range after ${beforeLast} transfers`);
    }
    assert.deepEqual(
      got,
      Array.from({ length: 400 }, (_, i) => i + 1),
    );
    assert.equal(most, depth);
  });
}

test('nothing beyond the head is requested, and the head itself arrives at once', async () => {
  const asked: [number, number][] = [];
  const pipeline = new Pipeline(
    async (from, to) => {
      asked.push([from, to]);
      return batchOf(from, to);
    },
    { depth: 4, batchTransfers: 1_000_000 },
  );
  assert.deepEqual(numbers(await pipeline.take(10, 10)), [10]);
  assert.deepEqual(numbers(await pipeline.take(11, 12)), [11, 12]);
  assert.deepEqual(asked, [
    [10, 10],
    [11, 12],
  ]);
});

test('a range that ends early is taken as far as it goes, and only its rest is loaded again', async () => {
  const asked: string[] = [];
  let missing = 13;
  const pipeline = new Pipeline(
    async (from, to) => {
      asked.push(`${from}-${to}`);
      if (from >= missing) throw new UpstreamError('inconsistent', 'not yet');
      return batchOf(from, Math.min(to, missing - 1));
    },
    { depth: 4, batchTransfers: 1_000_000 },
  );
  assert.deepEqual(numbers(await pipeline.take(10, 14)), [10, 11, 12]);
  missing = 400;
  await assert.rejects(pipeline.take(13, 14), /not yet/);
  pipeline.reset();
  assert.deepEqual(numbers(await pipeline.take(13, 14)), [13, 14]);
  assert.deepEqual(asked.slice(0, 3), ['10-14', '13-14', '13-14']);
});

test('while what was taken is stored, the next blocks are loaded', async () => {
  const asked: number[] = [];
  const pipeline = new Pipeline(
    async (from, to) => {
      asked.push(from);
      return batchOf(from, to);
    },
    { depth: 3, batchTransfers: 1 },
  );
  const taken = numbers(await pipeline.take(1, 400));
  assert.equal(asked.filter((from) => from > taken.at(-1)!).length, 3, `${asked}`);
});

test('after a failure and a reset the same blocks are loaded again in smaller ranges', async () => {
  let fail = true;
  const sizes: number[] = [];
  const pipeline = new Pipeline(
    async (from, to) => {
      sizes.push(to - from + 1);
      if (fail) throw new UpstreamError('timeout', 'too slow');
      return batchOf(from, to);
    },
    { depth: 2, batchTransfers: 100 },
  );
  await assert.rejects(pipeline.take(1, 400), UpstreamError);
  fail = false;
  pipeline.reset();
  const before = sizes[0] ?? 0;
  assert.equal(numbers(await pipeline.take(1, 400))[0], 1);
  assert.ok((sizes[2] ?? before) < before, `ranges of ${sizes}`);
  for (let failures = 0; failures < 12; failures++) pipeline.reset();
  sizes.length = 0;
  assert.equal(numbers(await pipeline.take(1, 400))[0], 1);
  assert.equal(sizes[0], 1, 'one block is asked for at least');
});

test('ranges that are waited for become smaller, so that a node of few calls gives commits too', async (t) => {
  const sizes: number[] = [];
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const pipeline = new Pipeline(
    async (from, to) => {
      sizes.push(to - from + 1);
      await setImmediate(); // the pipeline is waiting by then
      if (sizes.length === 1) now += 2_100;
      return batchOf(from, to);
    },
    { depth: 1, batchTransfers: 1 },
  );
  await pipeline.take(1, 400);
  assert.ok(sizes[1]! <= sizes[0]! / 2, `ranges of ${sizes}`);
});

test('blocks before a failure are delivered, then the failure is reported', async () => {
  const pipeline = new Pipeline(
    async (from, to) => {
      if (to >= 40) throw new UpstreamError('rpc', 'overloaded');
      return batchOf(from, to);
    },
    { depth: 4, batchTransfers: 1_000_000 },
  );
  const taken = numbers(await pipeline.take(1, 400));
  assert.equal(taken[0], 1);
  assert.ok(taken.length > 1 && taken.length < 40, `${taken}`);
  await assert.rejects(pipeline.take(taken.length + 1, 400), { message: 'overloaded' });
});

test('asking for another block than the next one drops what was prefetched', async () => {
  const pipeline = new Pipeline(async (from, to) => batchOf(from, to), { depth: 3, batchTransfers: 1 });
  await pipeline.take(1, 400);
  assert.equal(numbers(await pipeline.take(5, 400))[0], 5);
});

test('the first range has no more blocks than wanted', async () => {
  const asked: number[] = [];
  const pipeline = new Pipeline(
    async (from, to) => {
      asked.push(to - from + 1);
      return batchOf(from, to);
    },
    { depth: 1, batchTransfers: 1, firstRange: 2 },
  );
  assert.deepEqual(numbers(await pipeline.take(1, 400)), [1, 2]);
  assert.equal(asked[0], 2);
});

test('a range that fails once costs no other range: it alone is loaded again', async () => {
  const asked: number[] = [];
  const pipeline = new Pipeline(
    async (from, to) => {
      asked.push(from);
      if (from > 16 && asked.filter((each) => each > 16).length === 1)
        throw new UpstreamError('rpc', 'overloaded');
      return batchOf(from, to);
    },
    { depth: 4, batchTransfers: 1_000_000 },
  );
  const first = numbers(await pipeline.take(1, 100));
  const rest = numbers(await pipeline.take(first.length + 1, 100));
  assert.deepEqual(
    [...first, ...rest],
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
  const again = asked.filter((from, i) => asked.indexOf(from) < i);
  assert.deepEqual(again, [first.length + 1], `${asked}`);
});

test("a failure that is not the node's is reported as it is", async () => {
  let loads = 0;
  const pipeline = new Pipeline(
    async (from, to) => {
      if (from > 1 && loads++ === 0) throw new TypeError('a bug');
      return batchOf(from, to);
    },
    { depth: 4, batchTransfers: 1_000_000 },
  );
  const taken = numbers(await pipeline.take(1, 400));
  await assert.rejects(pipeline.take(taken.length + 1, 400), TypeError);
});
