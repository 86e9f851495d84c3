/**
 * Distinguishes an empty block from one whose transactions the node lacks. A Monad node has only the headers of blocks
 * before its state sync; a pruning node has only the headers of old blocks.
 */
import { type JsonObject, readItems, readObject } from '../decode/read-json.ts';
import { UpstreamError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import { quantityToNumber } from '../lib/hex.ts';
import type { RpcClient } from '../node/client.ts';
import { headerCall } from '../node/methods.ts';

/** keccak256(rlp('')), the root of an empty trie (Yellow Paper, appendix D). */
const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/** The hashed fields of a header, in order (Yellow Paper, 4.3). Forks appended the fields from baseFeePerGas on. */
const HEADER_FIELDS: readonly [name: string, form: 'bytes' | 'quantity'][] = [
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
  ['nonce', 'bytes'],
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
];

/**
 * Throws UpstreamError `inconsistent` for a block without transactions whose header proves that it had some: the header
 * hashes to the block's hash and has a receipts root. Gas alone proves nothing. If the header does not hash to the
 * block's hash, as on chains with other header fields, the node is trusted.
 */
export async function requireTransactions(
  client: RpcClient,
  blocks: readonly { number: number; block: JsonObject }[],
  signal?: AbortSignal,
): Promise<void> {
  const suspects = blocks.filter(({ block }) => mayLackTransactions(block));
  const replies = await client.batch(
    suspects.map(({ number }) => headerCall(number)),
    signal,
  );
  for (const [i, { number, block }] of suspects.entries()) {
    const reply = replies[i]!;
    if ('error' in reply) throw reply.error;
    const header = readObject(reply.result, 'block');
    if (header['hash'] !== block['hash'])
      throw new UpstreamError('inconsistent', `the node's block ${number} changed while it was read`);
    if ((await hashOfHeader(header)) === header['hash'])
      throw new UpstreamError(
        'inconsistent',
        `the node does not have the transactions of block ${number}, not yet or no longer`,
      );
  }
}

function mayLackTransactions(block: JsonObject): boolean {
  const { gasUsed, receiptsRoot } = block;
  if (gasUsed === undefined || receiptsRoot === undefined || receiptsRoot === EMPTY_TRIE_ROOT) return false;
  return readItems(block['transactions'], 'transactions').length === 0 && quantityToNumber(gasUsed) > 0;
}

/** The hash of a header; null when a usual field is missing. */
export async function hashOfHeader(header: JsonObject): Promise<string | null> {
  const { isHex, keccak256, toRlp } = await import('viem/utils'); // lazy: rarely needed, and large for a backfill worker
  const values: Hex[] = [];
  for (const [name, form] of HEADER_FIELDS) {
    const value = header[name];
    if (value === undefined || value === null) continue;
    if (!isHex(value)) return null;
    values.push(form === 'bytes' ? value : quantityBytes(value));
  }
  return keccak256(toRlp(values));
}

/** A quantity in RLP: the shortest big-endian bytes, none for zero. */
function quantityBytes(quantity: Hex): Hex {
  const digits = quantity.slice(2).replace(/^0+/, '');
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`;
}
