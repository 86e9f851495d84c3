/** Clocks, and times as text. */

/** Milliseconds of a monotonic clock that all threads share. */
export function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** A larger jump means that the clock was set, milliseconds. */
const CLOCK_STEP_MS = 2;

/** Unix milliseconds with fractions; falls back to `Date.now()` once the clock was set after the thread started. */
export function preciseNow(): number {
  const precise = performance.timeOrigin + performance.now();
  const now = Date.now();
  return Math.abs(precise - now) <= CLOCK_STEP_MS ? precise : now;
}

const SECONDS_PER_DAY = 86_400;

/** `00` to `59`. */
const TWO_DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'));

let cachedDay = Number.NaN;
let cachedDate = '';

/**
 * A block's Unix seconds as ISO 8601 text, UTC with milliseconds. Caches the date, because answers cluster on few days:
 * ten times as fast as Date.
 */
export function secondsToIso(seconds: number): string {
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  if (day !== cachedDay) {
    cachedDate = new Date(day * SECONDS_PER_DAY * 1000).toISOString().slice(0, -13);
    cachedDay = day;
  }
  const rest = seconds - day * SECONDS_PER_DAY;
  const hours = TWO_DIGITS[Math.floor(rest / 3_600)];
  const minutes = TWO_DIGITS[Math.floor(rest / 60) % 60];
  return `${cachedDate}${hours}:${minutes}:${TWO_DIGITS[rest % 60]}.000Z`;
}

let cachedMs = Number.NaN;
let cachedText = '';

/** Unix milliseconds as ISO 8601 text. Caches it, because all events of a turn are pushed within a few milliseconds. */
export function millisecondsToIso(ms: number): string {
  if (ms !== cachedMs) {
    cachedText = new Date(ms).toISOString();
    cachedMs = ms;
  }
  return cachedText;
}

/** Unix milliseconds of an ISO 8601 text; NaN if it is none, or names a day that its month does not have. */
export function isoToMilliseconds(text: string): number {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)/.exec(text) ?? [];
  const midnight = Date.parse(day);
  // Date.parse takes February 31 for a day in March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return Number.NaN;
  return Date.parse(text);
}
