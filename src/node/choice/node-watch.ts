/**
 * Checks every configured node a few times per second and decides which one to use. Runs only with two nodes or more.
 */

import { UpstreamError } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import type { Logger } from '../../log/logger.ts';
import type { NodeChain, NodeStatus } from '../../model/index-status.ts';
import { RpcClient, type RpcReply } from '../client.ts';
import { parseEndpoint } from '../endpoint.ts';
import { fetchChainId, fetchHeaders } from '../methods.ts';
import { isRateLimited, isUnknownMethod } from '../node-errors.ts';
import { readQuantity } from '../reply.ts';
import {
  type ChoiceRules,
  initialChoice,
  isUsable,
  type NodeChoice,
  type NodeEvent,
  reduceChoice,
} from './choose-node.ts';
import {
  type Comparison,
  compareChain,
  compareChainIds,
  type IndexedChain,
  SAME,
  SHALLOW_BLOCKS,
} from './compare-chain.ts';
import type { SelectedNode } from './selected-node.ts';

interface NodeWatchOptions extends ChoiceRules {
  node: SelectedNode;
  /** The indexed chain; null before its first block is chosen. */
  indexed: () => IndexedChain | null;
  log: Logger;
  /** Milliseconds between two checks of a node, and the timeout of a check; defaults 400 and 1,000. */
  intervalMs?: number;
  timeoutMs?: number;
  /** Called after each switch of the node in use. */
  onMove?: (from: number, to: number) => void;
}

const INTERVAL_MS = 400;
const TIMEOUT_MS = 1_000;
/** Shortest time between two checks triggered by failed calls, milliseconds. */
const EARLY_CHECK_MS = 100;
/** How long a call may wait for a usable node, milliseconds. */
export const RETRY_WINDOW_MS = 5_000;
/** Failed checks of the first node before an empty index may start from another one. */
const FAILURES_BEFORE_ANY = 3;
/** Most calls that wait for a usable node. */
const MAX_WAITING = 10_000;

interface Check {
  client: RpcClient;
  timer: NodeJS.Timeout | undefined;
  startedAt: number;
  isRunning: boolean;
}

export class NodeWatch {
  private readonly options: NodeWatchOptions;
  private readonly checks: Check[];
  private readonly stop = new AbortController();
  private readonly waiting = new Set<() => void>();
  private choice: NodeChoice;
  /** When the node in use last changed. */
  private movedAt = Number.NEGATIVE_INFINITY;
  /** Stands in for the indexed chain while the index is empty: a recent block of the node in use. */
  private reference: IndexedChain | null = null;

  constructor(options: NodeWatchOptions) {
    const { node, timeoutMs = TIMEOUT_MS } = options;
    this.options = options;
    this.choice = initialChoice(node.addresses.length);
    this.checks = node.addresses.map(({ http }) => ({
      client: new RpcClient({ url: http, timeoutMs, maxSockets: 2, maxBatch: 8, patienceMs: 0 }),
      timer: undefined,
      startedAt: Number.NEGATIVE_INFINITY,
      isRunning: false,
    }));
    for (const at of this.checks.keys()) this.checkIn(at, 0);
  }

  /** The configured nodes and their states, with addresses stripped of secrets. */
  status(): NodeStatus[] {
    return this.choice.nodes.map(({ health, reason, head, latencyMs, failures }, at) => ({
      node: at + 1,
      address: parseEndpoint(this.options.node.addresses[at]?.http ?? '').origin,
      current: at === this.choice.current,
      state: health,
      reason,
      head,
      latencyMs: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
      failures,
    }));
  }

  /** Position of the node in use. */
  get node(): number {
    return this.choice.current;
  }

  /** The highest head that clients have seen of previous nodes; -1 unless the node changed a moment ago. */
  get floor(): number {
    return performance.now() - this.movedAt < RETRY_WINDOW_MS ? this.choice.floor : -1;
  }

  /** A client was shown this head. */
  noteHead(head: number): void {
    if (head > this.choice.floor) this.apply({ kind: 'seen', head });
  }

  /** Records how the index judged the chain of a node. Ignored unless that node is still in use. */
  noteIndexed(at: number, chain: NodeChain, reason: string | null): void {
    if (at !== this.choice.current) return;
    if (chain === 'another_chain' || chain === 'reorg_too_deep' || chain === 'reorg_below_finalized') {
      const relation = chain === 'another_chain' ? 'another_chain' : 'another_fork';
      this.apply({ kind: 'refused', relation, reason: reason ?? 'the index refuses its chain' });
    }
  }

  /** A call to the node in use failed: checks it at once. */
  noteFailure(): void {
    const check = this.checks[this.choice.current];
    if (check !== undefined && performance.now() - check.startedAt >= EARLY_CHECK_MS)
      this.checkIn(this.choice.current, 0);
  }

  /** Calls to the node in use keep failing, although it answers checks. */
  noteErrors(reason: string): void {
    this.apply({ kind: 'failed', node: this.choice.current, reason });
  }

  /**
   * Calls `again` once, when a failed call that started at `startedAt` may be repeated: the node in use changed or
   * passed a check since the failure, or the call's time is up. Null when the call must fail now. The returned function
   * cancels.
   */
  awaitNode(startedAt: number, again: () => void): (() => void) | null {
    const leftMs = startedAt + RETRY_WINDOW_MS - performance.now();
    if (leftMs <= 0 || this.waiting.size >= MAX_WAITING || this.isHopeless) return null;
    this.noteFailure();
    const resume = (): void => {
      cancel();
      again();
    };
    const timer = setTimeout(guarded('wait for a node', resume), leftMs).unref();
    const cancel = (): void => {
      clearTimeout(timer);
      this.waiting.delete(resume);
    };
    this.waiting.add(resume);
    return cancel;
  }

