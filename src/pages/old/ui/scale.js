/** Axes: round numbers and round times between two ends. Pure functions. */
import { grouped } from './format.js';

/**
 * Round numbers around a range: the first and the last are its ends or beyond them.
 * @param {number} min
 * @param {number} max
 * @param {number} count
 * @returns {number[]}
 */
export function ticksAround(min, max, count) {
  const step = roundStep(min, max, count);
  const first = Math.floor(min / step + 1e-9);
  const last = Math.ceil(max / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/**
 * Round numbers within a range, about `count` of them.
 * @param {number} min
 * @param {number} max
 * @param {number} count
 * @returns {number[]}
 */
function ticks(min, max, count) {
  if (max <= min) return [min];
  const step = roundStep(min, max, count);
  const first = Math.ceil(min / step);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/**
 * Round whole numbers within a range with their texts, about `count` of them.
 * @param {number} from
 * @param {number} to
 * @param {number} count
 * @returns {{ at: number, text: string }[]}
 */
export function wholeTicks(from, to, count) {
  return ticks(from, to, count)
    .filter(Number.isInteger)
    .map((at) => ({ at, text: grouped(at) }));
}

/**
 * @param {number} min
 * @param {number} max
 * @param {number} count
 */
function roundStep(min, max, count) {
  const rough = (max - min || 1) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR_MS),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => n * DAY_MS),
];

/**
 * Round times within a range with their texts, `count` at most.
 * @param {number} from Unix milliseconds
 * @param {number} to
 * @param {number} count
 * @returns {{ at: number, text: string }[]}
 */
export function timeTicks(from, to, count) {
  if (to <= from) return [{ at: from, text: timeText(from, MINUTE_MS) }];
  const step = STEPS.find((candidate) => (to - from) / candidate <= count) ?? (to - from) / count;
  const marks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step)
    marks.push({ at, text: timeText(at, step) });
  return marks;
}

/**
 * @param {number} at
 * @param {number} step
 */
function timeText(at, step) {
  const iso = new Date(at).toISOString();
  if (step >= 20 * DAY_MS) return iso.slice(0, 10);
  if (step >= DAY_MS || at % DAY_MS === 0) return iso.slice(5, 10);
  return step >= MINUTE_MS ? iso.slice(11, 16) : iso.slice(11, 19);
}
