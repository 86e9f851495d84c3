/** Blocks of the node's chain as the streams know them, read from what the node says. */
import { UpstreamError } from '../errors.ts';
import { show } from '../lib/show.ts';
import type { Hex } from '../types.ts';
import { isObject, jsonOf, malformed } from '../upstream/reply.ts';
import { readHash, readQuantity } from '../upstream/shape.ts';

export interface ChainBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** The header as the node tells it, JSON. */
  readonly json: string;
  /** Whether the header says that the block has logs; false also where it says nothing. */
  readonly hasLogs: boolean;
  /** The chain went on without it. */
  orphaned: boolean;
}

/** Members of an `eth_getBlockByNumber` answer that are no part of a header. */
const BODY_MEMBERS = ['transactions', 'uncles', 'withdrawals'];

/** Reads a header that the node announced. Throws UpstreamError `malformed`. */
export function announcedBlock(value: unknown): ChainBlock {
  return readBlock(value, 'newHeads');
}

/**
 * Reads the answer of a block method, shaped like the node's own announcements: only their members are kept, or, as
 * long as none was seen (`members` null), all but the block's body. Throws UpstreamError; `inconsistent` when there
 * is no such block at present.
 */
export function fetchedBlock(value: unknown, what: string, members: ReadonlySet<string> | null): ChainBlock {
  if (value === null)
    throw new UpstreamError('inconsistent', `${what}: the node has no such block at present`);
  if (!isObject(value)) throw malformed(what, `result is ${show(value)}, not a block`);
  const kept = Object.entries(value).filter(([name]) => members?.has(name) ?? !BODY_MEMBERS.includes(name));
  return { ...readBlock(value, what), json: jsonOf(Object.fromEntries(kept), what) };
}

/** The names in a header, for `fetchedBlock`. */
export function membersOf(announced: unknown): ReadonlySet<string> | null {
  return isObject(announced) ? new Set(Object.keys(announced)) : null;
}

function readBlock(value: unknown, what: string): ChainBlock {
  if (!isObject(value)) throw malformed(what, `${show(value)} is not a header`);
  return {
    number: readQuantity(value.number, what, 'number'),
    hash: readHash(value.hash, what, 'hash'),
    parentHash: readHash(value.parentHash, what, 'parentHash'),
    json: jsonOf(value, what),
    hasLogs: typeof value.logsBloom === 'string' && /[1-9a-f]/i.test(value.logsBloom.slice(2)),
    orphaned: false,
  };
}
