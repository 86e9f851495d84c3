/** Requests over time as bars. */
import { barChart } from '../ui/bar-chart.js';
import { compactNumber, countText, dateTime } from '../ui/format.js';
import { timeTicks } from '../ui/scale.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Up to so many days each hour has its bar, above it each day. */
const HOURLY_DAYS = 7;

/**
 * @param {import('./api-types.js').Usage} usage
 * @param {number} days
 * @param {string} whose
 */
export function usageChart({ from, to, hours }, days, whose) {
  const step = days <= HOURLY_DAYS ? HOUR_MS : DAY_MS;
  const bars = barsOf(hours, Date.parse(from), Date.parse(to), step);
  const total = bars.reduce((sum, { y }) => sum + y, 0);
  return barChart({
    name: `Requests of ${whose} over time`,
    bars: bars.map(({ x, y }) => ({ x, y, text: `${spanText(x, step)}: ${countText(y, 'request')}` })),
    step,
    resting: `${countText(total, 'request')} of ${whose} in the last ${days === 1 ? '24 hours' : `${days} days`}`,
    xTicks: timeTicks,
    yText: compactNumber,
  });
}

/**
 * One bar for each step of the range, whether anything was counted in it or not.
 * @param {{ at: string, requests: number }[]} hours
 * @param {number} from
 * @param {number} to
 * @param {number} step milliseconds
 * @returns {{ x: number, y: number }[]}
 */
function barsOf(hours, from, to, step) {
  const first = Math.floor(from / step);
  const last = Math.floor(to / step);
  const bars = Array.from({ length: last - first + 1 }, (_, i) => ({ x: (first + i) * step, y: 0 }));
  for (const { at, requests } of hours) {
    const bar = bars[Math.floor(Date.parse(at) / step) - first];
    if (bar !== undefined) bar.y += requests;
  }
  return bars;
}

/**
 * @param {number} at
 * @param {number} step
 */
function spanText(at, step) {
  const iso = new Date(at).toISOString();
  return step === DAY_MS ? iso.slice(0, 10) : `${dateTime(iso).slice(0, 16)} UTC, one hour`;
}
