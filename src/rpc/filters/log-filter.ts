/**
 * `eth_newFilter`: logs of the blocks that joined the chain since the last poll. As in geth, the logs of orphaned
 * blocks come first, repeated with `removed: true`.
 */

import { detachString } from '../../lib/detach-string.ts';
import { quantityToNumber, toQuantity } from '../../lib/hex.ts';
import type { Answer, RequestFn } from '../call.ts';
import { itemTexts } from '../json-slices.ts';
import { classifyRefusal } from '../logs/refusals.ts';
import { isResult, resultText } from '../payload.ts';
import type { ChainChange, ChainView } from './chain-view.ts';
import type { Changes, Filter } from './filter.ts';

/** Attempts of one poll to fetch its logs while the chain keeps changing. */
const MAX_TRIES = 3;
/** Most blocks that may wait for later polls: a filter whose client takes less than comes is lost in the end. */
const MAX_UNDELIVERED = 8_192;
/** Bytes of delivered logs kept in case they must be reported as removed. */
const MAX_DELIVERED_BYTES = 1024 * 1024;

export interface LogFilterDeps {
  view: ChainView;
  /** Fetches logs of a range of any width. */
  ask: RequestFn;
  /** The highest block known to be final, or -1. */
  finalized: () => number;
}

/** What the chain gave for a poll: the logs of these blocks, and the blocks after them that would have been too much. */
interface Fresh {
  blocks: Delivered[];
  rest: readonly ChainChange[];
}

/** Logs of one block that the client has received, as JSON texts. */
interface Delivered {
  number: number;
  hash: string;
  logs: string[];
}

export class LogFilter implements Filter {
  readonly logs: Readonly<Record<string, unknown>>;
  private readonly deps: LogFilterDeps;
  private position: number;
  /** Blocks before that position, by height, whose logs are too large to be told with those of the last poll. */
  private undelivered: readonly ChainChange[] = [];
  /** By height, ascending. */
  private delivered: Delivered[] = [];

  /** Starts from the view's current state. `logs` is the parameter of `eth_newFilter`. */
  constructor(logs: Readonly<Record<string, unknown>>, deps: LogFilterDeps) {
    this.logs = logs;
    this.deps = deps;
    this.position = deps.view.position;
  }

  async poll(signal: AbortSignal): Promise<Changes> {
    const { view } = this.deps;
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      await view.refresh();
      const { position } = view;
      const changes = view.changesSince(this.position);
      if (changes === null) return { kind: 'lost' };
      const { added, orphaned } = netChange([...this.undelivered, ...changes]);
      if (added.length > MAX_UNDELIVERED) return { kind: 'lost' };
      const fresh = await this.logsOf(added, signal);
      if (fresh === 'moved') continue;
      if ('payload' in fresh) return { kind: 'answer', answer: fresh };
      signal.throwIfAborted();
      const removed = this.removeOrphaned(orphaned);
      this.rememberDelivered(fresh.blocks);
      this.undelivered = fresh.rest;
      this.position = position;
      return { kind: 'list', json: `[${[...removed, ...fresh.blocks.flatMap(({ logs }) => logs)]}]` };
    }
    return { kind: 'list', json: '[]' }; // the chain keeps changing: the position stays, the next poll tries again
  }

  /**
   * The logs of these blocks, given in order, or of as many of them as fit in one answer; `moved` when the chain changed
   * while they were fetched. A poll names no range: a client that was told to narrow it could only give the filter up.
   */
  private async logsOf(
    blocks: readonly ChainChange[],
    signal: AbortSignal,
  ): Promise<Fresh | Answer | 'moved'> {
    const wanted = blocks.filter(({ number }) => isWithin(number, this.logs));
    let taken = wanted;
    for (;;) {
      const [first] = taken;
      const last = taken.at(-1);
      if (first === undefined || last === undefined) return { blocks: [], rest: [] };
      const range = { fromBlock: toQuantity(first.number), toBlock: toQuantity(last.number) };
      const answer = await this.deps.ask('eth_getLogs', [{ ...this.logs, ...range }], signal);
      if (isResult(answer.payload)) {
        const logs = byBlock(taken, resultText(answer.payload));
        if (logs === null || !(await this.deps.view.isCanonical(last))) return 'moved';
        return { blocks: logs, rest: wanted.slice(taken.length) };
      }
      if (classifyRefusal(answer) === null || taken.length === 1) return answer;
      taken = taken.slice(0, taken.length >> 1);
    }
  }

  /** The delivered logs of orphaned blocks, marked as removed, oldest block first. */
  private removeOrphaned(orphaned: ReadonlySet<string>): string[] {
    if (orphaned.size === 0) return [];
    const gone = this.delivered.filter(({ hash }) => orphaned.has(hash));
    this.delivered = this.delivered.filter(({ hash }) => !orphaned.has(hash));
    return gone.flatMap(({ logs }) => logs.map(asRemoved));
  }

  /** Remembers logs that may have to be reported as removed. */
  private rememberDelivered(fresh: readonly Delivered[]): void {
    const finalized = this.deps.finalized();
    const oldest = Math.max(finalized + 1, this.deps.view.oldestNumber);
    const all = [...this.delivered, ...fresh].filter(
      ({ number, logs }) => number >= oldest && logs.length > 0,
    );
    let bytes = 0;
    const kept = all.toReversed().filter(({ logs }) => {
      bytes += logs.reduce((sum, log) => sum + log.length, 0);
      return bytes <= MAX_DELIVERED_BYTES;
    });
    this.delivered = kept.reverse();
    const isFresh = new Set(fresh);
    // Each of these holds the whole answer that it is a slice of.
    for (const block of kept) if (isFresh.has(block)) block.logs = block.logs.map(detachString);
  }
}

/** The logs, a list as JSON text, of each of these blocks; null when one is of another block. */
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

/** The net effect of the changes: new blocks still on the chain, by height, and previously known ones that are not. */
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

/** Whether the filter's own range, as far as it is given in heights, contains the block. */
function isWithin(number: number, { fromBlock, toBlock }: Readonly<Record<string, unknown>>): boolean {
  const from = quantityToNumber(fromBlock);
  const to = quantityToNumber(toBlock);
  return (Number.isNaN(from) || number >= from) && (Number.isNaN(to) || number <= to);
}

function asRemoved(log: string): string {
  const marked = log.replace(/"removed"\s*:\s*false/, '"removed":true');
  return marked === log ? `${log.slice(0, log.lastIndexOf('}'))},"removed":true}` : marked;
}
