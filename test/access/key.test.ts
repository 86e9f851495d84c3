import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey, isWellFormedKey, keyHint } from '../../src/access/key.ts';

test('a key has the documented form and a valid checksum', () => {
  const keys = Array.from({ length: 200 }, generateKey);
  for (const key of keys) {
    assert.match(key, /^atlas_[0-9A-Za-z]{38}$/);
    assert.ok(isWellFormedKey(key));
  }
  assert.equal(new Set(keys).size, keys.length);
});

test('a single mistyped character is detected anywhere', () => {
  const key = generateKey();
  for (let at = 0; at < key.length; at++) {
    const wrong = key[at] === 'x' ? 'y' : 'x';
    assert.equal(isWellFormedKey(key.slice(0, at) + wrong + key.slice(at + 1)), false, `position ${at}`);
  }
});

test('malformed keys are refused', () => {
  for (const text of [
    '',
    'atlas_',
    generateKey().slice(0, -1),
    `${generateKey()}0`,
    generateKey().slice(6),
  ]) {
    assert.equal(isWellFormedKey(text), false);
  }
});

test('all characters of the alphabet are about equally frequent', () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 2_000; i++) {
    for (const character of generateKey().slice(6, 38))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  assert.equal(counts.size, 62);
  const expected = (2_000 * 32) / 62;
  for (const count of counts.values()) assert.ok(Math.abs(count - expected) < expected * 0.25);
});

test('the hint shows only the beginning of a key', () => {
  const key = generateKey();
  assert.equal(keyHint(key), key.slice(0, 10));
});
