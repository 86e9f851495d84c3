import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hex, hexToBytes } from '../../src/lib/hex.ts';
import { TokenRefresh } from '../../src/tokens/token-refresh.ts';

const DAY = 86_400_000;
const token = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;

function setUp() {
  const clock = { now: 0 };
  const refresh = new TokenRefresh(
    () => clock.now,
    () => 1,
  );
  const record = (moved: Hex[], upgraded: Hex[] = []) =>
    refresh.record({
      token: Int32Array.from([-1, ...moved.map((_address, i) => i)]),
      addresses: Uint8Array.from(moved.flatMap((address) => [...hexToBytes(address)])),
      upgraded,
    });
  return { clock, refresh, record };
}

test('a token is due three days after its last read, if it moved since', () => {
  const { clock, refresh, record } = setUp();
  record([token(1), token(2)]);
  assert.deepEqual(refresh.take(9), []);
  clock.now = 3 * DAY;
  assert.deepEqual(refresh.take(1), [token(1)]);
  assert.deepEqual(refresh.take(9), [token(2)]);
  clock.now = 9 * DAY;
  assert.deepEqual(refresh.take(9), [], 'they have not moved');
  record([token(2)]);
  assert.deepEqual(refresh.take(9), [token(2)]);
  record([token(2)]);
  assert.deepEqual(refresh.take(9), []);
});

test('an upgraded token is due at once, each once an hour and not more than 120 of them', () => {
  const { clock, refresh, record } = setUp();
  record([], [token(1), token(1)]);
  assert.deepEqual(refresh.take(9), [token(1)]);
  record([], [token(1)]);
  assert.deepEqual(refresh.take(9), []);
  record(
    [],
    Array.from({ length: 500 }, (_, i) => token(i + 10)),
  );
  assert.equal(refresh.take(1_000).length, 119);
  clock.now = 3_600_000;
  record([], [token(1)]);
  assert.deepEqual(refresh.take(9), [token(1)]);
});
