import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountMarks, lineBetween } from '../../src/pages/explorer/wallet/network-geometry.ts';
import { expansionsIn, expansionsText } from '../../src/pages/explorer/wallet/network-link.ts';
import {
  circleBox,
  type Named,
  type NodePlace,
  namedPlaces,
  overlap,
} from '../../src/pages/explorer/wallet/network-names.ts';

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

const place = (address: string, x: number, y: number, label: string | null = null) => ({
  address,
  node: {
    label: label === null ? null : { name: label, category: 'other', source: '' },
    amount: 1,
    expanded: [],
  },
  radius: 10,
  x,
  y,
});

/** Two nodes as drawn, with their names. */
const pair = (a: [number, number], b: [number, number]) => {
  const places = new Map([place(A, ...a), place(B, ...b)].map((node) => [node.address, node] as const));
  const drawn = namedPlaces(places, 1, A);
  return { from: drawn.get(B), to: drawn.get(A) };
};

test('a line ends at circles from above and from the side, and outside of names from below', () => {
  const above = pair([0, 0], [0, -200]);
  const down = lineBetween(above.from, above.to, false);
  assert.deepEqual([down?.x2, down?.y2], [0, -12]);
  const beside = pair([0, 0], [-200, 0]);
  const right = lineBetween(beside.from, beside.to, false);
  assert.deepEqual([right?.x2, right?.y2], [-12, 0]);
  for (const [x, y] of [
    [0, 200],
    [60, 200],
  ] as const) {
    const below = pair([0, 0], [x, y]);
    const up = lineBetween(below.from, below.to, false);
    assert.ok(up !== null && up.y2 >= 27, 'the arrow ends below the name, which is wider than the circle');
  }
  assert.equal(lineBetween(above.to, above.to, false), null);
  const close = pair([0, 0], [5, 0]);
  assert.equal(lineBetween(close.from, close.to, false), null);
});

test('the lines of two directions lie beside each other', () => {
  const { from: right, to: left } = pair([-200, 0], [200, 0]);
  const there = lineBetween(left, right, true);
  const back = lineBetween(right, left, true);
  assert.equal(there?.y1, 5);
  assert.equal(back?.y1, -5);
});

test('a link has its coins as its mark, else its transfers, and none where there is no room', () => {
  const line = { x1: 0, y1: 0, x2: 100, y2: 0 };
  const link = { from: A, to: B, amount: 12.5, transfers: 3 };
  const marks = (
    changes: Partial<typeof link>,
    x2 = 100,
    isPair = false,
    places = new Map<string, Named<NodePlace>>(),
  ) =>
    amountMarks([{ link: { ...link, ...changes }, line: { ...line, x2 }, isPair }], places, 1, 'MON').map(
      ({ text, x, y }) => ({ text, x, y }),
    );
  assert.deepEqual(marks({}), [{ text: '12.5 MON', x: 50, y: 3 }]);
  assert.deepEqual(marks({}, 100, true), [{ text: '12.5 MON', x: 33, y: 3 }]);
  assert.equal(marks({ amount: 0 })[0]?.text, '3 ×');
  assert.deepEqual(marks({ amount: 0, transfers: 0 }), []);
  assert.deepEqual(marks({}, 20), []);
  const middle = new Map([[A, { ...place(A, 50, 0), name: null }]]);
  const [aside] = marks({}, 200, false, middle);
  assert.ok(aside !== undefined && aside.x > 60, 'the amount makes room for a circle');
});

/** Forty circles on a grid whose names are wider than its columns. */
const dense = () =>
  new Map(
    Array.from({ length: 40 }, (_, i) => {
      const address = `0x${(i + 1).toString(16).padStart(40, '0')}`;
      return [
        address,
        place(address, (i % 8) * 60, Math.floor(i / 8) * 40, i % 10 === 9 ? `Name ${i}` : null),
      ] as const;
    }),
  );

test('names of a dense graph cover neither each other nor circles, and a larger zoom shows more of them', () => {
  const places = dense();
  const first = `0x${'1'.padStart(40, '0')}`;
  const counts = [0.4, 1, 2].map((zoom) => {
    const drawn = [...namedPlaces(places, zoom, first).values()];
    const boxes = drawn.flatMap(({ name }) => (name === null ? [] : [name.box]));
    const circles = drawn.map(circleBox);
    for (const [i, box] of boxes.entries()) {
      assert.ok(!boxes.slice(i + 1).some((other) => overlap(box, other)), `two names at ${zoom}`);
      assert.ok(!circles.some((circle) => overlap(box, circle)), `a name over a circle at ${zoom}`);
    }
    return boxes.length;
  });
  const [few = 0, some = 0, all = 0] = counts;
  assert.ok(few < some && some <= all && all === 40, `${counts}`);
  const labelled = [...namedPlaces(places, 1, first).values()].filter(({ node }) => node.label !== null);
  assert.ok(
    labelled.every(({ name }) => name !== null),
    'labels come before addresses',
  );
});

test('the name of the selected circle is shown even where it has no room', () => {
  const crowd = new Map(
    Array.from({ length: 9 }, (_, i) => {
      const address = `0x${(i + 1).toString(16).padStart(40, '0')}`;
      return [address, place(address, (i % 3) * 21, Math.floor(i / 3) * 21)] as const;
    }),
  );
  const middle = `0x${'5'.padStart(40, '0')}`;
  assert.notEqual(namedPlaces(crowd, 1, middle).get(middle)?.name, null);
  assert.equal(namedPlaces(crowd, 1, A).get(middle)?.name, null);
});
