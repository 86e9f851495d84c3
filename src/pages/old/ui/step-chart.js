/** A quantity that changes at moments and stays in between. */
import { s } from './dom.js';
import { renderPlot } from './plot.js';
import { ticksAround } from './scale.js';

/**
 * @typedef {object} StepChart
 * @property {string} name
 * @property {{ x: number, y: number, text: string }[]} points from left to right, one at least
 * @property {number} [until] where the last step ends; at its beginning unless given
 * @property {string} resting
 * @property {(from: number, to: number, count: number) => { at: number, text: string }[]} xTicks
 * @property {(value: number) => string} yText
 * @property {number} [height]
 * @property {boolean} [fromZero] zero is on the chart however far the values are from it
 */

/** Values within this part of the largest are looked at closely, without zero. */
const ZOOM_RATIO = 2 / 3;

/** @param {StepChart} chart */
export function stepChart({ name, points, until, resting, xTicks, yText, height = 220, fromZero = false }) {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const left = Math.min(...xs);
  const right = Math.max(...xs, ...(until === undefined ? [] : [until]));
  const { low, high } = rangeOf(Math.min(...ys), Math.max(...ys), fromZero);
  const marks = ticksAround(low, high === low ? low + 1 : high, 4);
  const bottom = Math.min(low, marks[0] ?? low);
  const top = Math.max(high, marks.at(-1) ?? high);
  const ground = Math.min(top, Math.max(bottom, 0));
  return renderPlot({
    name,
    height,
    points,
    resting,
    xRange: left === right ? [left - 1, right + 1] : [left, right],
    yRange: [bottom, top],
    yTicks: marks.map((at) => ({ at, text: yText(at) })),
    xTicks: (columns) => xTicks(left, right, columns),
    draw: ({ x, y, width, height: tall }, picked) => {
      const line = `${path(points, x, y)}H${x(right)}`;
      const area = `${line}V${y(ground)}H${x(left)}Z`;
      const parts = [s('path', { class: 'area', d: area }), s('path', { class: 'curve', d: line })];
      const point = picked === null ? undefined : points[picked];
      if (point === undefined) return parts;
      return [
        ...parts,
        s('line', { class: 'cursor', x1: x(point.x), x2: x(point.x), y1: 8, y2: tall - 22 }),
        s('circle', { class: 'dot', cx: Math.min(width, x(point.x)), cy: y(point.y), r: 5 }),
      ];
    },
  });
}

/**
 * @param {number} low
 * @param {number} high
 * @param {boolean} fromZero
 */
function rangeOf(low, high, fromZero) {
  if (!fromZero && low > high * ZOOM_RATIO && low > 0) return { low, high };
  if (!fromZero && high < low * ZOOM_RATIO && high < 0) return { low, high };
  return { low: Math.min(0, low), high: Math.max(0, high) };
}

/**
 * @param {{ x: number, y: number }[]} points
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 */
function path(points, x, y) {
  return points
    .map((point, i) => (i === 0 ? `M${x(point.x)} ${y(point.y)}` : `H${x(point.x)}V${y(point.y)}`))
    .join('');
}
