import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { oldestAvailable } from '../../src/sync/start.ts';

test('a block the node has is the start', async () => {
  assert.equal(await oldestAvailable(5, 100, async () => true), 5);
});

test('on a node that has pruned its history the start is the oldest block that is left', async () => {
  for (const oldest of [1, 2, 50, 99, 100]) {
    let asked = 0;
    const available = async (number: number): Promise<boolean> => {
      asked++;
      return number >= oldest;
    };
    assert.equal(await oldestAvailable(0, 100, available), oldest);
    assert.ok(asked <= 9, `${asked} blocks asked for`);
  }
});

test('a start beyond the head is the node being behind, to be tried again', async () => {
  await assert.rejects(
    oldestAvailable(101, 100, async () => true),
    UpstreamError,
  );
});
