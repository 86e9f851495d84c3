import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOldestAvailable, stayAheadOfPruning } from '../../../src/indexer/backfill/oldest-available.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';

test('a block the node has is the start', async () => {
  assert.equal(await findOldestAvailable(5, 100, async () => true), 5);
  assert.equal(await findOldestAvailable(100, 100, async () => true), 100);
});

test('on a node that has pruned its history the start is the oldest block that is left', async () => {
  for (const oldest of [1, 2, 50, 99, 100]) {
    let asked = 0;
    const available = async (number: number): Promise<boolean> => {
      asked++;
      return number >= oldest;
    };
    assert.equal(await findOldestAvailable(0, 100, available), oldest);
    assert.ok(asked <= 24, `${asked} blocks asked for`);
  }
});

test('empty blocks, which cannot be pruned, do not hide pruned ones between them', async () => {
  for (const empty of [[0], [0, 1, 2, 3, 4, 5], [0, 25, 50, 75], [0, 50, 56, 58, 59]]) {
    const available = async (number: number): Promise<boolean> => number >= 60 || empty.includes(number);
    const oldest = await findOldestAvailable(0, 100, available);
    assert.equal(oldest, empty.includes(59) ? 58 : 60, `empty: ${empty}`);
  }
});

test('a busy node that denies a block it has does not hide the older ones', async () => {
  for (const denied of [40, 50, 62, 63, 99]) {
    let denials = 0;
    const available = async (number: number, withRetries: boolean): Promise<boolean> => {
      if (number === denied && !withRetries) {
        denials++;
        return false;
      }
      return number >= 40;
    };
    assert.equal(await findOldestAvailable(0, 100, available), 40);
    assert.ok(denials <= 2, `${denied} was denied ${denials} times`);
  }
});

test('retries only the check of the block before the oldest one, since every denial costs a wait', async () => {
  const retried: number[] = [];
  const available = async (number: number, withRetries: boolean): Promise<boolean> => {
    if (withRetries) retried.push(number);
    return number >= 15_000_001;
  };
  assert.equal(await findOldestAvailable(0, 15_000_018, available), 15_000_001);
  assert.deepEqual(retried, [15_000_000]);
});

test('a node that serves no block at all counts as failing, not as pruned, and is retried', async () => {
  await assert.rejects(
    findOldestAvailable(0, 100, async () => false),
    UpstreamError,
  );
});

test('a start beyond the head is the node being behind, to be tried again', async () => {
  await assert.rejects(
    findOldestAvailable(101, 100, async () => true),
    UpstreamError,
  );
});

/** A chain that grew by `growth` blocks during the search and grows by `after` during the wait for growth. */
function growing(headBefore: number, growth: number, after = 1) {
  let head = headBefore + growth;
  return {
    headBefore,
    head: async () => head,
    async headAfter() {
      head += after;
      return head;
    },
  };
}

test('a node that keeps its oldest block while the chain grows costs the index no block', async () => {
  const kept = async (number: number): Promise<boolean> => number >= 1;
  assert.equal(await stayAheadOfPruning(1, growing(100, 4), kept), 1);
});

test('a node that prunes as the chain grows is outrun by twice the growth', async () => {
  const chain = growing(1_000, 4);
  const window = async (number: number): Promise<boolean> => number > (await chain.head()) - 128;
  // At head 1,004 the search found 877. At head 1,005 that block is gone.
  assert.equal(await stayAheadOfPruning(877, chain, window), 878 + 2 * 5);
});

test('an oldest block with nothing to prune in it does not hide that those after it go', async () => {
  const chain = growing(1_000, 4, 2);
  const window = async (number: number): Promise<boolean> =>
    number === 877 || number > (await chain.head()) - 128;
  assert.equal(await stayAheadOfPruning(877, chain, window), 879 + 2 * 6);
});

test('a busy node that denies an existing block is not mistaken for a pruning node', async () => {
  for (const denied of [1, 2, 5, 50]) {
    const busy = async (number: number, withRetries: boolean): Promise<boolean> =>
      number >= 1 && (withRetries || number !== denied);
    assert.equal(await stayAheadOfPruning(1, growing(100, 4), busy), 1, `${denied} is denied`);
  }
});

test('the oldest block is not checked again while the head does not move, since nothing can be pruned', async () => {
  const never = async (): Promise<boolean> => assert.fail('asked');
  assert.equal(await stayAheadOfPruning(7, growing(100, 0), never), 7);
});
