import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthPicture } from '../../../scripts/bench/report/growth-picture.ts';

const MILLION = 1_000_000;

test('the growth chart has a curve per panel, labels at 1 to 100 million, and colours for both themes', () => {
  const points = [1, 2, 3, 10, 30, 100].map((n) => ({ transfers: n * MILLION, value: n / 8 }));
  const chart = (title: string) => ({ title, points, budget: { floor: 20, goal: 10 } });
  const svg = growthPicture([chart('cost & "size"'), chart('memory')], 'a < b');
  assert.match(svg, /prefers-color-scheme: dark/);
  assert.ok(svg.includes('cost &amp; &quot;size&quot;') && svg.includes('a &lt; b'), 'text is escaped');
  const curves = [...svg.matchAll(/<polyline class="curve" points="([^"]+)"/g)].map(([, list = '']) =>
    list.split(' ').map((pair) => pair.split(',').map(Number)),
  );
  assert.equal(curves.length, 2);
  const [curve = []] = curves;
  assert.equal(curve.length, points.length);
  // Every decade of transfers has the same width, and larger values are higher up.
  const [x1, , , x10, , x100] = curve.map(([x = 0]) => x);
  assert.ok(Math.abs(x10! - x1! - (x100! - x10!)) < 0.2, `${[x1, x10, x100]}`);
  assert.ok(curve.every(([, y = 0], i) => i === 0 || y < curve[i - 1]![1]!));
  for (const label of ['0.125', '0.375', '1.25', '3.75', '12.5'])
    assert.ok(svg.includes(`>${label}</text>`), label);
  assert.ok(!svg.includes('>0.25</text>'), 'the second million has no label');
});
