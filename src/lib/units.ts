/** Amounts of the native coin as text. Exact, except where a function says how it rounds. */

/** Decimals of the native coin on every chain. */
export const NATIVE_DECIMALS = 18;

/** One coin in wei. */
export const WEI_PER_COIN = 10n ** BigInt(NATIVE_DECIMALS);

/**
 * Whole coins with up to 18 fractional digits and no trailing zeros: 1500000000000000000n is `1.5`. Callers that also
 * show the wei pass their decimal text, because the conversion costs more than the rest.
 */
export function weiToCoin(wei: bigint | string): string {
  const digits = wei.toString().padStart(19, '0');
  const point = digits.length - 18;
  let end = digits.length;
  while (end > point && digits[end - 1] === '0') end--;
  const whole = digits.slice(0, point);
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`;
}

/** Whole coins truncated to exactly six fractional digits, as in whale records. */
export function weiToCoin6(wei: bigint): string {
  const micro = wei / 10n ** 12n;
  const digits = micro.toString().padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/**
 * Wei of a decimal text such as `0.5`. A fraction of a wei counts as a whole one, because thresholds are compared with
 * amounts: only the next wei is large enough. The text must match `^\d+(\.\d*)?$`.
 */
export function coinToWei(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  const wei = BigInt(whole) * WEI_PER_COIN + BigInt(fraction.slice(0, 18).padEnd(18, '0'));
  return /[1-9]/.test(fraction.slice(18)) ? wei + 1n : wei;
}

/** A number of at least 0 without an exponent: `1e-7` is `0.0000001`. */
export function decimalText(value: number): string {
  const [digits = '', exponent] = String(value).split('e');
  if (exponent === undefined) return digits;
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  if (shift < 0) return `0.${'0'.repeat(-shift - whole.length)}${whole}${fraction}`;
  return `${whole}${fraction.padEnd(shift, '0')}`;
}

/**
 * A part of a total above zero, cut after so many fractional digits. A part too small for them is not cut, so that only
 * nothing is 0.
 */
export function share(part: bigint, total: bigint, digits = 9): number {
  const perWhole = 10n ** BigInt(digits);
  const cut = (part * perWhole) / total;
  return cut === 0n ? Number(part) / Number(total) : Number(cut) / Number(perWhole);
}
