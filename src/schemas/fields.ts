/** Building blocks of the schemas of records, with the value formats shown in the documents. */
import * as z from 'zod';
import { LABEL_CATEGORIES } from '../model/label.ts';
import { TOKEN_KIND_NAMES, TRANSFER_KIND_NAMES } from '../model/transfer-kind.ts';

/** Schemas of address fields. */
export const addressFields = z.registry<object>();

export const labelSchema = z
  .object({
    name: z.string(),
    category: z.enum(LABEL_CATEGORIES),
    source: z.string().describe('The list it was imported from'),
  })
  .describe('The label that the operator gave this address; absent without one')
  .meta({ id: 'Label' });

/** A lower-case address. */
export function addressField() {
  return z
    .string()
    .regex(/^0x[0-9a-f]{40}$/)
    .register(addressFields, {});
}

export function txHashField() {
  return z.string().regex(/^0x[0-9a-f]{64}$/);
}

/** Together with the transaction hash, the key of a transfer. */
export function eventIndexField() {
  return z
    .int()
    .min(0)
    .describe(
      'Position of the transfer within its transaction, from 0: the value of the transaction, then internal ' +
        'transfers, ' +
        'then token transfers by log; internal transfers count even if not listed. txHash and eventIndex together ' +
        'identify a transfer',
    );
}

/** An ISO 8601 time in UTC, with milliseconds. */
export function timeField() {
  return z.string().meta({ format: 'date-time' });
}

/** An exact amount in whole coins, without trailing zeros. */
export function coinField() {
  return z
    .string()
    .regex(/^\d+(\.\d{0,17}[1-9])?$/)
    .describe('Exact amount in whole coins, with up to 18 fractional digits');
}

/** Whole coins truncated to six fractional digits. */
export function coin6Field() {
  return z
    .string()
    .regex(/^\d+\.\d{6}$/)
    .describe('Whole coins, truncated (not rounded) to 6 fractional digits');
}

export function weiField() {
  return z.string().regex(/^\d+$/).describe('Amount in wei');
}

export function unitsField() {
  return z.string().regex(/^\d+$/).describe("Amount in base units: wei, or the token's smallest unit");
}

/** Amounts that can be below zero. */
export function signedField() {
  return z.string().regex(/^-?\d+$/);
}

export function countField() {
  return z.int().min(0);
}

export function blockField() {
  return z.int().min(0);
}

export function kindField() {
  return z.enum(TRANSFER_KIND_NAMES);
}

/** A token's name, symbol and decimals as its contract returns them. */
export function tokenNameFields() {
  return {
    name: z.string().nullable().describe('Null while unknown; symbol and decimals likewise'),
    symbol: z.string().nullable(),
    decimals: z.int().nullable(),
  };
}

export function tokenTypeField() {
  return z.enum(TOKEN_KIND_NAMES);
}

export function sourceField() {
  return z
    .enum(['direct', 'internal'])
    .describe('direct: the value of a transaction; internal: the value of a call inside one');
}

/** Start of the next page of a list. */
/** Of answers from what an index of an earlier release gets while it is served. */
export function completeToBlockField() {
  return z
    .int()
    .nullable()
    .describe(
      'The answer has all transfers up to this block. The last indexed block, except in the first hours ' +
        'after an update, while the index still lists older transfers; null at their start',
    );
}

export function nextCursorField() {
  return z.string().nullable().describe('Pass it as cursor to get the next page; null on the last page');
}

/** A part of a whole. */
export function shareField() {
  return z.number().min(0).max(1).describe('From 0 to 1; cut after 9 digits, but 0 only for nothing');
}

/** Whether an address has code. */
export function contractField() {
  return z
    .boolean()
    .nullable()
    .describe(
      'Whether the address is a contract; smart accounts are, delegations of EIP-7702 are not. Null until ' +
        'the node was asked, which happens soon after it was first listed',
    );
}