  async close(): Promise<void> {
    this.stop.abort();
    for (const { timer } of this.checks) clearTimeout(timer);
    for (const resume of [...this.waiting]) resume();
    await Promise.all(this.checks.map(({ client }) => client.close()));
  }

  /** Whether the node in use has been unusable for too long to wait for it. */
  private get isHopeless(): boolean {
    const { troubledSince } = this.choice;
    return (
      this.stop.signal.aborted ||
      (troubledSince !== null && performance.now() - troubledSince > RETRY_WINDOW_MS)
    );
  }

  private checkIn(at: number, ms: number): void {
    const check = this.checks[at];
    if (check === undefined || check.isRunning || this.stop.signal.aborted) return;
    clearTimeout(check.timer);
    check.timer = setTimeout(
      guarded('check of a node', () => this.check(at, check)),
      ms,
    ).unref();
  }

  private async check(at: number, check: Check): Promise<void> {
    check.isRunning = true;
    check.startedAt = performance.now();
    try {
      const event = await this.ask(at, check.client);
      if (event !== null) this.apply(event);
    } finally {
      check.isRunning = false;
      this.checkIn(at, this.options.intervalMs ?? INTERVAL_MS);
    }
  }

  /**
   * Null when the check proves nothing: the node only limits our rate, its chain is not known yet, or the watch is
   * closing.
   */
  private async ask(at: number, client: RpcClient): Promise<NodeEvent | null> {
    const { signal } = this.stop;
    const { floor } = this.choice;
    const startedAt = performance.now();
    try {
      const replies = await client.batch(
        [
          { method: 'eth_blockNumber', params: [] },
          { method: 'eth_chainId', params: [] },
        ],
        signal,
      );
      const [headReply, idReply] = replies;
      const head = quantityOf(headReply, 'eth_blockNumber');
      const lacksId = idReply !== undefined && 'error' in idReply && isUnknownMethod(idReply.error);
      const chainId = lacksId ? await fetchChainId(client, signal) : quantityOf(idReply, 'eth_chainId');
      const latencyMs = performance.now() - startedAt;
      const comparison = await this.compare(at, client, head, chainId);
      if (comparison === null) return null;
      const { relation, reason } = comparison;
      return { kind: 'answered', node: at, head, floor, latencyMs, relation, reason };
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof UpstreamError)) throw error;
      return isRateLimited(error) ? null : { kind: 'failed', node: at, reason: error.message };
    }
  }

  /**
   * Compares the chain of the node in use only when it is new; after that the index compares every block. While neither
   * the index nor the node in use determines the chain, another node is used only if the node in use keeps failing.
   */
  private async compare(
    at: number,
    client: RpcClient,
    head: number,
    chainId: number,
  ): Promise<Comparison | null> {
    const { nodes, current } = this.choice;
    const isCurrent = at === current;
    const indexed = this.options.indexed();
    const chain = indexed === null || indexed.head === null ? this.reference : indexed;
    if (chain === null) {
      if (isCurrent) this.reference = await referenceOf(client, chainId, head);
      return isCurrent || (nodes[current]?.failures ?? 0) >= FAILURES_BEFORE_ANY ? SAME : null;
    }
    const ids = compareChainIds(chain.chainId, chainId);
    const view = nodes[at];
    if (ids.relation !== 'same' || (isCurrent && view !== undefined && isUsable(view))) return ids;
    return compareChain(client, chain, head, this.stop.signal);
  }

  private apply(event: NodeEvent): void {
    if (this.stop.signal.aborted) return;
    const before = this.choice;
    this.choice = reduceChoice(before, event, performance.now(), this.options);
    this.logChanges(before);
    const { current } = this.choice;
    if (current !== before.current) return this.move(before.current, current);
    const view = this.choice.nodes[current];
    if (event.kind === 'answered' && event.node === current && view !== undefined && isUsable(view))
      this.resumeWaiting();
  }

  private move(from: number, to: number): void {
    const left = this.choice.nodes[from];
    this.movedAt = performance.now();
    this.options.log.warn(
      { from: from + 1, to: to + 1, reason: left?.reason ?? null },
      'switched to another node',
    );
    this.options.node.select(to, left !== undefined && !isUsable(left));
    this.options.onMove?.(from, to);
    this.resumeWaiting();
  }

  private resumeWaiting(): void {
    for (const resume of [...this.waiting]) resume();
  }

  private logChanges({ nodes }: NodeChoice): void {
    for (const [at, { health, reason, head }] of this.choice.nodes.entries()) {
      const before = nodes[at]?.health;
      if (before === health) continue;
      const fields = { node: at + 1, state: health, before, reason, head };
      if (health === 'healthy' || health === 'recovering') this.options.log.info(fields, 'a node is usable');
      else this.options.log.warn(fields, 'a node is unusable');
    }
  }
}

function quantityOf(reply: RpcReply | undefined, method: string): number {
  if (reply !== undefined && 'error' in reply) throw reply.error;
  return readQuantity(reply?.result, method, 'result');
}

async function referenceOf(client: RpcClient, chainId: number, head: number): Promise<IndexedChain | null> {
  const number = Math.max(0, head - SHALLOW_BLOCKS);
  const [first, block] = await fetchHeaders(client, [0, number]);
  if (!block) return null;
  return {
    chainId,
    startBlock: number,
    genesis: first?.hash ?? null,
    finalized: null,
    head: block,
    hashAt: (at) => (at === number ? block.hash : null),
  };
}
