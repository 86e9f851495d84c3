/**
 * Recent answers that still hold, in the node's own bytes: constants of the running node, and its newest head.
 * Announced heads are not used, because a node may announce blocks that it cannot serve yet (Monad does).
 */
import type { Call } from './call.ts';

/** Longest life of an answer about the head, milliseconds: 1/30 of the shortest block time. */
export const HEAD_TTL_MS = 10;
/** Longest life of an answer that changes only when the node is replaced, milliseconds. */
const CONSTANT_MS = 10_000;

/** Cached methods without parameters. */
const MAX_AGE = new Map([
  ['eth_chainId', CONSTANT_MS],
  ['net_version', CONSTANT_MS],
  ['web3_clientVersion', CONSTANT_MS],
  ['eth_blockNumber', HEAD_TTL_MS],
]);
const BLOCK = 'eth_getBlockByNumber';

interface Known {
  tail: Buffer;
  until: number;
}

export class HeadCache {
  private readonly known = new Map<string, Known>();
  private invalidatedAt = Number.NEGATIVE_INFINITY;

  /** The response tail, if recent enough. `name` comes from `headMethodOf`; times are from performance.now(). */
  get(name: string, now: number): Buffer | undefined {
    const known = this.known.get(name);
    return known !== undefined && now < known.until ? known.tail : undefined;
  }

  /** Stores a copy of the answer to a call made at `sentAt`. */
  put(name: string, tail: Buffer, sentAt: number): void {
    if (sentAt <= this.invalidatedAt) return;
    this.known.set(name, {
      tail: Buffer.from(tail),
      until: sentAt + (MAX_AGE.get(name) ?? HEAD_TTL_MS),
    });
  }

  /** The node may answer differently from now on. */
  invalidate(now: number): void {
    this.invalidatedAt = now;
    this.known.clear();
  }
}

/** Whether the head cache may have answers to a method. */
export function isHeadMethod(method: string): boolean {
  return MAX_AGE.has(method) || method === BLOCK;
}

/** The cache name of such a call's answer; null for other parameters. There are only a few names. */
export function headMethodOf(call: Call): string | null {
  if (call.method !== BLOCK) return call.params === '[]' ? call.method : null;
  const { args } = call;
  if (!Array.isArray(args)) return null;
  const [block, whole, ...rest] = args as unknown[];
  if (block !== 'latest' || typeof whole !== 'boolean' || rest.length > 0) return null;
  return `latest block, ${whole ? 'whole' : 'header'}`;
}
