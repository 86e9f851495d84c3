/** Blocks of the node's chain, read from its notifications and answers. */
import { UpstreamError } from '../lib/errors.ts';
import { spelledNumber } from '../lib/hex.ts';
import type { RpcClient } from '../node/client.ts';
import { type BlockHeader, fetchHeader, headerCall, readBlock, readBlockHeader } from '../node/methods.ts';
import { jsonOf, readQuantity } from '../node/reply.ts';

/** Blocks per request. */
const BLOCKS_PER_FETCH = 16;
/** Attempts to get a block that another node behind the same address must have. */
const MAX_TRIES = 4;

export class ChainReader {
  private readonly client: RpcClient;
  /** Members of the last announced header. A node upgrade may add some. */
  private members: ReadonlySet<string> | null = null;

  constructor(client: RpcClient) {
    this.client = client;
  }

  /**
   * The number of an announced header, whose members are remembered. Some nodes announce a hash that is not the block's
   * (Cosmos chains), so the block itself must be fetched. Throws UpstreamError `malformed`.
   */
  readAnnounced(value: unknown): number {
    const header = readBlock(value, 'newHeads');
    const number = readQuantity(header.number, 'newHeads', 'number');
    this.members = new Set([...HEADER_MEMBERS, ...Object.keys(header)]);
    return number;
  }

  /** The block of a number or tag. Rejects with UpstreamError, `inconsistent` when the node lacks it now. */
  async fetchBlock(id: 'latest' | number, signal: AbortSignal): Promise<ChainBlock> {
    const { method, params } = headerCall(id);
    return this.read(await this.client.call(method, params, signal), id);
  }

  /**
   * The hash of the block at a height, empty when no node behind the address has it now. Rejects with UpstreamError.
   */
  async fetchHash(number: number, signal: AbortSignal): Promise<string> {
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const header = await fetchHeader(this.client, number, signal);
      if (header !== null) return header.hash;
    }
    return '';
  }

  /** The blocks of a range, inclusive, in order, one batch at a time. Rejects with UpstreamError. */
  async *fetchRange(from: number, to: number, signal: AbortSignal): AsyncGenerator<ChainBlock, void, void> {
    for (let first = from; first <= to; first += BLOCKS_PER_FETCH) {
      const count = Math.min(BLOCKS_PER_FETCH, to - first + 1);
      const numbers = Array.from({ length: count }, (_, i) => first + i);
      const replies = await this.client.batch(numbers.map(headerCall), signal);
      for (const [i, reply] of replies.entries()) {
        if ('error' in reply) throw reply.error;
        yield this.read(reply.result, first + i);
      }
    }
  }

  /** The `count` blocks before `head`, oldest first; fewer if the node does not have them as one chain. */
  async fetchAncestors(head: ChainBlock, count: number, signal: AbortSignal): Promise<ChainBlock[]> {
    const first = Math.max(0, head.number - count);
    const numbers = Array.from({ length: head.number - first }, (_, i) => first + i);
    const replies = await this.client.batch(numbers.map(headerCall), signal);
    const chain = [head];
    for (const [i, reply] of [...replies.entries()].reverse()) {
      const child = chain[0] ?? head;
      const fetched =
        'error' in reply || reply.result === null ? null : this.read(reply.result, numbers[i] ?? 0);
      const block = fetched?.hash === child.parentHash ? fetched : await this.fetchParent(child, signal);
      if (block === null) break;
      chain.unshift(block);
    }
    return chain.slice(0, -1);
  }

  /** The parent of a block, which a lagging node may lack; null when no node has it now. */
  private async fetchParent(child: ChainBlock, signal: AbortSignal): Promise<ChainBlock | null> {
    const { method, params } = headerCall(child.number - 1);
    for (let attempt = 1; attempt < MAX_TRIES; attempt++) {
      const value = await this.client.call(method, params, signal);
      const block = value === null ? null : this.read(value, child.number - 1);
      if (block?.hash === child.parentHash) return block;
    }
    return null;
  }

  private read(value: unknown, id: 'latest' | number): ChainBlock {
    const block = readFetchedBlock(value, 'eth_getBlockByNumber', this.members);
    if (id !== 'latest' && block.number !== id) {
      throw new UpstreamError('inconsistent', `requested block ${id}, got ${block.number}`);
    }
    return block;
  }
}

/** Deepest reorg that is followed: deeper than any seen on a chain, and over a minute of the fastest one. */
export const MAX_REORG_DEPTH = 256;

export interface ChainBlock extends Readonly<BlockHeader> {
  /** The header as sent by the node, JSON. */
  readonly json: string;
  /** Whether the header's bloom has bits. Monad may announce a block before it has computed the bloom. */
  readonly hasLogs: boolean;
  /** Whether the block used no gas, and so has no transactions and no logs. */
  readonly isEmpty: boolean;
  orphaned: boolean;
}

/** Members that every announced header has. */
const HEADER_MEMBERS = ['number', 'hash', 'parentHash'];
/** Members of an `eth_getBlockByNumber` answer that are not part of the header. */
const BODY_MEMBERS = ['transactions', 'uncles', 'withdrawals'];

/**
 * Converts the answer of a block method into the shape of the node's own announcements: keeps only their members or,
 * while none has been seen (`members` null), everything but the block's body. Throws UpstreamError; `inconsistent` when
 * the node lacks the block now.
 */
export function readFetchedBlock(
  value: unknown,
  what: string,
  members: ReadonlySet<string> | null,
): ChainBlock {
  if (value === null)
    throw new UpstreamError('inconsistent', `${what}: the node does not have this block now`);
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
    isEmpty: spelledNumber(gasUsed) === 0,
    orphaned: false,
  };
}
