/**
 * Distinguishes an empty block from one whose transactions the node lacks. A Monad node has only the headers of blocks
 * before its state sync; a pruning node has only the headers of old blocks.
 */
import type { IncompleteBlock } from '../decode/block-checks.ts';
import { hashOfBlock, type JsonObject, readItems, readObject } from '../decode/read-json.ts';
import { UpstreamError } from '../lib/errors.ts';
import { isSameHex, spelledNumber } from '../lib/hex.ts';
import { anotherNode } from '../lib/setting-name.ts';
import type { RpcClient } from '../node/client.ts';
import { headerCall } from '../node/methods.ts';
import { isProvenHeader } from './header-hash.ts';

/** The node has no header, transactions or receipts of a block: not yet, or no longer. */
export class MissingPart extends UpstreamError {
  override name = 'MissingPart';
  /** `sent`: what it sent in its place. */
  constructor(part: string, number: number, sent = '') {
    super(
      'inconsistent',
      `the node does not have the ${part} of block ${number}${sent}, not yet or no longer; ${anotherNode()}`,
    );
  }
}

/** The node does not give the receipts of some transactions of a block. */
export class MissingReceipts extends UpstreamError {
  override name = 'MissingReceipts';
  readonly missing: MissingReceiptsFacts;

  constructor(missing: MissingReceiptsFacts) {
    super(missing.reason, missing.message);
    this.missing = missing;
  }
}

/** The same as threads pass it on. */
export interface MissingReceiptsFacts extends IncompleteBlock {
  hash: string;
  /** `inconsistent` where it has none of them, `rpc` where it refuses them. */
  reason: 'inconsistent' | 'rpc';
  /** Whether it gives the receipts of other transactions of the block. */
  hasOthers: boolean;
}

/** keccak256(rlp('')), the root of an empty trie (Yellow Paper, appendix D). */
const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

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
    if (hashOfBlock(header) !== hashOfBlock(block))
      throw new UpstreamError('inconsistent', `the node's block ${number} changed while it was read`);
    if (await isProvenHeader(header)) throw new MissingPart('transactions', number);
  }
}

function mayLackTransactions(block: JsonObject): boolean {
  const { gasUsed, receiptsRoot } = block;
  if (gasUsed === undefined || receiptsRoot === undefined || hasNoReceipts(block)) return false;
  return readItems(block['transactions'], 'transactions').length === 0 && spelledNumber(gasUsed) > 0;
}

/** Whether the header says that the block has no receipts. */
export function hasNoReceipts({ receiptsRoot }: JsonObject): boolean {
  return isSameHex(receiptsRoot, EMPTY_TRIE_ROOT);
}
