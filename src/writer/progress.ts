/** What the writer reports about itself: the status for people and the work done since the last report. */
import type { BlockBatch, BlockRef, Capabilities, IndexStatus } from '../types.ts';
import type { WriterWork } from './protocol.ts';

/** Rates are over this many milliseconds. */
const RATE_WINDOW_MS = 10_000;

interface Sample {
  at: number;
  blocks: number;
  transfers: number;
}

export class Progress {
  readonly status = idleStatus();
  private work = emptyWork();
  private samples: Sample[] = [];
  private readonly readyLag: number;

  constructor(readyLag: number) {
    this.readyLag = readyLag;
  }

  opened(
    head: (BlockRef & { timestamp: number }) | null,
    transfers: number,
    startBlock: number | null,
  ): void {
    this.setHead(head);
    this.status.transfers = transfers;
    this.status.startBlock = startBlock;
  }

  connected(capabilities: Capabilities): void {
    this.status.capabilities = capabilities;
    this.status.reason = null;
  }

  nodeHead(number: number): void {
    this.status.nodeHead = number;
    this.setPhase();
  }

  /** Nothing can be done for now, for the reason given; null when it went on. */
  trouble(reason: string | null): void {
    this.status.reason = reason;
    if (this.status.capabilities !== null) this.setPhase();
  }

  committed(
    batches: readonly BlockBatch[],
    head: (BlockRef & { timestamp: number }) | null,
    seconds: number,
  ): void {
    const now = Date.now();
    let blocks = 0;
    let transfers = 0;
    for (const batch of batches) {
      blocks += batch.blockCount;
      transfers += batch.transferCount;
      for (const kind of batch.kind) this.work.transfers[kind] = (this.work.transfers[kind] ?? 0) + 1;
      for (const [reason, count] of Object.entries(batch.skipped)) {
        this.status.skippedLogs[reason] = (this.status.skippedLogs[reason] ?? 0) + count;
        this.work.skippedLogs[reason] = (this.work.skippedLogs[reason] ?? 0) + count;
      }
    }
    this.work.blocks += blocks;
    this.work.commitSeconds.push(seconds);
    this.samples.push({ at: now, blocks, transfers });
    this.status.transfers += transfers;
    this.status.lastCommitAt = performance.timeOrigin + performance.now(); // Date.now() knows no fractions
    this.setHead(head);
    this.setPhase();
  }

  rolledBack(depth: number, head: (BlockRef & { timestamp: number }) | null, transfers: number): void {
    this.work.rollbacks.push(depth);
    this.status.reorgs++;
    this.status.deepestReorg = Math.max(this.status.deepestReorg, depth);
    this.status.transfers = transfers;
    this.setHead(head);
  }

  /** The status as of now, and the work since the last call. */
  report(): { status: IndexStatus; work: Omit<WriterWork, 'calls'> } {
    this.updateRates();
    const work = this.work;
    this.work = emptyWork();
    return { status: this.status, work };
  }

  private setHead(head: (BlockRef & { timestamp: number }) | null): void {
    this.status.head = head === null ? null : { number: head.number, hash: head.hash };
    this.status.headTimestamp = head?.timestamp ?? null;
  }

  private setPhase(): void {
    const { nodeHead, head, startBlock, reason } = this.status;
    if (reason !== null) this.status.phase = 'paused';
    else if (nodeHead === null) this.status.phase = 'starting';
    else {
      const lag = nodeHead - (head?.number ?? (startBlock ?? 0) - 1);
      this.status.phase = lag > this.readyLag ? 'filling' : 'following';
    }
  }

  private updateRates(): void {
    const since = Date.now() - RATE_WINDOW_MS;
    this.samples = this.samples.filter((sample) => sample.at > since);
    const seconds = RATE_WINDOW_MS / 1000;
    this.status.blocksPerSecond = this.samples.reduce((sum, sample) => sum + sample.blocks, 0) / seconds;
    this.status.transfersPerSecond =
      this.samples.reduce((sum, sample) => sum + sample.transfers, 0) / seconds;
  }
}

function emptyWork(): Omit<WriterWork, 'calls'> {
  return { blocks: 0, transfers: [], skippedLogs: {}, rollbacks: [], commitSeconds: [] };
}

/** The status before the indexer has done anything. */
export function idleStatus(): IndexStatus {
  return {
    phase: 'starting',
    reason: null,
    startBlock: null,
    head: null,
    headTimestamp: null,
    nodeHead: null,
    blocksPerSecond: 0,
    transfersPerSecond: 0,
    transfers: 0,
    capabilities: null,
    skippedLogs: {},
    reorgs: 0,
    deepestReorg: 0,
    lastCommitAt: null,
  };
}
