/** Significant digits of a price. */
const DIGITS = 18;

interface DecimalAmount {
  /** In base units. */
  amount: bigint;
  /** Null while unknown. */
  decimals: number | null;
}

/**
 * Whole units of the quote per whole token, as decimal text with 18 significant digits, cut, without zeros at the end.
 * Null where decimals are unknown or there is no amount of the token.
 */
export function priceText(quote: DecimalAmount, token: DecimalAmount): string | null {
  if (quote.decimals === null || token.decimals === null || token.amount === 0n) return null;
  return quotientText(
    quote.amount * 10n ** BigInt(token.decimals),
    token.amount * 10n ** BigInt(quote.decimals),
  );
}

function quotientText(numerator: bigint, denominator: bigint): string {
  if (numerator === 0n) return '0';
  // At least DIGITS digits, and one more at most.
  let scale = DIGITS + denominator.toString().length - numerator.toString().length;
  const scaled = (at: number) =>
    at >= 0 ? (numerator * 10n ** BigInt(at)) / denominator : numerator / (denominator * 10n ** BigInt(-at));
  let digits = scaled(scale).toString();
  if (digits.length > DIGITS) digits = scaled(--scale).toString();
  if (scale <= 0) return digits + '0'.repeat(-scale);
  const padded = digits.padStart(scale + 1, '0');
  const whole = padded.slice(0, -scale);
  const fraction = padded.slice(-scale).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
