import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountMark, lineBetween } from '../../src/pages/explorer/wallet/network-geometry.ts';
import { expansionsIn, expansionsText } from '../../src/pages/explorer/wallet/network-link.ts';

const [A, B] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`];

test('the state of a graph survives its link, and a broken link is read as far as it is one', () => {
  const expansions = [
    { address: A, roles: ['funder', 'recipient'] },
    { address: B, roles: ['counterparty'] },
    { address: A, roles: ['counterparty'] },
  ] as const;
  const text = expansionsText(expansions);
  assert.equal(text, `${A.slice(2)}fr.${B.slice(2)}c.${A.slice(2)}c`);
  assert.deepEqual(expansionsIn(text), expansions);
  assert.equal(expansionsText([]), null);
  for (const broken of [null, '', 'x', A, `${A.slice(2)}`, `${A.slice(2)}q`, `${A.slice(3)}f`])
    assert.deepEqual(expansionsIn(broken), []);
  assert.equal(expansionsIn(`${A.slice(2)}f.${'x'.repeat(9)}`).length, 1);
  assert.equal(
    expansionsIn(
      Array(100)
        .fill(`${A.slice(2)}f`)
        .join('.'),
    ).length,
    30,
  );
});

const place = (address: string, x: number, y: number) => ({
  address,
  node: { label: null },
  radius: 10,
  x,
  y,
});

test('a line ends at circles from above and from the side, and outside of names from below', () => {
  const centre = place(A, 0, 0);
  const above = lineBetween(place(B, 0, -200), centre, false);
  assert.deepEqual([above?.x2, above?.y2], [0, -12]);
  const beside = lineBetween(place(B, -200, 0), centre, false);
  assert.deepEqual([beside?.x2, beside?.y2], [-12, 0]);
  const below = lineBetween(place(B, 0, 200), centre, false);
  assert.ok(below !== null && below.y2 >= 27, 'the arrow ends below the name');
  const slanted = lineBetween(place(B, 60, 200), centre, false);
  assert.ok(slanted !== null && slanted.y2 >= 27, 'the name is wider than the circle');
  assert.equal(lineBetween(centre, centre, false), null);
  assert.equal(lineBetween(centre, place(B, 5, 0), false), null);
});

test('the lines of two directions lie beside each other', () => {
  const [left, right] = [place(A, -200, 0), place(B, 200, 0)];
  const there = lineBetween(left, right, true);
  const back = lineBetween(right, left, true);
  assert.equal(there?.y1, 5);
  assert.equal(back?.y1, -5);
});

test('a link has its coins as its mark, else its transfers, and none where there is no room', () => {
  const line = { x1: 0, y1: 0, x2: 100, y2: 0 };
  const link = { from: A, to: B, amount: 12.5, transfers: 3 };
  const mark = (changes: Partial<typeof link>, x2 = 100, isPair = false) =>
    amountMark({ link: { ...link, ...changes }, line: { ...line, x2 }, isPair }, 'MON');
  assert.deepEqual(mark({}), { text: '12.5 MON', x: 50, y: 3 });
  assert.deepEqual(mark({}, 100, true), { text: '12.5 MON', x: 33, y: 3 });
  assert.equal(mark({ amount: 0 })?.text, '3 ×');
  assert.equal(mark({ amount: 0, transfers: 0 }), null);
  assert.equal(mark({}, 20), null);
});
