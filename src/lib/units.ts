/** Amounts of the native coin as text. All functions are exact; none rounds. */

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

/** Wei of a decimal text such as `0.5`; digits beyond the 18th are dropped. The text must match `^\d+(\.\d*)?$`. */
export function coinToWei(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * WEI_PER_COIN + BigInt(fraction.slice(0, 18).padEnd(18, '0'));
}
