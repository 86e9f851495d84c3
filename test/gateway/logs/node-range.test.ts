import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RangeLimit } from '../../../src/gateway/logs/node-range.ts';

/** Queries a node with this limit until no wider range is tried. Returns the refused widths. */
function learn(limit: RangeLimit, taken: number, requests = 50): number[] {
  const refused: number[] = [];
  for (let i = 0; i < requests; i++) {
    const width = limit.nextWidth();
    if (width <= taken) limit.accepted(width);
    else {
      refused.push(width);
      limit.tooWide(width);
    }
  }
  return refused;
}

test('the width is raised to nearly the limit of the node, and never beyond the maximum', () => {
  for (const taken of [100, 1_000, 5_000]) {
    const limit = new RangeLimit(100, 10_000);
    assert.ok(learn(limit, taken).length < 8);
    assert.ok(limit.width <= taken && limit.width > taken / 1.25, `${limit.width} of ${taken}`);
  }
  const unlimited = new RangeLimit(100, 10_000);
  assert.deepEqual([learn(unlimited, 1_000_000), unlimited.width], [[], 10_000]);
  assert.equal(new RangeLimit(100, 30).width, 30);
});

test('a node that accepts less than configured gets smaller ranges, at least one block', () => {
  const limit = new RangeLimit(100, 10_000);
  learn(limit, 10);
  assert.ok(limit.width <= 10 && limit.width > 8, String(limit.width));
  const none = new RangeLimit(100, 10_000);
  learn(none, 0);
  assert.equal(none.width, 1);
});

test('one request at a time tries a wider range, whatever its outcome', () => {
  const limit = new RangeLimit(100, 10_000);
  assert.deepEqual([limit.nextWidth(), limit.nextWidth(), limit.nextWidth()], [200, 100, 100]);
  limit.inconclusive();
  assert.deepEqual([limit.nextWidth(), limit.nextWidth()], [200, 100]);
  limit.tooWide(200);
  assert.deepEqual([limit.nextWidth(), limit.nextWidth()], [150, 100]);
  limit.accepted(150);
  assert.deepEqual([limit.nextWidth(), limit.nextWidth()], [175, 150]);
});

test('a refused width is tried again after ten thousand requests: the node may accept more by then', () => {
  const limit = new RangeLimit(100, 10_000);
  learn(limit, 100, 1_000);
  assert.deepEqual(learn(limit, 100, 8_900), []);
  assert.deepEqual(learn(limit, 1_000, 200).slice(0, 1), [1_600]);
});
