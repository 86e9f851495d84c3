/** The calls within a call, in answers. */
import * as z from 'zod';
import { newDecodeBudget } from '../abi/decode.ts';
import { type InnerCall, innerCallsOf } from '../abi/inner-calls.ts';
import type { Decoded, Signatures } from '../abi/signatures.ts';
import { weiToCoin } from '../lib/units.ts';
import { addressField, coinField, countField, weiField } from '../schemas/fields.ts';
import { decodedRecord, decodedSchema } from './decoded-fields.ts';

/** Most calls that are given, and how deep they may lie within each other. */
const MOST_CALLS = 100;
const MOST_DEPTH = 4;

const innerCallSchema = z
  .object({
    depth: countField().describe('1 for a call of the method, 2 for a call within that, and so on'),
    to: addressField(),
    value: coinField().nullable().describe('Null where the form of the call does not say'),
    valueWei: weiField().nullable(),
    method: decodedSchema.nullable().describe('What it calls; null for a plain payment'),
  })
  .meta({ id: 'InnerCall' });

type InnerCallRecord = z.output<typeof innerCallSchema>;

export function innerCallFields() {
  return {
    calls: z
      .array(innerCallSchema)
      .nullable()
      .describe(
        'The calls within the method in order, from its arguments, whether they succeeded or not: those of ' +
          'a multicall, a batch of an account, a Safe and the like, each followed by the calls within it. The first ' +
          `${MOST_CALLS}; null for a method of another form`,
      ),
    callsTruncated: z.boolean().describe('Whether calls leaves some out'),
  };
}

interface InnerCalls {
  calls: InnerCallRecord[] | null;
  callsTruncated: boolean;
}

/** `to`: the contract that is called. */
export function innerCallRecords(
  to: string | null,
  method: Decoded | null,
  signatures: Pick<Signatures, 'decodeMethod' | 'methodOf'>,
): InnerCalls {
  const calls: InnerCallRecord[] = [];
  const budget = newDecodeBudget();
  let isCut = false;
  const decode = (data: string): Decoded | null => {
    if (!data.endsWith('…')) return signatures.decodeMethod(data, budget);
    const method = signatures.methodOf(data.slice(0, 10));
    return method && { ...method, args: null };
  };
  const add = (inner: readonly InnerCall[], caller: string, depth: number): void => {
    for (const { to, value, data } of inner) {
      if (calls.length === MOST_CALLS) {
        isCut = true;
        return;
      }
      const receiver = to ?? caller;
      const decoded = decode(data);
      calls.push({
        depth,
        to: receiver,
        value: value && weiToCoin(value),
        valueWei: value,
        method: decodedRecord(data, decoded),
      });
      if (decoded === null) continue;
      const next = innerCallsOf(decoded);
      if (next.length > 0 && depth === MOST_DEPTH) isCut = true;
      else add(next, receiver, depth + 1);
    }
  };
  if (to !== null && method !== null) add(innerCallsOf(method), to, 1);
  return { calls: calls.length === 0 ? null : calls, callsTruncated: isCut };
}
