/** The frame of a chart: redrawn at the width it has, with axes, and one point picked by pointer or arrow keys. */
import { h, replace, s } from './dom.js';

const MARGIN = { left: 64, right: 12, top: 8, bottom: 22 };

/**
 * @typedef {object} Frame
 * @property {number} width
 * @property {number} height
 * @property {(value: number) => number} x
 * @property {(value: number) => number} y
 */

/**
 * @typedef {object} Plot
 * @property {string} name what the chart shows
 * @property {number} height
 * @property {{ x: number, text: string }[]} points what can be picked, from left to right, with the text for each
 * @property {string} resting the text while none is picked
 * @property {[number, number]} xRange
 * @property {[number, number]} yRange
 * @property {{ at: number, text: string }[]} yTicks
 * @property {(columns: number) => { at: number, text: string }[]} xTicks
 * @property {(frame: Frame, picked: number | null) => SVGElement[]} draw
 */

/** Pixels that a label of the x axis needs. */
const LABEL_WIDTH = 84;

/**
 * @param {Plot} plot
 * @returns {HTMLElement}
 */
export function renderPlot(plot) {
  const readout = h('p', { class: 'readout', 'aria-live': 'polite' }, plot.resting);
  const svg = s('svg', { height: plot.height, role: 'img', 'aria-label': plot.name, tabindex: 0 });
  /** @type {number | null} */
  let picked = null;
  /** @type {Frame | null} */
  let frame = null;

  const draw = () => {
    if (frame === null) return;
    replace(svg, axes(plot, frame), plot.draw(frame, picked));
  };
  /** @param {number | null} index */
  const pick = (index) => {
    if (index === picked) return;
    picked = index;
    readout.textContent = (index === null ? null : plot.points[index]?.text) ?? plot.resting;
    draw();
  };
  svg.addEventListener('pointermove', ({ clientX }) => {
    if (frame !== null) pick(nearest(plot.points, frame, clientX - svg.getBoundingClientRect().left));
  });
  svg.addEventListener('pointerleave', () => pick(null));
  svg.addEventListener('blur', () => pick(null));
  svg.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || plot.points.length === 0) return;
    event.preventDefault();
    const last = plot.points.length - 1;
    pick(picked === null ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, picked + step)));
  });
  new ResizeObserver(() => {
    const width = svg.clientWidth;
    if (width === 0 || frame?.width === width) return;
    frame = frameOf(plot, width);
    svg.setAttribute('viewBox', `0 0 ${width} ${plot.height}`);
    draw();
  }).observe(svg);
  return h('figure', { class: 'chart' }, readout, svg);
}

/**
 * @param {Plot} plot
 * @param {number} width
 * @returns {Frame}
 */
function frameOf({ height, xRange, yRange }, width) {
  const { left, right, top, bottom } = MARGIN;
  return {
    width,
    height,
    x: linearScale(xRange, [left, width - right]),
    y: linearScale(yRange, [height - bottom, top]),
  };
}

/**
 * @param {[number, number]} from
 * @param {[number, number]} to
 * @returns {(value: number) => number}
 */
function linearScale([low, high], [start, end]) {
  const span = high - low || 1;
  return (value) => start + ((value - low) / span) * (end - start);
}

/**
 * @param {Plot} plot
 * @param {Frame} frame
 */
function axes({ yTicks, xTicks }, { width, height, x, y }) {
  const columns = Math.max(2, Math.floor((width - MARGIN.left) / LABEL_WIDTH));
  return s(
    'g',
    { 'aria-hidden': true },
    yTicks.flatMap(({ at, text }) => [
      s('line', {
        class: at === 0 ? 'zero' : 'grid',
        x1: MARGIN.left,
        x2: width - MARGIN.right,
        y1: y(at),
        y2: y(at),
      }),
      s('text', { x: MARGIN.left - 8, y: y(at) + 4, 'text-anchor': 'end' }, text),
    ]),
    xTicks(columns).map(({ at, text }) =>
      s('text', { x: within(x(at), width), y: height - 4, 'text-anchor': anchor(x(at), width) }, text),
    ),
  );
}

/**
 * @param {number} x
 * @param {number} width
 */
function within(x, width) {
  return Math.min(width - 2, x);
}

/**
 * @param {number} x
 * @param {number} width
 */
function anchor(x, width) {
  return x > width - 24 ? 'end' : 'middle';
}

/**
 * @param {{ x: number }[]} points
 * @param {Frame} frame
 * @param {number} at pixels from the left
 */
function nearest(points, frame, at) {
  let best = null;
  let distance = Number.POSITIVE_INFINITY;
  for (const [index, point] of points.entries()) {
    const off = Math.abs(frame.x(point.x) - at);
    if (off < distance) {
      best = index;
      distance = off;
    }
  }
  return best;
}
