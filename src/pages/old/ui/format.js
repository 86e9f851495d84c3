/** Numbers, amounts and times as people read them. Pure functions; times in UTC. */

/** Of every chain's own coin. */
export const NATIVE_DECIMALS = 18;

const GROUPED = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

/**
 * `12,345`
 * @param {number} value
 */
export function grouped(value) {
  return GROUPED.format(value);
}

/**
 * `1 transfer`, `12,345 transfers`
 * @param {number} count
 * @param {string} noun
 */
export function countText(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * At most `digits` figures after the point, small numbers kept visible: `0.000012`, `1,234.5`.
 * @param {number} value
 * @param {number} [digits]
 */
export function decimal(value, digits = 2) {
  const small = value !== 0 && Math.abs(value) < 10 ** -digits;
  return new Intl.NumberFormat('en-US', {
    ...(small ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: digits }),
  }).format(value);
}

/**
 * Numbers in few characters: `1.2M`, and `5.79E76` where no letter is short enough.
 * @param {number} value
 */
export function compactNumber(value) {
  const size = Math.abs(value);
  const notation = size >= 1e15 || (size > 0 && size < 1e-6) ? 'scientific' : 'compact';
  const text = new Intl.NumberFormat('en-US', { notation, maximumSignificantDigits: 3 }).format(value);
  return text.replaceAll('-', '−');
}

/**
 * `1.5 GB`
 * @param {number} bytes
 */
export function byteSize(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 }).format(value)} ${units[unit]}`;
}

/**
 * The two largest units of a time span: `3 d 4 h`, `12 s`.
 * @param {number} seconds
 */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE_SECONDS) return `${whole} s`;
  if (whole < HOUR_SECONDS) return twoUnits(whole, MINUTE_SECONDS, 'min', 1, 's');
  if (whole < DAY_SECONDS) return twoUnits(whole, HOUR_SECONDS, 'h', MINUTE_SECONDS, 'min');
  if (whole < 365 * DAY_SECONDS) return twoUnits(whole, DAY_SECONDS, 'd', HOUR_SECONDS, 'h');
  return twoUnits(whole, 365 * DAY_SECONDS, 'y', DAY_SECONDS, 'd');
}

/**
 * @param {number} seconds
 * @param {number} large
 * @param {string} largeName
 * @param {number} small
 * @param {string} smallName
 */
function twoUnits(seconds, large, largeName, small, smallName) {
  const rest = Math.floor((seconds % large) / small);
  const first = `${grouped(Math.floor(seconds / large))} ${largeName}`;
  return rest === 0 ? first : `${first} ${rest} ${smallName}`;
}

/**
 * `3 min 2 s ago`
 * @param {string} iso
 * @param {number} [now] Unix milliseconds
 */
export function ago(iso, now = Date.now()) {
  return `${duration((now - Date.parse(iso)) / 1000)} ago`;
}

/**
 * `2026-11-21 08:00:00`
 * @param {string} iso
 */
export function dateTime(iso) {
  return iso.slice(0, 19).replace('T', ' ');
}

/**
 * Exact decimal text of an integer count of units: (`1500000`, 6) is `1.5`.
 * @param {bigint} units
 * @param {number} decimals
 */
export function unitsToText(units, decimals) {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
}

/**
 * A decimal text with grouped digits and no more than `digits` after the point, cut and not rounded; an amount that
 * would seem to be nothing keeps its first two figures, one longer than any table is wide becomes `5.7896 × 10⁷⁶`.
 * @param {string} text
 * @param {number} [digits]
 */
export function groupedText(text, digits = 4) {
  const sign = text.startsWith('-') ? '−' : '';
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  if (whole.length > MAX_DIGITS) return `${sign}${scientific(whole, whole.length - 1, digits)}`;
  const first = fraction.search(/[1-9]/);
  if (whole === '0' && first >= MAX_DIGITS)
    return `${sign}${scientific(fraction.slice(first), -first - 1, digits)}`;
  const keep = whole === '0' && first >= digits ? first + 2 : digits;
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${afterPoint(fraction.slice(0, keep))}`;
}

/**
 * @param {string} figures
 * @param {number} exponent of the first of them
 * @param {number} digits
 */
function scientific(figures, exponent, digits) {
  const power = [...String(exponent)]
    .map((char) => (char === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(char)]))
    .join('');
  return `${figures[0]}${afterPoint(figures.slice(1, digits + 1))} × 10${power}`;
}

/** @param {string} digits */
function afterPoint(digits) {
  const cut = digits.replace(/0+$/, '');
  return cut && `.${cut}`;
}

/**
 * `0x3f5ce5…36f0be`
 * @param {string} hex
 */
export function shortHex(hex) {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

/** Most digits before the point, and zeros behind it, of an amount that is shown with them: a large supply has fewer. */
const MAX_DIGITS = 30;

/** Longest symbol that is shown whole. */
const SYMBOL_CHARS = 16;

/** Longest name of a person or a program that is shown whole. */
export const NAME_CHARS = 40;

/**
 * A name that anybody may have chosen, made harmless to look at: no line breaks or control characters, none that
 * cannot be seen or turn the direction of the text around it, no towers of accents, and not longer than a name should be.
 * @param {string} name
 * @param {number} [most] characters
 */
export function safeName(name, most = SYMBOL_CHARS) {
  const clean = name
    .replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .replace(/\s+/gu, ' ')
    .replace(/(\p{M}{2})\p{M}+/gu, '$1')
    .trim();
  const chars = [...clean];
  return chars.length <= most ? clean : `${chars.slice(0, most - 1).join('')}…`;
}

/**
 * A name within a sentence: one that runs from right to left leaves the rest of it in order.
 * @param {string} name
 */
export function isolated(name) {
  return `\u2068${name}\u2069`;
}
