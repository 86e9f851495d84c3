/** Blocks of the node's chain as the streams use them, read from the node's messages. */
import { UpstreamError } from '../errors.ts';
import { type BlockHeader, readBlock, readBlockHeader } from '../upstream/block-header.ts';
import { jsonOf } from '../upstream/reply.ts';

export interface ChainBlock extends Readonly<BlockHeader> {
  /** The header as the node sends it, JSON. */
  readonly json: string;
  /** Whether the header's bloom has bits. Monad may announce a block before its bloom is made. */
  readonly hasLogs: boolean;
  /** Whether the block used no gas: then it has no transactions, and so no logs. */
  readonly isEmpty: boolean;
  /** It is no longer on the chain. */
  orphaned: boolean;
}

/** Members of an `eth_getBlockByNumber` answer that do not belong to the header. */
const BODY_MEMBERS = ['transactions', 'uncles', 'withdrawals'];

/** Reads a header that the node announced. Throws UpstreamError `malformed`. */
export function readAnnouncedBlock(header: Readonly<Record<string, unknown>>): ChainBlock {
  return chainBlock(header, header, 'newHeads');
}

/**
 * Reads the answer of a block method into the shape of the node's own announcements: keeps only their members or, while
 * none has been seen (`members` null), all but the block's body. Throws UpstreamError; `inconsistent` when the node has
 * no such block now.
 */
export function readFetchedBlock(
  value: unknown,
  what: string,
  members: ReadonlySet<string> | null,
): ChainBlock {
  if (value === null)
    throw new UpstreamError('inconsistent', `${what}: the node has no such block at present`);
  const block = readBlock(value, what);
  const kept = Object.entries(block).filter(([name]) => members?.has(name) ?? !BODY_MEMBERS.includes(name));
  return chainBlock(block, Object.fromEntries(kept), what);
}

function chainBlock(block: Readonly<Record<string, unknown>>, header: object, what: string): ChainBlock {
  const { logsBloom, gasUsed } = block;
  return {
    ...readBlockHeader(block, what),
    json: jsonOf(header, what),
    hasLogs: typeof logsBloom === 'string' && /[1-9a-f]/i.test(logsBloom.slice(2)),
    isEmpty: gasUsed === '0x0',
    orphaned: false,
  };
}
