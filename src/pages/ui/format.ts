/** Numbers, amounts and times for display. Pure functions; times in UTC. */
import { TRANSFER_KINDS } from '../../model/transfer-kind.ts';

export const NATIVE_DECIMALS = 18;
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** Most digits of an amount shown in full. */
const MAX_DIGITS = 12;

/** Most fractional digits of an amount, truncated, not rounded; fewer if the integer part is long. */
const FRACTION = 4;

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 });

/** `12,345` */
export function grouped(value: number): string {
  return WHOLE.format(value);
}

/** `1 transfer`, `12,345 transfers` */
export function countText(count: number, noun: string): string {
  const ending = count === 1 ? '' : noun.endsWith('s') ? 'es' : 's';
  return `${grouped(count)} ${noun}${ending}`;
}

/** `3 blocks ago` */
export function blocksAgo(age: number): string {
  return age === 0 ? 'in the latest block' : `${countText(age, 'block')} ago`;
}

/** `−1.2M`; `5.79e76` from a quadrillion. */
export function compact(value: number): string {
  const text = Math.abs(value) < 1e15 ? COMPACT.format(value) : scientific(value, 2);
  return text.replace('-', '−');
}

/** Programs read it too, and no font lacks its characters, as many do the superscript minus. */
function scientific(value: number, digits: number): string {
  return value.toExponential(digits).replace('+', '');
}

/** `12.3 %`; `< 0.01 %` for a tiny non-zero share. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0001) return '< 0.01 %';
  return `${new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }).format(share * 100)} %`;
}

/** `1.5 GiB` */
export function byteSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return (
    `${new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 }).format(bytes / 1024 ** power)} ` +
    `${units[power]}`
  );
}

/** The two largest units of a duration: `3 d 4 h`, `12 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  const [large, name, small, smallName] =
    whole < HOUR
      ? ([MINUTE, 'min', 1, 's'] as const)
      : whole < DAY
        ? ([HOUR, 'h', MINUTE, 'min'] as const)
        : whole < 365 * DAY
          ? ([DAY, 'd', HOUR, 'h'] as const)
          : ([365 * DAY, 'y', DAY, 'd'] as const);
  const rest = Math.floor((whole % large) / small);
  return `${grouped(Math.floor(whole / large))} ${name}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/**
 * `3 min ago`: one unit, so that a column of them reads at a glance. `in 3 y` for a block from the future: then this
 * machine's clock is wrong, or the chain's is.
 */
export function ago(iso: string, now = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  const isAhead = seconds < -MINUTE; // less is no fault of a clock
  const [number, unit] = duration(isAhead ? -seconds : seconds).split(' ');
  return isAhead ? `in ${number} ${unit}` : `${number} ${unit} ago`;
}

/** `2026-11-21 08:00:00` */
export function dateTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** Time of a block as sent by the node, in hexadecimal seconds. */
export function hexTime(seconds: string): string {
  return new Date(Number(seconds) * 1000).toISOString();
}

/** Exact decimal text of an integer count of units: (`1500000`, 6) is `1.5`. */
export function unitsToText(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
}

/**
 * A decimal text for a table: grouped, truncated to four fractional digits; an amount that would appear as zero keeps
 * its first two digits. Above 12 digits `987.6T`, below as many places `1.0e-18`.
 */
export function shortAmount(text: string): string {
  const sign = text.startsWith('-') ? '−' : '';
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  if (whole.length > MAX_DIGITS) return sign + compact(Number(whole));
  const first = fraction.search(/[1-9]/);
  if (whole === '0' && first >= MAX_DIGITS) return sign + scientific(Number(`0.${fraction}`), 1);
  const digits =
    whole === '0' && first >= FRACTION ? first + 2 : Math.min(FRACTION, MAX_DIGITS - whole.length);
  const kept = fraction.slice(0, digits).replace(/0+$/, '');
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${kept && `.${kept}`}`;
}

/** `1.5 DEMO`; `1,500 units DEMO` while the decimals are unknown. */
export function unitsText(
  units: string,
  decimals: number | null,
  symbol: string | null,
  most?: number,
): string {
  const amount = shortAmount(unitsToText(BigInt(units), decimals ?? 0));
  return [amount, ...(decimals === null ? ['units'] : []), safeName(symbol ?? '', most)].join(' ').trim();
}

/** `0x3f5ce5…36f0be` */
export function shortHex(hex: string): string {
  return hex.length <= 16 ? hex : `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

/**
 * A name from an untrusted source, made safe to show: without control or invisible characters, direction marks, or
 * stacked accents, and at most `most` characters long.
 */
export function safeName(name: string, most = 16): string {
  const clean = name
    .replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .replace(/\s+/gu, ' ')
    .replace(/(\p{M}{2})\p{M}+/gu, '$1')
    .trim();
  const characters = [...clean];
  return characters.length <= most ? clean : `${characters.slice(0, most - 1).join('')}…`;
}

/** A token's number, shortened. */
export function shortId(id: string): string {
  return id.length > 12 ? `${id.slice(0, 6)}…${id.slice(-4)}` : id;
}

/** `ERC-20` */
export function kindText(kind: string): string {
  return TRANSFER_KINDS.find(({ name }) => name === kind)?.label ?? kind;
}
