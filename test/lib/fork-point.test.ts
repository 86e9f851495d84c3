import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findForkPoint } from '../../src/lib/fork-point.ts';
import type { Hex } from '../../src/lib/hex.ts';

const hash = (branch: string, number: number): Hex => `0x${branch}${number}`;

for (const [start, head, fork] of [
  [0, 0, -1],
  [0, 100, 99],
  [0, 100, 40],
  [0, 100, -1],
  [50, 1_000, 49],
  [50, 1_000, 50],
  [7, 7, 6],
  [0, 70_000, 123],
] as const) {
  test(`finds block ${fork} as the last common one of an index ${start}..${head} with few headers`, async () => {
    let asked = 0;
    const local = (number: number): Hex => hash('a', number);
    const remote = async (number: number): Promise<Hex> => {
      asked++;
      assert.ok(number >= start && number <= head, `asked for block ${number}`);
      return hash(number <= fork ? 'a' : 'b', number);
    };
    assert.equal(
      await findForkPoint(head, start, async (number) => local(number) === (await remote(number))),
      fork,
    );
    assert.ok(asked <= 2 * Math.ceil(Math.log2(head - start + 2)) + 2, `${asked} headers asked for`);
  });
}

test('an index that agrees at the given height forks nowhere', async () => {
  assert.equal(await findForkPoint(20, 3, async () => true), 20);
});
