/** Decides whether the service is ready to answer for the current chain, and logs stalls. */

import { guarded } from '../../lib/guard.ts';
import { settingWord } from '../../lib/setting-name.ts';
import { secondsToIso } from '../../lib/time.ts';
import type { Logger } from '../../log/logger.ts';
import { type IndexStatus, isFromFuture, isStale, lagBlocks } from '../../model/index-status.ts';
import { HeadPace } from './head-pace.ts';

/**
 * The index has stalled when it indexes no block for this long while the node has one: just under the required 30 s.
 */
const STALL_MS = 29_000;

/** The same during a backfill, whose commits take up to 90 s (indexer/adaptive-commit-size.ts). */
const BACKFILL_STALL_MS = 180_000;

/** How often index and chain are checked, milliseconds. */
const CHECK_INTERVAL_MS = 1_000;

/** The settings that decide whether the index is up to date. */
export interface ReadinessLimits {
  /** `/readyz` reports ready up to this many blocks behind the node's head. */
  readyLag: number;
  /** The chain is stale once the newest block is this old, seconds; 0 turns the check off. */
  staleSeconds: number;
}

interface Snapshot extends ReadinessLimits {
  /** Whether new blocks keep arriving in step with time. */
  keepsTime: boolean;
  state: IndexStatus;
  /** Whether the index has stalled. */
  stalled: boolean;
  /** Unix milliseconds. */
  now: number;
}

/** Every reason for not being ready, checked in this order. Null means that the reason does not apply. */
const REASONS: Readonly<Record<string, (snapshot: Snapshot) => string | null>> = {
  // Before the failures of a node, which pass. A paused indexer has a reason of its own.
  readFailure: ({ state }) => (state.phase === 'paused' ? null : state.readFailure),
  indexerFailure: ({ state }) => state.reason,
  emptyIndex: ({ state: { head, phase } }) =>
    head !== null ? null : phase === 'starting' ? 'waiting for the node' : 'no block is indexed yet',
  unknownNodeHead: ({ state }) => (lagBlocks(state) === null ? 'waiting for the node' : null),
  stalled: ({ state, stalled }) =>
    stalled
      ? `no new block for ${stallMs(state) / 1000} s although the node is at block ${state.nodeHead}`
      : null,
  behindNode({ state, readyLag }) {
    const lag = lagBlocks(state) ?? 0;
    return lag > readyLag ? `${lag} blocks behind the node` : null;
  },
  aheadOfNode({ state: { head, nodeHead }, readyLag }) {
    const ahead = (head?.number ?? 0) - (nodeHead ?? 0);
    return ahead > readyLag ? `the node is ${ahead} blocks behind the index; it may be resyncing` : null;
  },
  notFollowing: ({ state: { phase } }) => (phase === 'following' ? null : `the indexer is ${phase}`),
  staleChain: ({ state, staleSeconds, now, keepsTime }) => staleReason(state, staleSeconds, now, keepsTime),
};

/** The first reason why the service is not ready, null if it is. `now` in Unix milliseconds. */
export function notReadyReason(
  state: IndexStatus,
  { readyLag, staleSeconds }: ReadinessLimits,
  stalled: boolean,
  now: number,
  keepsTime = false,
): string | null {
  for (const reasonOf of Object.values(REASONS)) {
    const reason = reasonOf({ state, readyLag, staleSeconds, stalled, now, keepsTime });
    if (reason !== null) return reason;
  }
  return null;
}

/** Why the newest block says that the chain has halted, or that a clock is wrong. */
interface Staleness {
  cause: 'halted' | 'clock';
  reason: string;
}

/** `keepsTime`: see HeadPace. Null while the newest block is as old as it may be. */
function stalenessOf(
  state: IndexStatus,
  staleSeconds: number,
  now: number,
  keepsTime: boolean,
): Staleness | null {
  if (state.headTimestamp === null) return null;
  const newest = secondsToIso(state.headTimestamp);
  const clock = secondsToIso(Math.floor(now / 1000));
  const setting = settingWord('index.stale_seconds');
  const off = `${setting} = 0 turns the check off`;
  if (isFromFuture(state, staleSeconds, now)) {
    const reason =
      `the newest block is from ${newest}, but the clock of this machine says ${clock}: the ` +
      `clock is behind, or the chain's is ahead, so that nobody would notice a halt of the chain; set the ` +
      `clock; ${off}`;
    return { cause: 'clock', reason };
  }
  if (!isStale(state, staleSeconds, now)) return null;
  const reason = `the chain is stale: its newest block is from ${newest}, older than ${setting} (${staleSeconds} s)`;
  if (!keepsTime) return { cause: 'halted', reason };
  const advice =
    'but new blocks keep arriving in step with time, and the clock of this machine says ' +
    `${clock}: the clock is ahead, or the chain's is behind; set the clock; ${off}`;
  return { cause: 'clock', reason: `${reason}, ${advice}` };
}

