/** The events of a transaction, decoded. */
import * as z from 'zod';
import { MAX_DECODED_BYTES } from '../abi/decode.ts';
import type { Signatures } from '../abi/signatures.ts';
import { addressField, countField, txHashField } from '../schemas/fields.ts';
import {
  argsField,
  cutHex,
  fieldsOf,
  hexField,
  SHOWN_EVENT_BYTES,
  signatureFields,
} from './decoded-fields.ts';
import type { NodeLog } from './node-transaction.ts';

export const eventSchema = z
  .object({
    logIndex: z.int().min(0).nullable().describe('Position in the block; null where the node leaves it out'),
    address: addressField().describe('The contract that emitted it'),
    ...signatureFields(),
    args: argsField(),
    topics: z.array(txHashField()),
    data: hexField().describe(`At most ${SHOWN_EVENT_BYTES / 1024} KB of it`),
    dataBytes: countField().describe('Length of the data'),
  })
  .meta({ id: 'DecodedEvent' });

type EventRecord = z.output<typeof eventSchema>;

/** What all events of an answer decode is bounded together. */
export function eventRecords(
  logs: readonly NodeLog[],
  signatures: Pick<Signatures, 'decodeEvent'>,
): EventRecord[] {
  let decodedBytes = 0;
  return logs.map(({ logIndex, address, topics, data }) => {
    decodedBytes += data.bytes;
    const isWhole = data.hex.length === 2 + 2 * data.bytes;
    const mayDecode = isWhole && decodedBytes <= MAX_DECODED_BYTES;
    return {
      logIndex,
      address,
      ...fieldsOf(mayDecode ? signatures.decodeEvent(topics, data.hex) : null),
      topics,
      data: cutHex(data.hex, SHOWN_EVENT_BYTES),
      dataBytes: data.bytes,
    };
  });
}
