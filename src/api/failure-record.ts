/** Why a transaction failed, from what the node says when it runs it again. */
import * as z from 'zod';
import type { DecodedArg } from '../abi/decode.ts';
import type { Signatures } from '../abi/signatures.ts';
import { cutHex, type DecodedRecord, decodedRecord, decodedSchema, hexField } from './decoded-fields.ts';
import type { NodeReplay } from './node-transaction.ts';

/** Most characters of a reason. */
const MAX_REASON = 500;

/** Most bytes given of what was returned. */
const SHOWN_BYTES = 4 * 1024;

/** The codes of Solidity's Panic. */
const PANICS: Record<string, string> = {
  '0': 'a panic of the compiler',
  '1': 'an assertion failed',
  '17': 'an arithmetic overflow or underflow',
  '18': 'a division by zero',
  '33': 'a value that is no member of its enum',
  '34': 'a byte array in storage is encoded wrongly',
  '49': 'pop of an empty array',
  '50': 'an index outside of its array',
  '65': 'too much memory',
  '81': 'a call of an uninitialised function',
};

export const failureSchema = z
  .object({
    kind: z
      .enum(['message', 'panic', 'custom_error', 'no_reason', 'out_of_gas', 'other'])
      .nullable()
      .describe(
        'message: a text of the contract; panic: a check of the compiler; custom_error: an error of the ' +
          "contract; no_reason: reverted without data; other: in the node's words. Null while unknown",
      ),
    reason: z.string().nullable().describe('In words; null while unknown'),
    error: decodedSchema.nullable().describe('What was returned, decoded; null where nothing was'),
    data: hexField().nullable().describe('What was returned, at most 4 KB of it; null while unknown'),
    unknownReason: z.string().nullable().describe('Why the reason is not known; null where it is'),
  })
  .describe(
    'Of a failed transaction: how it fails when it is run again on the state before its block, which can ' +
      'differ from how it failed within its block',
  )
  .meta({ id: 'TransactionFailure' });

type FailureRecord = z.output<typeof failureSchema>;

export function failureRecord(
  replay: NodeReplay | null,
  signatures: Pick<Signatures, 'decodeError'>,
): FailureRecord {
  const { data, words, problem } = replay ?? { data: null, words: null, problem: 'it was not run again' };
  const hex = data?.hex ?? null;
  const returned = { data: hex && cutHex(hex, SHOWN_BYTES), unknownReason: problem };
  const error = hex === null ? null : decodedRecord(hex, signatures.decodeError(hex));
  const told = error === null ? inWords(words ?? '') : ofError(error);
  if (problem !== null) return { kind: null, reason: null, error, ...returned };
  return { kind: told.kind, reason: told.reason.slice(0, MAX_REASON), error, ...returned };
}

interface Told {
  kind: NonNullable<FailureRecord['kind']>;
  reason: string;
}

function ofError({ selector, name, signature, args }: DecodedRecord): Told {
  const [first] = args ?? [];
  if (signature === 'Error(string)' && first !== undefined)
    return { kind: 'message', reason: String(first.value) };
  if (signature === 'Panic(uint256)' && first !== undefined) {
    const code = String(first.value);
    const meaning = PANICS[code] ?? 'a code without a meaning';
    return { kind: 'panic', reason: `${meaning} (panic 0x${BigInt(code).toString(16).padStart(2, '0')})` };
  }
  const shown = args === null ? '' : `(${args.map(argText).join(', ')})`;
  return { kind: 'custom_error', reason: name === null ? `custom error ${selector}` : `${name}${shown}` };
}

/** What a node says without data. */
function inWords(words: string): Told {
  if (/out ?of ?gas/i.test(words)) return { kind: 'out_of_gas', reason: 'out of gas' };
  const [, message] = /^(?:vm exception[^:]*: )?(?:execution )?revert(?:ed)?:? ?(.*)$/i.exec(words) ?? [];
  if (message === undefined) return { kind: 'other', reason: words };
  return message === ''
    ? { kind: 'no_reason', reason: 'reverted without a reason' }
    : { kind: 'message', reason: message };
}

/** One argument in a line of words. Objects need not be told: reasons are cut, and `error` has all of it. */
function argText({ name, value }: Pick<DecodedArg, 'name'> & { value: unknown }): string {
  const text = typeof value === 'object' ? '…' : String(value);
  return name === '' ? text : `${name}: ${text}`;
}
