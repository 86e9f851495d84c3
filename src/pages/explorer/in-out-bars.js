/** Two counts that stand against each other: in to the left, out to the right. */
import { s } from '../ui/dom.js';
import { grouped } from '../ui/format.js';

const HALF = 50;

/**
 * @param {number} incoming
 * @param {number} outgoing
 * @param {number} most the longest bar
 */
export function inOutBars(incoming, outgoing, most) {
  const name = `${grouped(incoming)} in, ${grouped(outgoing)} out`;
  const left = (incoming / most) * HALF;
  const right = (outgoing / most) * HALF;
  return s(
    'svg',
    { class: 'two-way', viewBox: '0 0 100 10', width: 100, height: 10, role: 'img', 'aria-label': name },
    s('title', {}, name),
    s('rect', { class: 'in-bar', x: HALF - left, width: left, y: 1, height: 8 }),
    s('rect', { class: 'out-bar', x: HALF, width: right, y: 1, height: 8 }),
    s('line', { x1: HALF, x2: HALF, y1: 0, y2: 10 }),
  );
}
