/** Blocks fetched over HTTP, in the shape of those the node announces. */
import { UpstreamError } from '../errors.ts';
import { readBlock } from '../upstream/block-header.ts';
import type { RpcClient } from '../upstream/client.ts';
import { headerCall } from '../upstream/methods.ts';
import { type ChainBlock, readAnnouncedBlock, readFetchedBlock } from './chain-block.ts';

/** Blocks fetched with one request. */
const BLOCKS_PER_FETCH = 16;

export class ChainReader {
  private readonly client: RpcClient;
  /** Those of the last announced header: an upgrade of the node may add some. */
  private members: ReadonlySet<string> | null = null;

  constructor(client: RpcClient) {
    this.client = client;
  }

  /** Reads an announced header and remembers its members. Throws UpstreamError `malformed`. */
  readAnnounced(value: unknown): ChainBlock {
    const header = readBlock(value, 'newHeads');
    const block = readAnnouncedBlock(header);
    this.members = new Set(Object.keys(header));
    return block;
  }

  /** The block of a number or tag. Rejects with UpstreamError, `inconsistent` when the node has none now. */
  async fetchBlock(id: 'latest' | number, signal: AbortSignal): Promise<ChainBlock> {
    const { method, params } = headerCall(id);
    return this.read(await this.client.call(method, params, signal), id);
  }

  /** The blocks of a range, both ends included, in pieces and in order. Rejects with UpstreamError. */
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

  /** The `count` blocks before `head`, oldest first; fewer where the node does not have them as one chain. */
  async fetchAncestors(head: ChainBlock, count: number, signal: AbortSignal): Promise<ChainBlock[]> {
    const first = Math.max(0, head.number - count);
    const numbers = Array.from({ length: head.number - first }, (_, i) => first + i);
    const replies = await this.client.batch(numbers.map(headerCall), signal);
    const chain: ChainBlock[] = [];
    for (let i = replies.length - 1; i >= 0; i--) {
      const reply = replies[i];
      if (reply === undefined || 'error' in reply || reply.result === null) break;
      const block = this.read(reply.result, numbers[i] ?? 0);
      if (block.hash !== (chain[0] ?? head).parentHash) break;
      chain.unshift(block);
    }
    return chain;
  }

  private read(value: unknown, asked: 'latest' | number): ChainBlock {
    const block = readFetchedBlock(value, 'eth_getBlockByNumber', this.members);
    if (asked !== 'latest' && block.number !== asked) {
      throw new UpstreamError('inconsistent', `asked for block ${asked}, got ${block.number}`);
    }
    return block;
  }
}
