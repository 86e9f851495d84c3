import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchBuffers, releaseBatch } from '../../src/decode/batch.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';

const ROOT = `0x${'00'.repeat(32)}`;

test('a released batch holds no memory', () => {
  const batch = toBatch(randomBlocks(1, 20, ROOT, 1));
  const bytes = () => batchBuffers(batch).reduce((sum, buffer) => sum + buffer.byteLength, 0);
  assert.ok(bytes() > 1_000, `${bytes()} bytes before`);
  releaseBatch(batch);
  assert.equal(bytes(), 0);
});

test('the columns of a batch can be sent to another thread', () => {
  const batch = toBatch(randomBlocks(1, 20, ROOT, 2));
  const expected = structuredClone(batch);
  assert.deepEqual(structuredClone(batch, { transfer: batchBuffers(batch) }), expected);
});
