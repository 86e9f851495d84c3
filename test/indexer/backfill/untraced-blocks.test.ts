import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UntracedBlocks } from '../../../src/indexer/backfill/untraced-blocks.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { randomBlocks, toBatch } from '../../support/chain/random-chain.ts';

const CHAIN = randomBlocks(0, 40, `0x${'00'.repeat(32)}`, 1);
const BAD = 20;
const CONFIRM_MS = 150;
const NEVER_MS = 60_000;

/** A block in the eyes of the node: traced, refused with a reason or without one (a question mark), or not answered. */
type Outcome = 'traced' | 'down' | (string & {});

function batchOf(number: number, outcome: string, isIdle = false): BlockBatch {
  const batch = toBatch([CHAIN[number]!]);
  if (outcome === 'traced') return { ...batch, tracedBlock: number };
  const isReasoned = !outcome.endsWith('?');
  return {
    ...batch,
    gaps: [{ kind: 'trace', first: number, last: number, reason: outcome }],
    unsettled: { message: outcome, isReasoned, isPartial: false, isIdle },
  };
}

interface Setting {
  /** What the node answers about a block, by how often it was asked for it. */
  node: (number: number, tries: number) => Outcome;
  gapAfterMs?: number;
  isAtHead?: boolean;
  elsewhere?: Outcome;
  known?: string[];
  isIdle?: boolean;
}

/** The outcome of settling BAD, first refused with the node's first answer; null if it is open after `waitMs`. */
async function settle(
  setting: Setting,
  waitMs = NEVER_MS,
): Promise<{ gap: string | null; ms: number } | null> {
  const { node, gapAfterMs = NEVER_MS, elsewhere, known, isIdle = false } = setting;
  const tries = new Map<number, number>();
  const load = async (number: number): Promise<BlockBatch> => {
    const count = (tries.get(number) ?? 0) + 1;
    tries.set(number, count);
    const outcome = node(number, count);
    if (outcome === 'down') throw new UpstreamError('connection', 'refused');
    return batchOf(number, outcome, isIdle);
  };
  const gaps: number[] = [];
  const untraced = new UntracedBlocks(
    {
      load,
      loadElsewhere: async (number) => (elsewhere === undefined ? null : batchOf(number, elsewhere)),
      isAtHead: () => setting.isAtHead ?? false,
      gapAfterMs,
      confirmMs: CONFIRM_MS,
      onGap: (number) => gaps.push(number),
    },
    known,
  );
  untraced.note([batchOf(BAD - 5, 'traced'), batchOf(BAD + 5, 'traced')]);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), waitMs);
  const startedAt = performance.now();
  try {
    const settled = await untraced.settle(await load(BAD), stop.signal);
    assert.equal(settled.unsettled, null);
    assert.deepEqual(gaps, settled.gaps.length > 0 ? [BAD] : []);
    return { gap: settled.gaps[0]?.reason ?? null, ms: performance.now() - startedAt };
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return null;
  } finally {
    clearTimeout(timer);
  }
}

const others = (bad: (tries: number) => Outcome) => (number: number, tries: number) =>
  number === BAD ? bad(tries) : 'traced';

test('a reason that stands makes a gap, while the node traces older and newer blocks', async () => {
  const found = await settle({ node: others(() => 'nonce too high') });
  assert.equal(found?.gap, 'nonce too high');
  assert.ok(found.ms >= CONFIRM_MS, `after ${found.ms} ms`);
});

test('a block that is traced at last is complete', async () => {
  assert.equal(
    (await settle({ node: others((tries) => (tries < 2 ? 'nonce too high' : 'traced')) }))?.gap,
    null,
  );
  assert.equal((await settle({ node: others((tries) => (tries < 3 ? '?' : 'traced')) }))?.gap, null);
});

test('no reason, another reason each time, or a node that is down makes no gap', async () => {
  assert.equal(await settle({ node: others(() => 'internal error?') }, 4 * CONFIRM_MS), null);
  assert.equal(await settle({ node: others((tries) => `reason ${tries}`) }, 4 * CONFIRM_MS), null);
  assert.equal(
    await settle({ node: others((tries) => (tries < 2 ? 'nonce' : 'down')) }, 4 * CONFIRM_MS),
    null,
  );
});

test('an answer without a reason in between does not end a reason', async () => {
  const found = await settle({ node: others((tries) => (tries === 2 ? 'busy?' : 'nonce too high')) });
  assert.equal(found?.gap, 'nonce too high');
});

test('a reason is not final while no newer or no older block is traced', async () => {
  for (const isTraced of [(number: number) => number < BAD, (number: number) => number > BAD]) {
    const node = (number: number): Outcome => (isTraced(number) ? 'traced' : 'state not available');
    assert.equal(await settle({ node }, 4 * CONFIRM_MS), null);
  }
});

test('without a final reason the wait ends after the limit, if the node traces another block', async () => {
  const gapAfterMs = 2 * CONFIRM_MS;
  const found = await settle({ node: others(() => 'execution timeout?'), gapAfterMs });
  assert.equal(found?.gap, 'execution timeout?');
  assert.ok(found.ms >= gapAfterMs);
  assert.equal(await settle({ node: () => 'execution timeout?', gapAfterMs }, 4 * gapAfterMs), null);
});

test('another node that traces the block is asked before it becomes a gap', async () => {
  const node = others(() => 'nonce too high');
  assert.equal((await settle({ node, elsewhere: 'traced' }))?.gap, null);
});

test('a known reason is final at once for transactions that used no gas, and for no others', async () => {
  const node = others(() => 'transaction not found');
  const known = ['transaction not found'];
  const found = await settle({ node, known, isIdle: true });
  assert.ok(found !== null && found.gap !== null && found.ms < CONFIRM_MS);
  const other = await settle({ node, known });
  assert.ok(other !== null && other.ms >= CONFIRM_MS);
});

test('a failure of the node that drops the block does not begin the wait again', async () => {
  const untraced = new UntracedBlocks({
    load: async (number) => batchOf(number, number === BAD ? 'execution timeout?' : 'traced'),
    gapAfterMs: 6 * CONFIRM_MS,
    onGap: () => undefined,
  });
  const startedAt = performance.now();
  const settled = async (signal: AbortSignal) => untraced.settle(batchOf(BAD, 'execution timeout?'), signal);
  let batch: BlockBatch | undefined;
  while (batch === undefined && performance.now() - startedAt < NEVER_MS)
    batch = await settled(AbortSignal.timeout(2 * CONFIRM_MS)).catch(() => undefined);
  assert.equal(batch?.gaps[0]?.reason, 'execution timeout?');
});

test('the tries of many blocks overlap', async () => {
  let running = 0;
  let most = 0;
  const untraced = new UntracedBlocks({
    async load(number) {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      return batchOf(number, number === 0 || number === 39 ? 'traced' : 'nonce too high');
    },
    confirmMs: CONFIRM_MS,
    onGap: () => undefined,
  });
  untraced.note([batchOf(0, 'traced'), batchOf(39, 'traced')]);
  const { signal } = new AbortController();
  const numbers = Array.from({ length: 30 }, (_, i) => i + 1);
  const settled = await Promise.all(
    numbers.map((number) => untraced.settle(batchOf(number, 'nonce too high'), signal)),
  );
  assert.ok(settled.every(({ gaps }) => gaps.length === 1));
  assert.ok(most > 1 && most <= 8, `${most} at once`);
});
