/** Queries that the operator wrote and keys may call by name, with values for their parameters. */

export const QUERY_PARAMETER_TYPES = ['address', 'integer', 'text'] as const;
export type QueryParameterType = (typeof QUERY_PARAMETER_TYPES)[number];

/** Parameters of the request itself, which no query can declare. */
export const RESERVED_PARAMETERS = ['api_key', 'cursor', 'format', 'limit', 'seen'];

/** Whole numbers of SQL: 64 bits. */
export const MIN_INTEGER = -(2n ** 63n);
export const MAX_INTEGER = 2n ** 63n - 1n;

/** Longest text that a parameter takes, in UTF-16 units: a list of two hundred addresses. */
export const MAX_TEXT = 10_000;

export type QueryValue = string | bigint | null;

export interface QueryParameter {
  name: string;
  type: QueryParameterType;
  description: string;
  /** Without a value in the request: refused, or `default`, which is null for NULL. */
  isRequired: boolean;
  default: QueryValue;
  /** Of an integer. */
  min: bigint;
  max: bigint;
}

export interface NamedQuery {
  name: string;
  sql: string;
  description: string;
  parameters: readonly QueryParameter[];
  /** The tiers whose keys may call it; empty for every key but the one that visitors share. */
  tiers: readonly string[];
  /** Most rows of an answer. */
  rows: number;
  timeoutMs: number;
}

/** A text with this fault cannot be a value; null for none. */
export function textFault(text: string): string | null {
  if (text.length > MAX_TEXT) return `must have at most ${MAX_TEXT} characters`;
  return text.includes('\0') || !text.isWellFormed() ? 'must be a text without NUL characters' : null;
}

/** The whole number that a text writes; null for any other text, and beyond 64 bits. */
export function integerOf(text: string): bigint | null {
  if (!/^-?\d{1,19}$/.test(text)) return null;
  const value = BigInt(text);
  return value < MIN_INTEGER || value > MAX_INTEGER ? null : value;
}
