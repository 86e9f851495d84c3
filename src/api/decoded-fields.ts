/** Decoded calls, events and errors in answers. */
import * as z from 'zod';
import type { Decoded } from '../abi/signatures.ts';

/** Most bytes of the data of an event that are given. */
export const SHOWN_EVENT_BYTES = 2 * 1024;

/** Most bytes of a transaction's input that are given. */
export const SHOWN_INPUT_BYTES = 64 * 1024;

export function selectorField() {
  return z.string().regex(/^0x[0-9a-f]{8}$/);
}

export function hexField() {
  return z.string().regex(/^0x([0-9a-f]{2})*$/);
}

const argSchema = z
  .object({
    name: z.string().describe('Empty where the declaration has none'),
    type: z.string().describe('The ABI type, such as uint256 or (address,uint256)[]'),
    value: z
      .union([z.string(), z.boolean(), z.array(z.unknown())])
      .describe(
        'Integers as decimal text, bytes and addresses as hex; bytes and texts over 4 KB end with an ' +
          'ellipsis. The items of an array; for a tuple the list of its arguments. Of an indexed value that does not ' +
          'fit a topic, its hash',
      ),
  })
  .meta({ id: 'DecodedArg' });

export type DecodedArgRecord = z.output<typeof argSchema>;

export function argsField() {
  return z
    .array(argSchema)
    .nullable()
    .describe('Null where the name is unknown, the data does not fit its declaration, or is too large');
}

export function signatureFields() {
  return {
    name: z
      .string()
      .nullable()
      .describe('Null while unknown: neither a standard nor an ABI file declares it'),
    signature: z.string().nullable().describe('What is hashed, such as transfer(address,uint256)'),
  };
}

/** A call or an error by its selector. */
export const decodedSchema = z
  .object({
    selector: selectorField().describe('The first four bytes of the data'),
    ...signatureFields(),
    args: argsField(),
  })
  .meta({ id: 'DecodedCall' });

export type DecodedRecord = z.output<typeof decodedSchema>;

/** Null for data that is shorter than a selector. */
export function decodedRecord(data: string, decoded: Decoded | null): DecodedRecord | null {
  if (data.length < 10) return null;
  return { selector: data.slice(0, 10), ...fieldsOf(decoded) };
}

/** The members of `signatureFields` and the arguments. */
export function fieldsOf(decoded: Decoded | null) {
  return {
    name: decoded?.name ?? null,
    signature: decoded?.signature ?? null,
    args: decoded?.args ?? null,
  };
}

/** Hex cut to a number of bytes. */
export function cutHex(hex: string, bytes: number): string {
  return hex.slice(0, 2 + 2 * bytes);
}