/** Why the age of the newest block is wrong, null if it is not. */
export function staleReason(
  state: IndexStatus,
  staleSeconds: number,
  now: number,
  keepsTime = false,
): string | null {
  return stalenessOf(state, staleSeconds, now, keepsTime)?.reason ?? null;
}

const STALE_MESSAGES: Record<Staleness['cause'], string> = {
  halted: 'no new block: the chain has halted, or the node has lost its peers',
  clock: 'the clock of this machine or of the chain is wrong',
};

/** Watches the age of the newest block, and logs when the chain becomes stale and when it recovers. */
export class StaleWatch {
  private readonly log: Pick<Logger, 'info' | 'warn'>;
  private readonly staleSeconds: number;
  private readonly pace = new HeadPace();
  private logged: Staleness['cause'] | null = null;

  constructor(log: Pick<Logger, 'info' | 'warn'>, staleSeconds: number) {
    this.log = log;
    this.staleSeconds = staleSeconds;
  }

  /** Whether new blocks keep arriving in step with time. */
  get keepsTime(): boolean {
    return this.pace.keepsTime;
  }

  /** Observes the state every second until the returned function is called. */
  start(state: () => IndexStatus): () => void {
    const check = () => this.observe(state(), performance.now(), Date.now());
    const timer = setInterval(guarded('check of the chain', check), CHECK_INTERVAL_MS).unref();
    return () => clearInterval(timer);
  }

  /** `now` from `performance.now()`, `date` from `Date.now()`. */
  observe(state: IndexStatus, now: number, date: number): void {
    this.pace.observe(state, now);
    const found = stalenessOf(state, this.staleSeconds, date, this.keepsTime);
    const cause = found?.cause ?? null;
    if (found !== null && cause !== this.logged)
      this.log.warn({ reason: found.reason }, STALE_MESSAGES[found.cause]);
    if (found === null && this.logged !== null) this.log.info({}, RECOVERY_MESSAGES[this.logged]);
    this.logged = cause;
  }
}

const RECOVERY_MESSAGES: Record<Staleness['cause'], string> = {
  halted: 'the chain has new blocks again',
  clock: 'the clocks of this machine and of the chain agree again',
};

/** Detects an index that does not advance although the node has new blocks. */
export class StallDetector {
  private readonly log: Logger;
  private head: number | null = null;
  /** When the index last fell behind the node without advancing since, by `performance.now()`, which nobody can set. */
  private behindSince: number | null = null;
  private stallReported = false;

  constructor(log: Logger) {
    this.log = log;
  }

  /** Observes the state every second until the returned function is called. */
  start(state: () => IndexStatus): () => void {
    const timer = setInterval(
      guarded('check of the index', () => this.observe(state(), performance.now())),
      CHECK_INTERVAL_MS,
    ).unref();
    return () => clearInterval(timer);
  }

  /** Logs the start and the end of a stall. Call about once a second with `now` from `performance.now()`. */
  observe(state: IndexStatus, now: number): void {
    const head = state.head?.number ?? null;
    if (head !== this.head || !isBehind(state)) {
      if (this.stallReported) this.log.info({ head }, 'the index advances again');
      this.head = head;
      this.behindSince = isBehind(state) ? now : null;
      this.stallReported = false;
    }
    this.behindSince ??= now;
    if (!this.stallReported && this.isStalled(state, now)) {
      this.log.error({ head, nodeHead: state.nodeHead, reason: state.reason }, 'the index has stalled');
      this.stallReported = true;
    }
  }

  /** Whether the index has not advanced for too long. */
  isStalled(state: IndexStatus, now: number): boolean {
    const moved = (state.head?.number ?? null) !== this.head;
    return isBehind(state) && !moved && this.behindSince !== null && now - this.behindSince >= stallMs(state);
  }
}

function stallMs({ phase }: IndexStatus): number {
  return phase === 'backfilling' ? BACKFILL_STALL_MS : STALL_MS;
}

function isBehind({ head, nodeHead }: IndexStatus): boolean {
  return nodeHead !== null && nodeHead > (head?.number ?? -1);
}
