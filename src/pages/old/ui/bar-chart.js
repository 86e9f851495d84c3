/** Counts in equal steps. */
import { s } from './dom.js';
import { renderPlot } from './plot.js';
import { ticksAround } from './scale.js';

/**
 * @typedef {object} BarChart
 * @property {string} name
 * @property {{ x: number, y: number, text: string }[]} bars from left to right, `step` apart
 * @property {number} step
 * @property {string} resting
 * @property {(from: number, to: number, count: number) => { at: number, text: string }[]} xTicks
 * @property {(value: number) => string} yText
 * @property {number} [height]
 */

/** @param {BarChart} chart */
export function barChart({ name, bars, step, resting, xTicks, yText, height = 180 }) {
  const left = bars[0]?.x ?? 0;
  const right = (bars.at(-1)?.x ?? left) + step;
  const high = Math.max(1, ...bars.map(({ y }) => y));
  const marks = ticksAround(0, high, 3).filter(Number.isInteger);
  return renderPlot({
    name,
    height,
    points: bars.map(({ x, text }) => ({ x: x + step / 2, text })),
    resting,
    xRange: [left, right],
    yRange: [0, marks.at(-1) ?? high],
    yTicks: marks.map((at) => ({ at, text: yText(at) })),
    xTicks: (columns) => xTicks(left, right, columns),
    draw: ({ x, y }, picked) => {
      const width = x(left + step) - x(left);
      const gap = width > 6 ? 2 : width > 3 ? 1 : 0;
      return bars.map(({ x: at, y: value }, i) =>
        s('rect', {
          class: i === picked ? 'bar picked' : 'bar',
          x: x(at) + gap / 2,
          width: Math.max(0.5, width - gap),
          y: Math.min(y(value), value > 0 ? y(0) - 1.5 : y(0)),
          height: value > 0 ? Math.max(1.5, y(0) - y(value)) : 0,
        }),
      );
    },
  });
}
