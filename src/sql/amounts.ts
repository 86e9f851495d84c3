/** Exact arithmetic with amounts as decimal text. */
import { QueryRefusal } from './query-refusal.ts';

/** Most decimals of a token: a contract may claim any number. */
const MAX_DECIMALS = 255;

/** Whole coins or tokens, exact and without trailing zeros. */
export function inUnits(amount: bigint, decimals: number): string {
  if (decimals === 0) return amount.toString();
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return sign + digits.slice(0, -decimals) + (fraction === '' ? '' : `.${fraction}`);
}

/** An integer given as text or as a number of SQLite. */
export function integerOf(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value);
  throw new QueryRefusal(`${what} takes integers as text or numbers, not ${shown(value)}`);
}

export function decimalsOf(value: unknown): number {
  const decimals = integerOf(value, 'units()');
  if (decimals >= 0n && decimals <= BigInt(MAX_DECIMALS)) return Number(decimals);
  throw new QueryRefusal(`units() takes 0 to ${MAX_DECIMALS} decimals, not ${decimals}`);
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value.length > 60 ? `${value.slice(0, 60)}...` : value}"`;
  if (typeof value === 'number' && Number.isInteger(value)) return 'a floating-point number';
  return value instanceof Uint8Array ? 'a blob' : String(value);
}
