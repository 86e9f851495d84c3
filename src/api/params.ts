/**
 * Building blocks of parameter schemas. Query parameters arrive as text; each error message continues a sentence that
 * starts with the parameter's name.
 */
import * as z from 'zod';
import type { Hex } from '../lib/hex.ts';
import { isoToMilliseconds } from '../lib/time.ts';
import { coinToWei } from '../lib/units.ts';
import { ADDRESS_PATTERN } from '../model/address.ts';
import { integerOf, MAX_INTEGER, MAX_TEXT, MIN_INTEGER, textFault } from '../model/named-query.ts';
import { COINS_PATTERN } from '../model/stream-filters.ts';
import { errorCodes } from './endpoint.ts';

/** The OpenAPI type of query parameters, which are parsed from text. */
export const openApiTypes = z.registry<OpenApiType>();

interface OpenApiType {
  type: 'integer' | 'number' | 'boolean';
  minimum?: number;
  maximum?: number;
}

const ADDRESS_RULE = 'must be an address: 0x and 40 hex digits';

/** `rule` continues a sentence that starts with the parameter's name. */
function requiredText(rule: string) {
  return z.string({ error: (issue) => (issue.input === undefined ? `is required; it ${rule}` : rule) });
}

// A text has a title: what kind of text it is, in the words of the documentation.

/** An address in any case, left as sent. */
export function addressAsSent() {
  return requiredText(ADDRESS_RULE)
    .regex(ADDRESS_PATTERN, { error: ADDRESS_RULE })
    .meta({ title: 'address' })
    .describe('0x and 40 hex digits; upper and lower case are accepted')
    .register(errorCodes, { code: 'invalid_address' });
}

/** An address, converted to lower case. */
export function address() {
  return addressAsSent().toLowerCase();
}

/** Up to `max` addresses, separated by commas. */
export function addressList(max: number) {
  const error = `must be up to ${max} addresses of 0x and 40 hex digits, separated by commas`;
  const pattern = new RegExp(`^0x[0-9a-fA-F]{40}(,0x[0-9a-fA-F]{40}){0,${max - 1}}$`);
  return requiredText(error)
    .regex(pattern, { error })
    .meta({ title: `list of up to ${max} addresses, separated by commas` })
    .transform((text) => text.toLowerCase().split(','))
    .register(errorCodes, { code: 'invalid_address' });
}

/** Up to `max` selectors of functions, separated by commas. */
export function selectorList(max: number) {
  const error = `must be up to ${max} selectors of 0x and 8 hex digits, separated by commas`;
  return requiredText(error)
    .regex(new RegExp(`^0x[0-9a-fA-F]{8}(,0x[0-9a-fA-F]{8}){0,${max - 1}}$`), { error })
    .meta({ title: `list of up to ${max} selectors, separated by commas` })
    .transform((text) => [...new Set(text.toLowerCase().split(','))]);
}

/** The address of a token, converted to lower case; null for `native`. */
export function asset() {
  const rule = 'must be native, or the address of a token: 0x and 40 hex digits';
  return z
    .string({ error: rule })
    .regex(/^(native|0x[0-9a-fA-F]{40})$/, { error: rule })
    .meta({ title: 'address, or native' })
    .transform((text): Hex | null => (text === 'native' ? null : `0x${text.slice(2).toLowerCase()}`))
    .register(errorCodes, { code: 'invalid_address' });
}

/** A transaction or block hash, converted to lower case. */
export function hash() {
  const rule = 'must be a hash: 0x and 64 hex digits';
  return requiredText(rule)
    .regex(/^0x[0-9a-fA-F]{64}$/, { error: rule })
    .meta({ title: 'hash' })
    .transform((text): Hex => `0x${text.slice(2).toLowerCase()}`);
}

/** A block by number or hash. */
export function blockId() {
  const rule = 'must be a block number or a block hash of 0x and 64 hex digits';
  return requiredText(rule)
    .regex(/^(\d{1,15}|0x[0-9a-fA-F]{64})$/, { error: rule })
    .meta({ title: 'block number or hash' })
    .transform((text): number | Hex =>
      text.startsWith('0x') ? `0x${text.slice(2).toLowerCase()}` : Number(text),
    );
}

/** A block of the index by number, of which the answer is 404 or 503 where the index lacks it. */
export function indexedBlock() {
  const error = 'must be a block number';
  return z
    .string({ error })
    .regex(/^\d{1,15}$/, { error })
    .meta({ title: 'block number' })
    .transform(Number);
}

/** The text of a search field. */
export function searchText() {
  const error = 'must be a text of 1 to 100 characters';
  return requiredText(error)
    .trim()
    .min(1, { error })
    .max(100, { error })
    .meta({ title: '1 to 100 characters' });
}

/** A list of 1 to `max` items in a JSON body. */
export function listOf<T extends z.ZodType>(item: T, max: number) {
  const error = `must be a list of 1 to ${max} items`;
  return z.array(item, { error }).min(1, { error }).max(max, { error });
}

export function limit(byDefault: number, max: number) {
  return integer(1, max).default(byDefault).describe('Maximum number of records');
}

export function blockWindow() {
  return integer(1, 1_000_000)
    .default(10_000)
    .describe('Number of blocks to search, counted back from and including the last indexed block');
}

export function blockNumber() {
  return integer(0, Number.MAX_SAFE_INTEGER);
}

/** The last id of the previous page. */
export function cursor() {
  return integer(1, Number.MAX_SAFE_INTEGER);
}

