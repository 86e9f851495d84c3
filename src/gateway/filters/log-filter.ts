/**
 * `eth_newFilter`: logs of the blocks that joined the chain since the last poll. As in geth, the logs of orphaned
 * blocks come first, repeated with `removed: true`.
 */

import type { ChainChange } from '../../chain/journal.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { quantityToNumber } from '../../lib/hex.ts';
import { detachString } from '../../lib/text.ts';
import { isFinal } from '../../model/finality.ts';
import type { CallResult } from '../call.ts';
import { itemTexts } from '../json-scan.ts';
import type { HashAt } from '../logs/logs.ts';
import { classifyRefusal } from '../logs/node-range.ts';
import { isResult, resultText } from '../response-tail.ts';
import type { Changes, Filter, TrackedChain } from './filter.ts';

/** Attempts per poll to fetch its logs while the chain keeps changing. */
const MAX_TRIES = 3;
/** Most blocks queued for later polls. A client that polls too slowly loses its filter. */
const MAX_UNDELIVERED = 8_192;
/** Most bytes of delivered logs kept, so that they can be reported as removed after a reorg. */
const MAX_DELIVERED_BYTES = 1024 * 1024;

export interface LogFilterDeps {
  chain: TrackedChain;
  /**
   * Fetches the logs of a range, all from the chain that `hashAt` describes. Rejects with UpstreamError, `inconsistent`
   * when the answering nodes lack these blocks.
   */
  fetch: (
    filter: Readonly<Record<string, unknown>>,
    range: { from: number; to: number },
    hashAt: HashAt,
    signal: AbortSignal,
  ) => Promise<CallResult>;
  /** The highest block known to be final, or -1. */
  finalized: () => number;
}

/** The logs for a poll, and the blocks whose logs did not fit. */
interface Fresh {
  blocks: Delivered[];
  rest: readonly ChainChange[];
}

/** The logs of one block that the client has received, as JSON texts. */
interface Delivered {
  number: number;
  hash: string;
  logs: string[];
}

export class LogFilter implements Filter {
  readonly logs: Readonly<Record<string, unknown>>;
  private readonly deps: LogFilterDeps;
  private position: number;
  /** Blocks before that position, ordered by height, whose logs did not fit into the last poll's answer. */
  private undelivered: readonly ChainChange[] = [];
  /** By height, ascending. */
  private delivered: Delivered[] = [];

  /** Starts from the known chain. `logs` is the parameter of `eth_newFilter`. */
  constructor(logs: Readonly<Record<string, unknown>>, deps: LogFilterDeps) {
    this.logs = logs;
    this.deps = deps;
    this.position = deps.chain.journal.position;
  }

