/** Headers that hash to their own hash. */
import { keccak256, toRlp } from 'viem/utils';
import type { JsonObject } from '../../../src/decode/read-json.ts';
import type { Hex } from '../../../src/lib/hex.ts';

/** A 32-byte value that repeats one byte. */
export const root = (byte: string): Hex => `0x${byte.repeat(32)}`;

/** Every field that the Amsterdam fork hashes, in its order, as bytes. */
const ENCODED: readonly (readonly [string, Hex, unknown?])[] = [
  ['parentHash', root('01')],
  ['sha3Uncles', root('02')],
  ['miner', `0x${'03'.repeat(20)}`],
  ['stateRoot', root('04')],
  ['transactionsRoot', root('05')],
  ['receiptsRoot', root('06')],
  ['logsBloom', `0x${'07'.repeat(256)}`],
  ['difficulty', '0x', '0x0'],
  ['number', '0x0fffff', '0xfffff'],
  ['gasLimit', '0x01c9c380', '0x1c9c380'],
  ['gasUsed', '0x5208'],
  ['timestamp', '0x6566d1a0'],
  ['extraData', '0x'],
  ['mixHash', root('08')],
  ['nonce', '0x0000000000000000'],
  ['baseFeePerGas', '0x07', '0x7'],
  ['withdrawalsRoot', root('09')],
  ['blobGasUsed', '0x', '0x0'],
  ['excessBlobGas', '0x', '0x0'],
  ['parentBeaconBlockRoot', root('0a')],
  ['requestsHash', root('0b')],
  ['blockAccessListHash', root('0c')],
  ['slotNumber', '0x', '0x0'],
];

/** A header with the first `count` fields, some of them changed, and the hash that they give. No transactions. */
export function headerOf(count = ENCODED.length, changed: Readonly<Record<string, Hex>> = {}): JsonObject {
  const fields = ENCODED.slice(0, count).map(([name, bytes, sent]) => {
    const other = changed[name];
    return other === undefined ? ([name, bytes, sent] as const) : ([name, other, other] as const);
  });
  const members = Object.fromEntries(fields.map(([name, bytes, sent]) => [name, sent ?? bytes]));
  return {
    ...members,
    hash: keccak256(toRlp(fields.map(([, bytes]) => bytes))),
    transactions: [],
    size: '0x1',
  };
}