/** The `nextCursor` of the previous page: `parts` whole numbers, joined by dots. */
export function pageCursor(parts: number) {
  const error = 'must be the nextCursor of an earlier page';
  return z
    .string({ error })
    .regex(new RegExp(`^\\d{1,15}(\\.\\d{1,15}){${parts - 1}}$`), { error })
    .meta({ title: 'cursor' })
    .describe('nextCursor of the previous page')
    .transform((text) => text.split('.').map(Number));
}

/** The `nextCursor` of the previous page: an amount in base units and an id, joined by a dot. */
export function amountCursor() {
  return amountCursorThat(/^\d{1,80}\.\d{1,15}$/);
}

/** The same, where the amount may be below zero. */
export function signedAmountCursor() {
  return amountCursorThat(/^-?\d{1,80}\.\d{1,15}$/);
}

function amountCursorThat(pattern: RegExp) {
  const error = 'must be the nextCursor of an earlier page';
  return z
    .string({ error })
    .regex(pattern, { error })
    .meta({ title: 'cursor' })
    .describe('nextCursor of the previous page')
    .transform((text) => {
      const [amount = '', id] = text.split('.');
      return { amount: BigInt(amount), id: Number(id) };
    });
}

/** One or more of `words`, separated by commas. */
export function choices<const T extends string>(words: readonly T[]) {
  const word = `(${words.join('|')})`;
  return z
    .string()
    .regex(new RegExp(`^${word}(,${word})*$`), {
      error: `must be a list of ${words.join(', ')}, separated by commas`,
    })
    .meta({ title: `list of ${words.join(', ')}, separated by commas` })
    .transform((text) => words.filter((word) => text.split(',').includes(word)));
}

const TIME_PATTERN = /^(\d{1,11}|\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?)$/;

/** A time as Unix seconds, or as ISO 8601 with a time zone; a date alone is midnight UTC. Parses to Unix seconds. */
export function time() {
  const error = 'must be Unix seconds or a time such as 2026-11-21T08:00:00Z';
  return z
    .string({ error })
    .regex(TIME_PATTERN, { error })
    .meta({ title: 'time' })
    .transform((text) => (/^\d{1,11}$/.test(text) ? Number(text) : isoToMilliseconds(text) / 1000))
    .refine((seconds) => !Number.isNaN(seconds), { error });
}

const TIME_FORM =
  'Unix seconds or ISO 8601. The time is that of the latest timestamp up to the block, as timestamps fall ' +
  'on some chains';

/** The filter of a list by time. */
export function timeFilter(records: string) {
  return {
    since: time().optional().describe(`Only ${records} at this time or later: ${TIME_FORM}`),
    until: time().optional().describe(`Only ${records} at this time or earlier: ${TIME_FORM}`),
  };
}

export function choice<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

/** `true` or `false`. */
export function flag() {
  return choice(['true', 'false'])
    .transform((word) => word === 'true')
    .register(openApiTypes, { type: 'boolean' });
}

/** An amount in whole coins, parsed as a number and as wei, rounded up. */
export function coinAmount() {
  const error = 'must be a decimal number of at least 0, with at most 30 digits on either side of the point';
  return z
    .string({ error })
    .regex(COINS_PATTERN, { error })
    .transform((text) => ({ coins: Number(text), wei: coinToWei(text) }))
    .register(openApiTypes, { type: 'number', minimum: 0 });
}

/** An amount in base units. */
export function baseUnits() {
  const error = 'must be a whole number of base units, in at most 78 digits';
  return z
    .string({ error })
    .regex(/^\d{1,78}$/, { error })
    .meta({ title: 'whole number of base units' })
    .transform(BigInt);
}

/** The number of an ERC-721 or ERC-1155 token within its contract. */
export function tokenNumber() {
  const error = 'must be a token id: a whole number, in at most 78 digits';
  return z
    .string({ error })
    .regex(/^\d{1,78}$/, { error })
    .meta({ title: 'token id' })
    .transform(BigInt);
}

/** An integer from `min` to `max`, inclusive. */
export function integer(min: number, max: number) {
  const error =
    max === Number.MAX_SAFE_INTEGER
      ? `must be an integer of at least ${min}`
      : `must be an integer from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^\d{1,16}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .register(openApiTypes, {
      type: 'integer',
      minimum: min,
      ...(max !== Number.MAX_SAFE_INTEGER && { maximum: max }),
    });
}

/** A whole number of 64 bits, as a bigint. */
export function wholeNumber(min: bigint, max: bigint) {
  const rule = `must be a whole number from ${min} to ${max}`;
  const isWithin = (value: bigint | null) => value !== null && value >= min && value <= max;
  const bounds = {
    ...(isSafe(min) && { minimum: Number(min) }),
    ...(isSafe(max) && { maximum: Number(max) }),
  };
  return requiredText(rule)
    .refine((text) => isWithin(integerOf(text)), { error: rule })
    .transform(BigInt)
    .register(openApiTypes, { type: 'integer', ...bounds });
}

function isSafe(value: bigint): boolean {
  return value > MIN_INTEGER && value < MAX_INTEGER && Number.isSafeInteger(Number(value));
}

/** Any text, as a value of SQL. */
export function plainText() {
  return requiredText('must be a text')
    .refine((text) => textFault(text) === null, { error: ({ input }) => textFault(String(input)) ?? '' })
    .meta({ title: 'text', maxLength: MAX_TEXT });
}
