/** Computes the hash of a header from its fields, which proves the header, and names what prevents it. */
import type { JsonObject } from '../decode/read-json.ts';
import { onOneLine } from '../lib/errors.ts';
import { type Hex, isSameHex, spelledQuantity } from '../lib/hex.ts';

/** `nonce`: eight bytes that some nodes send as a quantity. */
type FieldForm = 'bytes' | 'quantity' | 'nonce';

/**
 * The hashed fields of a header, in order (Yellow Paper, 4.3). Forks appended the fields from baseFeePerGas on. A field
 * that is left out differs from one that is zero.
 */
const HEADER_FIELDS: readonly (readonly [name: string, form: FieldForm])[] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'nonce'],
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
  ['blockAccessListHash', 'bytes'],
  ['slotNumber', 'quantity'],
];

/** Members of a node's answer about a block that are not hashed. */
const OTHER_MEMBERS = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author'];

const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  ...HEADER_FIELDS.map(([name]) => name),
  ...OTHER_MEMBERS,
]);

/** The hash of a header; null when a field has no bytes that could be hashed. */
export async function hashOfHeader(header: JsonObject): Promise<string | null> {
  const { keccak256, toRlp } = await import('viem/utils'); // lazy: rarely needed, and large for a backfill worker
  const values: Hex[] = [];
  for (const [name, form] of HEADER_FIELDS) {
    const value = header[name];
    if (value === undefined || value === null) continue;
    const encoded = ENCODERS[form](value);
    if (encoded === null) return null;
    values.push(encoded);
  }
  return keccak256(toRlp(values));
}

/** Whether a header hashes to the hash that the node gave with it. */
export async function isProvenHeader(header: JsonObject): Promise<boolean> {
  const hash = await hashOfHeader(header);
  return hash !== null && isSameHex(header['hash'], hash);
}

const BYTES = /^0x(?:[0-9a-f]{2})*$/;

const ENCODERS: Readonly<Record<FieldForm, (value: unknown) => Hex | null>> = {
  bytes: (value) => (typeof value === 'string' ? asHex(value.toLowerCase()) : null),
  quantity(value) {
    const digits = digitsOf(value);
    return digits === null ? null : asHex(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`);
  },
  nonce(value) {
    const digits = digitsOf(value);
    return digits === null ? null : asHex(`0x${digits.padStart(16, '0')}`);
  },
};

/** The digits of a quantity without leading zeros. */
function digitsOf(value: unknown): string | null {
  return spelledQuantity(value)?.slice(2).toLowerCase().replace(/^0+/, '') ?? null;
}

function asHex(text: string): Hex | null {
  return BYTES.test(text) ? `0x${text.slice(2)}` : null;
}

/** Most unknown members in a message, and characters of each. */
const MAX_NAMES = 5;
const MAX_NAME = 40;

/** Why the header of a block, which does not hash to its hash, may not. */
export function unprovenReason(header: JsonObject): string {
  const unknown = Object.entries(header).flatMap(([name, value]) =>
    KNOWN_MEMBERS.has(name) || value === null ? [] : [onOneLine(name.slice(0, MAX_NAME))],
  );
  if (unknown.length === 0) return 'its fields do not give its hash';
  const more = unknown.length > MAX_NAMES ? ` and ${unknown.length - MAX_NAMES} more` : '';
  return `it has fields that this program does not know (${unknown.slice(0, MAX_NAMES).join(', ')}${more})`;
}
