/** Pieces that parameter schemas are made of. Query parameters arrive as text; messages follow the parameter's name. */
import { z } from 'zod';
import { errorCodes } from './input.ts';

const ADDRESS_RULE = 'must be an address: 0x and 40 hex digits';

/** An address as it was sent, in any case. */
export function addressAsSent() {
  return z
    .string({ error: ADDRESS_RULE })
    .regex(/^0x[0-9a-fA-F]{40}$/, { error: ADDRESS_RULE })
    .register(errorCodes, { code: 'invalid_address' });
}

/** An address, lower case from here on. */
export function address() {
  return z
    .string({
      error: (issue) => (issue.input === undefined ? `is required; it ${ADDRESS_RULE}` : ADDRESS_RULE),
    })
    .regex(/^0x[0-9a-fA-F]{40}$/, { error: ADDRESS_RULE })
    .toLowerCase()
    .register(errorCodes, { code: 'invalid_address' });
}

/** A list of 1 to `max` items in a JSON body. */
export function listOf<T extends z.ZodType>(item: T, max: number) {
  const error = `must be a list of 1 to ${max} items`;
  return z.array(item, { error }).min(1, { error }).max(max, { error });
}

/** How many records to list. */
export function limit(byDefault: number, max: number) {
  return integer(1, max).default(byDefault);
}

/** A block number. */
export function blockNumber() {
  return integer(0, Number.MAX_SAFE_INTEGER);
}

/** An id that a page ended with. */
export function cursor() {
  return integer(1, Number.MAX_SAFE_INTEGER);
}

/** One of the given words. */
export function choice<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

/** `true` or `false`. */
export function flag() {
  return choice(['true', 'false']).transform((word) => word === 'true');
}

/** A whole number in decimal digits, both ends included. */
function integer(min: number, max: number) {
  const error =
    max === Number.MAX_SAFE_INTEGER
      ? `must be an integer from ${min} up`
      : `must be an integer from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^\d{1,16}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
}
