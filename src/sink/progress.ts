/** The sink's report: its status, and its work since the last report. */
import { initialSinkStatus, type SinkStatus } from '../model/sink-status.ts';
import type { SinkDelta, SinkOptions } from './sink-client.ts';
import type { SinkTip } from './source.ts';

/** Window of the rates, milliseconds. */
const RATE_WINDOW_MS = 10_000;

/** Most index commits whose delay is measured at once. */
const MAX_PENDING = 1_000;

export class SinkProgress {
  private readonly current: SinkStatus;
  private delta = emptyDelta();
  private samples: { at: number; transfers: number }[] = [];
  /** Times of index commits not yet in PostgreSQL, Unix milliseconds, earliest first. */
  private committed: number[] = [];

  constructor({ schema, finality }: Pick<SinkOptions, 'schema' | 'finality'>) {
    this.current = initialSinkStatus(schema, finality);
  }

  setState(state: SinkStatus['state'], reason: string | null = null): void {
    this.current.state = state;
    this.current.reason = reason;
  }

  /** Sets the block that PostgreSQL has, and the newest block that it could have. */
  setTips(tip: SinkTip | null, target: SinkTip | null, first: number): void {
    this.current.block = tip?.number ?? null;
    this.current.lagBlocks = target === null ? null : Math.max(0, target.number - (tip?.number ?? first - 1));
    this.current.lagSeconds =
      target === null || tip === null ? null : Math.max(0, target.timestamp - tip.timestamp);
  }

  setTradesBlock(block: number | null): void {
    this.current.tradesBlock = block;
  }

  /** The index committed blocks. Measured individually only near the head. */
  recordIndexCommit(at: number): void {
    if (this.current.state === 'following' && this.committed.length < MAX_PENDING) this.committed.push(at);
  }

  recordCommit(transfers: number): void {
    this.samples.push({ at: performance.now(), transfers });
    this.current.transfers += transfers;
    this.current.lastCommitAt = Date.now();
    this.delta.transfers += transfers;
  }

  /** Everything that the index had committed by a time is in PostgreSQL. */
  recordCaughtUp(with_: number): void {
    const now = Date.now();
    for (const at of this.committed.filter((at) => at <= with_))
      this.delta.delays.push(Math.max(0, now - at) / 1000);
    this.committed = this.committed.filter((at) => at > with_);
  }

  recordRollback(): void {
    this.current.rollbacks++;
    this.delta.rollbacks++;
  }

  recordError(): void {
    this.current.errors++;
    this.delta.errors++;
  }

  /** The current status, and the work since the last call. */
  takeReport(): { status: SinkStatus; delta: SinkDelta } {
    const since = performance.now() - RATE_WINDOW_MS;
    this.samples = this.samples.filter(({ at }) => at > since);
    const recent = this.samples.reduce((sum, { transfers }) => sum + transfers, 0);
    this.current.transfersPerSecond = recent / (RATE_WINDOW_MS / 1000);
    const { delta } = this;
    this.delta = emptyDelta();
    return { status: this.current, delta };
  }
}

function emptyDelta(): SinkDelta {
  return { transfers: 0, delays: [], errors: 0, rollbacks: 0 };
}
