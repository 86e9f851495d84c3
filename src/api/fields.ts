/** Building blocks of answer schemas: the formats of values, as the OpenAPI document shows them. */
import { z } from 'zod';
import { QUALITY_NAMES } from '../store/quality.ts';
import { TRANSFER_KIND_NAMES } from '../types.ts';
import { TOKEN_TYPES } from './values.ts';

/** An address, in lower case. */
export function addressField() {
  return z.string().regex(/^0x[0-9a-f]{40}$/);
}

export function txHashField() {
  return z.string().regex(/^0x[0-9a-f]{64}$/);
}

/** A time in ISO 8601, UTC with milliseconds. */
export function timeField() {
  return z.string().meta({ format: 'date-time' });
}

/** An exact number of whole coins, without trailing zeros. */
export function coinField() {
  return z
    .string()
    .regex(/^\d+(\.\d{0,17}[1-9])?$/)
    .describe('Whole coins, exact, up to 18 fractional digits');
}

/** Coins with six fractional digits, the rest cut off. */
export function coin6Field() {
  return z
    .string()
    .regex(/^\d+\.\d{6}$/)
    .describe('Whole coins with 6 fractional digits, cut and not rounded');
}

/** A number of wei. */
export function weiField() {
  return z.string().regex(/^\d+$/).describe('Wei');
}

/** A number of a token's units, or of wei for a native transfer. */
export function unitsField() {
  return z.string().regex(/^\d+$/).describe('Base units: wei, or the units of the token');
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

export function tokenTypeField() {
  return z.enum(TOKEN_TYPES);
}

/** Whether native coins came by a transaction or by a call within one. */
export function sourceField() {
  return z
    .enum(['direct', 'internal'])
    .describe('direct: a transaction with value; internal: a call within one');
}

/** How far balances summed from transfers agree with those of the contract. */
export function qualityField() {
  return z
    .enum(QUALITY_NAMES)
    .nullable()
    .describe(
      'exact: they equal what the contract says, as far as it was asked; partial: history before the start of the index is missing; unreliable: balances move without transfers (rebasing, fee on transfer); null: not examined yet',
    );
}