  async poll(signal: AbortSignal): Promise<Changes> {
    const { chain } = this.deps;
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      await chain.refresh();
      const { position } = chain.journal;
      const changes = chain.journal.since(this.position);
      if (changes === null) return { kind: 'lost' };
      const { added, orphaned } = netChange([...this.undelivered, ...changes]);
      if (added.length > MAX_UNDELIVERED) return { kind: 'lost' };
      const fresh = await this.logsOf(added, signal);
      if (fresh === 'moved') continue;
      if ('tail' in fresh) return { kind: 'answer', answer: fresh };
      signal.throwIfAborted();
      const removed = this.removeOrphaned(orphaned);
      this.rememberDelivered(fresh.blocks);
      this.undelivered = fresh.rest;
      this.position = position;
      return { kind: 'list', json: `[${[...removed, ...fresh.blocks.flatMap(({ logs }) => logs)]}]` };
    }
    return { kind: 'list', json: '[]' }; // the chain keeps changing: the next poll retries from the same position
  }

  /**
   * The logs of these blocks, given in order, or of as many as fit in one answer; `moved` when the chain changed
   * meanwhile. Unlike a range, a poll cannot be narrowed by the client.
   */
  private async logsOf(
    blocks: readonly ChainChange[],
    signal: AbortSignal,
  ): Promise<Fresh | CallResult | 'moved'> {
    const wanted = blocks.filter(({ number }) => isWithin(number, this.logs));
    let taken = wanted;
    for (;;) {
      const [first] = taken;
      const last = taken.at(-1);
      if (first === undefined || last === undefined) return { blocks: [], rest: [] };
      const answer = await this.fetchLogs(taken, { from: first.number, to: last.number }, signal);
      if (answer === 'moved') return 'moved';
      if (isResult(answer.tail)) {
        const logs = byBlock(taken, resultText(answer.tail));
        return logs === null ? 'moved' : { blocks: logs, rest: wanted.slice(taken.length) };
      }
      if (classifyRefusal(answer) === null || taken.length === 1) return answer;
      taken = taken.slice(0, taken.length >> 1);
    }
  }

  private async fetchLogs(
    blocks: readonly ChainChange[],
    range: { from: number; to: number },
    signal: AbortSignal,
  ): Promise<CallResult | 'moved'> {
    const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
    try {
      return await this.deps.fetch(this.logs, range, (number) => hashes.get(number), signal);
    } catch (error) {
      if (error instanceof UpstreamError && error.reason === 'inconsistent') return 'moved';
      throw error;
    }
  }

  /** The delivered logs of orphaned blocks, marked as removed, oldest block first. */
  private removeOrphaned(orphaned: ReadonlySet<string>): string[] {
    if (orphaned.size === 0) return [];
    const gone = this.delivered.filter(({ hash }) => orphaned.has(hash));
    this.delivered = this.delivered.filter(({ hash }) => !orphaned.has(hash));
    return gone.flatMap(({ logs }) => logs.map(asRemoved));
  }

  /** Remembers logs that may later be reported as removed. */
  private rememberDelivered(fresh: readonly Delivered[]): void {
    const finalized = this.deps.finalized();
    const { oldestNumber } = this.deps.chain;
    const all = [...this.delivered, ...fresh].filter(
      ({ number, logs }) => !isFinal(number, finalized) && number >= oldestNumber && logs.length > 0,
    );
    let bytes = 0;
    const kept = all.toReversed().filter(({ logs }) => {
      bytes += logs.reduce((sum, log) => sum + log.length, 0);
      return bytes <= MAX_DELIVERED_BYTES;
    });
    this.delivered = kept.reverse();
    const isFresh = new Set(fresh);
    // Each log is a slice that would keep the whole answer in memory.
    for (const block of kept) if (isFresh.has(block)) block.logs = block.logs.map(detachString);
  }
}

/** The logs of each block as a JSON list; null when a log belongs to another block. */
function byBlock(blocks: readonly ChainChange[], json: string): Delivered[] | null {
  const byHash = new Map<string, Delivered>();
  for (const { number, hash } of blocks) byHash.set(hash, { number, hash, logs: [] });
  for (const log of itemTexts(json)) {
    const { blockHash } = JSON.parse(log) as { blockHash: string };
    const block = byHash.get(blockHash);
    if (block === undefined) return null;
    block.logs.push(log);
  }
  return [...byHash.values()];
}

/**
 * The net effect of the changes: new blocks still on the chain, by height, and previously known blocks no longer on it.
 */
function netChange(changes: readonly ChainChange[]): { added: ChainChange[]; orphaned: Set<string> } {
  const added = new Map<string, ChainChange>();
  const orphaned = new Set<string>();
  for (const change of changes) {
    if (change.added) {
      if (!orphaned.delete(change.hash)) added.set(change.hash, change);
    } else if (!added.delete(change.hash)) orphaned.add(change.hash);
  }
  return { added: [...added.values()].sort((a, b) => a.number - b.number), orphaned };
}

/** Whether the filter's own range contains the block, as far as the range is given in heights. */
function isWithin(number: number, { fromBlock, toBlock }: Readonly<Record<string, unknown>>): boolean {
  const from = quantityToNumber(fromBlock);
  const to = quantityToNumber(toBlock);
  return (Number.isNaN(from) || number >= from) && (Number.isNaN(to) || number <= to);
}

function asRemoved(log: string): string {
  const marked = log.replace(/"removed"\s*:\s*false/, '"removed":true');
  return marked === log ? `${log.slice(0, log.lastIndexOf('}'))},"removed":true}` : marked;
}
