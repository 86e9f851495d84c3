/**
 * Answers that the node gave a moment ago and that still hold: constants of the running node, and its newest head.
 * They are the node's own bytes. A newly announced head is not used to answer: a node may announce blocks for which it
 * cannot answer yet (Monad does).
 */
import type { Call } from './call.ts';

/** How old an answer about the head may be, milliseconds: 1/30 of the shortest block time. */
export const HEAD_TTL_MS = 10;
/** How old an answer may be that changes only when the node is replaced. */
const CONSTANT_MS = 10_000;

/** Methods without parameters whose answers are kept for a while. */
const MAX_AGE = new Map([
  ['eth_chainId', CONSTANT_MS],
  ['net_version', CONSTANT_MS],
  ['web3_clientVersion', CONSTANT_MS],
  ['eth_blockNumber', HEAD_TTL_MS],
]);
const BLOCK = 'eth_getBlockByNumber';

interface Known {
  payload: Buffer;
  until: number;
}

export class LocalAnswers {
  private readonly known = new Map<string, Known>();
  private invalidatedAt = Number.NEGATIVE_INFINITY;

  /** The payload of the answer, if recent enough. `name` comes from `localName`; times are of performance.now(). */
  get(name: string, now: number): Buffer | undefined {
    const known = this.known.get(name);
    return known !== undefined && now < known.until ? known.payload : undefined;
  }

  /** Keeps a copy of the answer to a call made at `askedAt`. */
  put(name: string, payload: Buffer, askedAt: number): void {
    if (askedAt <= this.invalidatedAt) return;
    this.known.set(name, {
      payload: Buffer.from(payload),
      until: askedAt + (MAX_AGE.get(name) ?? HEAD_TTL_MS),
    });
  }

  /** Something happened after which the node may answer differently. */
  invalidate(now: number): void {
    this.invalidatedAt = now;
    this.known.clear();
  }
}

/** Whether there may be a local answer to calls of a method. */
export function mayBeLocal(method: string): boolean {
  return MAX_AGE.has(method) || method === BLOCK;
}

/** The name under which the answer to such a method's call is kept; null for parameters not kept. The names are few. */
export function localName(call: Call): string | null {
  if (call.method !== BLOCK) return call.params === '[]' ? call.method : null;
  const { args } = call;
  if (!Array.isArray(args)) return null;
  const [block, whole, ...rest] = args as unknown[];
  if (block !== 'latest' || typeof whole !== 'boolean' || rest.length > 0) return null;
  return `latest block, ${whole ? 'whole' : 'header'}`;
}
