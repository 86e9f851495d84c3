/**
 * Labels in answers: `<field>Label` beside each labelled address. The answer's schema determines which fields hold
 * addresses, so no endpoint mentions labels. Without imported labels, answers cost and contain nothing more.
 */
import * as z from 'zod';
import type { Labels } from '../labels/labels.ts';
import { isObject } from '../lib/text.ts';
import { addressFields } from '../schemas/fields.ts';

/** Where a value contains addresses; null for nowhere. */
interface AddressPlan {
  /** Fields that are an address or null. */
  addresses: string[];
  /** Fields that contain addresses further down. */
  inner: [member: string, plan: AddressPlan][];
  /** The plan of each element of a list, or of each value of an object with arbitrary keys. */
  each: AddressPlan | null;
}

export function addressPlan(schema: z.core.$ZodType): AddressPlan | null {
  const bare = unwrap(schema);
  if (bare instanceof z.ZodArray) return planOfEach(bare.element);
  if (bare instanceof z.ZodRecord) return planOfEach(bare.valueType);
  if (!(bare instanceof z.ZodObject)) return null;
  const addresses = addressMembers(bare);
  const inner = Object.entries<z.core.$ZodType>(bare.shape).flatMap(
    ([member, value]): AddressPlan['inner'] => {
      const plan = addressPlan(value);
      return plan === null ? [] : [[member, plan]];
    },
  );
  return addresses.length + inner.length === 0 ? null : { addresses, inner, each: null };
}

function planOfEach(schema: z.core.$ZodType): AddressPlan | null {
  const each = addressPlan(schema);
  return each && { addresses: [], inner: [], each };
}

/** The fields of an object schema that hold addresses. */
export function addressMembers({ shape }: z.ZodObject): string[] {
  return Object.keys(shape).filter((member) => addressFields.has(unwrap(shape[member])));
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? unwrap(schema.unwrap())
    : schema;
}

/** Adds the labels to an answer. */
export function addLabels(answer: unknown, plan: AddressPlan, labels: Pick<Labels, 'of'>): void {
  if (Array.isArray(answer)) {
    for (const value of answer) if (plan.each !== null) addLabels(value, plan.each, labels);
  } else if (isObject(answer)) {
    if (plan.each !== null) for (const value of Object.values(answer)) addLabels(value, plan.each, labels);
    for (const member of plan.addresses) {
      const { [member]: address } = answer;
      const label = typeof address === 'string' ? labels.of(address) : undefined;
      if (label !== undefined) answer[`${member}Label`] = label;
    }
    for (const [member, inner] of plan.inner) addLabels(answer[member], inner, labels);
  }
}
