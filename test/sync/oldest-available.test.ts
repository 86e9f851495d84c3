import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { findOldestAvailable } from '../../src/sync/oldest-available.ts';

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

test('empty blocks, of which nothing can be pruned, do not hide that those between them are gone', async () => {
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

test('only the block before the oldest one is asked for with retries, since every no there costs a wait', async () => {
  const retried: number[] = [];
  const available = async (number: number, withRetries: boolean): Promise<boolean> => {
    if (withRetries) retried.push(number);
    return number >= 15_000_001;
  };
  assert.equal(await findOldestAvailable(0, 15_000_018, available), 15_000_001);
  assert.deepEqual(retried, [15_000_000]);
});

test('a node that gives nothing at all has not pruned everything but is failing, to be tried again', async () => {
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
