/** Ids that clients may treat as integers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ID_CHARS, newQuantityId, readQuantityId } from '../../src/lib/quantity-id.ts';

test('an id has a fixed length and survives a client that keeps it as an integer', () => {
  const ids = Array.from({ length: 2_000 }, newQuantityId);
  assert.deepEqual(
    ids.filter((id) => id.length !== ID_CHARS || `0x${BigInt(id).toString(16)}` !== id),
    [],
  );
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(new Set(ids.map((id) => id[2])).size, 15); // every first digit but zero
});

test('an id is found in any spelling of its quantity', () => {
  const id = newQuantityId();
  const padded = `0x${id.slice(2).padStart(64, '0')}`;
  for (const spelled of [id, id.toUpperCase(), padded, `0x0${id.slice(2)}`]) {
    assert.equal(readQuantityId(spelled), id);
  }
  const tooLong = `0x${id.slice(2).padStart(65, '0')}`;
  for (const none of [tooLong, id.slice(2), `${id} `, '0x', '', 7, null, [id]]) {
    assert.equal(readQuantityId(none), null);
  }
});
