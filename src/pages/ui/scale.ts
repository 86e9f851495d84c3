/** Axes: round numbers and times within a range. Pure functions. */

export interface Tick {
  at: number;
  text: string;
}

/** Round numbers around a range. The first and the last are at or beyond its ends. */
export function ticksAround(min: number, max: number, count: number): number[] {
  const step = roundStep(min, max, count);
  const first = Math.floor(min / step + 1e-9);
  const last = Math.ceil(max / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

function roundStep(min: number, max: number, count: number): number {
  const rough = (max - min || 1) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR_MS),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => n * DAY_MS),
];

/** Round times within a range of Unix milliseconds, at most `count`. The first has its date with the year. */
export function timeTicks(from: number, to: number, count: number): Tick[] {
  if (to <= from) return [{ at: from, text: timeText(from, MINUTE_MS, true) }];
  const step = STEPS.find((candidate) => (to - from) / candidate <= count) ?? (to - from) / count;
  const first = Math.ceil(from / step) * step;
  const ticks: Tick[] = [];
  for (let at = first; at <= to; at += step) {
    const isNewYear = new Date(at).getUTCFullYear() !== new Date(at - step).getUTCFullYear();
    ticks.push({ at, text: timeText(at, step, at === first || isNewYear) });
  }
  return ticks;
}

function timeText(at: number, step: number, hasYear: boolean): string {
  const iso = new Date(at).toISOString();
  const date = iso.slice(hasYear || step >= 20 * DAY_MS ? 0 : 5, 10);
  if (step >= DAY_MS || at % DAY_MS === 0) return date;
  const time = step >= MINUTE_MS ? iso.slice(11, 16) : iso.slice(11, 19);
  return hasYear ? `${date} ${time}` : time;
}

/** Round ranks from 1 to `last`, with both ends. */
export function rankTicks(last: number, count: number): Tick[] {
  const step = Math.max(1, roundStep(1, last, count));
  const ranks = [1];
  for (let rank = step; rank <= last - step / 2; rank += step) if (rank > 1) ranks.push(rank);
  if (last > 1) ranks.push(last);
  return ranks.map((at) => ({ at, text: String(at) }));
}
