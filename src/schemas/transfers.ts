/** The schemas of a transfer's records, made from its fields. */
import * as z from 'zod';
import {
  type Face,
  type FieldOf,
  type FieldType,
  fieldsOf,
  type TransferField,
} from '../model/transfer-fields.ts';
import {
  addressField,
  blockField,
  eventIndexField,
  kindField,
  timeField,
  txHashField,
  unitsField,
} from './fields.ts';

const TYPES = {
  id: () => z.int(),
  block: blockField,
  position: eventIndexField,
  integer: () => z.int(),
  hash: txHashField,
  address: addressField,
  kind: kindField,
  direction: () => z.enum(['in', 'out']),
  units: unitsField,
  number: () => z.string(),
  text: () => z.string(),
  time: timeField,
  mark: () => z.literal(true).optional(),
} as const satisfies { [T in FieldType]: () => z.ZodType };

type SchemaOf<F extends TransferField> = F extends { nullable: true }
  ? z.ZodNullable<ReturnType<(typeof TYPES)[F['type']]>>
  : ReturnType<(typeof TYPES)[F['type']]>;

type Shape<F extends Face> = { [Field in FieldOf<F> as Field['name']]: SchemaOf<Field> };

/** The fields of a face, for `z.object`. */
export function transferShape<F extends Face>(face: F): Shape<F>;
export function transferShape(face: Face): object {
  return Object.fromEntries(fieldsOf(face).map((field) => [field.name, schemaOf(field)]));
}

function schemaOf({ type, nullable, description }: TransferField): z.ZodType {
  const schema = nullable === true ? TYPES[type]().nullable() : TYPES[type]();
  return description === undefined ? schema : schema.describe(description);
}

export const transferSchema = z.object(transferShape('rest')).meta({ id: 'Transfer' });

/** A transfer of a block or transaction, without a wallet's point of view. */
export const plainTransferSchema = z.object(transferShape('plain')).meta({ id: 'PlainTransfer' });
