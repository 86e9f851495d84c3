/** Fills an index from the node, end to end, and measures the cost. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError } from '../../../src/lib/errors.ts';
import { fileBytes } from '../../../src/lib/files.ts';
import type { IndexStatus } from '../../../src/model/index-status.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { cpuSeconds, peakMegabytes } from '../process/resource-usage.ts';
import type { WorkerProcess } from '../process/worker-process.ts';
import type { ChainFacts, ChainNodeActions } from '../workers/chain-node.ts';
import type { DaemonOptions, DaemonProcess } from './daemon-process.ts';

/** The part of the context that a fill needs. */
interface DaemonRunner {
  withDaemon<T>(options: DaemonOptions, use: (daemon: DaemonProcess) => Promise<T>): Promise<T>;
}

export interface ChainNode extends ChainFacts {
  worker: WorkerProcess<ChainNodeActions>;
}

/** Position of the index at a time. */
interface ProgressPoint {
  /** Seconds since the daemon was ready. */
  at: number;
  transfers: number;
}

export interface FillRun {
  /** From the ready daemon to the last commit. */
  seconds: number;
  transfers: number;
  /** One point per observed commit. */
  course: ProgressPoint[];
  peakMegabytes: number;
  walPeakBytes: number;
  cpuSeconds: number;
  /** Seconds that the writer spent in commits, and their number. */
  commitSeconds: number;
  commits: number;
}

const SAMPLE_MS = 100;
/** Transfers per second. Anything slower is not a backfill. */
const MIN_RATE = 200;
/** Longest time to the first commit. */
const FIRST_COMMIT_TIMEOUT_S = 60;

/** Fills a new index with the first segment of the chain. */
export async function fillIndex(runner: DaemonRunner, chain: ChainNode, dataDir: string): Promise<FillRun> {
  await chain.worker.call('setHead', chain.segments.fill.last);
  const indexPath = join(dataDir, 'index.db');
  // Not pinned, because a backfill is meant to use all cores.
  const run = await runner.withDaemon({ dataDir, nodeHttp: chain.url, nodeWs: '', cores: null }, (daemon) =>
    monitorFill(daemon, chain, indexPath),
  );
  // The last connection to close moves the WAL into the file, which is then complete.
  new IndexWriter(indexPath, { cacheMb: 1 }).close();
  return run;
}

async function monitorFill(
  daemon: DaemonProcess,
  { segments }: ChainNode,
  indexPath: string,
): Promise<FillRun> {
  const { last, transfers } = segments.fill;
  const deadline = daemon.readyAt + (FIRST_COMMIT_TIMEOUT_S + transfers / MIN_RATE) * 1000;
  const course: ProgressPoint[] = [{ at: 0, transfers: 0 }];
  const wal = new PeakSize(`${indexPath}-wal`);
  for (;;) {
    const status = await daemon.status();
    recordPoint(course, status, daemon.readyAt);
    wal.sample();
    if (status.head?.number === last) break;
    if (status.phase === 'paused' || Date.now() > deadline) {
      throw new FatalError(`filling does not go on: ${status.reason ?? 'it is too slow'}`);
    }
    await sleep(SAMPLE_MS);
  }
  const metrics = await daemon.metrics();
  return {
    seconds: course.at(-1)?.at ?? 0,
    transfers,
    course,
    peakMegabytes: peakMegabytes(daemon.pid),
    walPeakBytes: wal.bytes,
    cpuSeconds: cpuSeconds(daemon.pid),
    commitSeconds: metrics.get('atlas_index_commit_seconds_sum') ?? Number.NaN,
    commits: metrics.get('atlas_index_commit_seconds_count') ?? Number.NaN,
  };
}

function recordPoint(
  course: ProgressPoint[],
  { transfers, lastCommitAt }: IndexStatus,
  readyAt: number,
): void {
  if (lastCommitAt === null || transfers === course.at(-1)?.transfers) return;
  course.push({ at: (lastCommitAt - readyAt) / 1000, transfers });
}

/** The largest observed size of a file. */
export class PeakSize {
  bytes = 0;
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  sample(): void {
    this.bytes = Math.max(this.bytes, fileBytes(this.path));
  }
}

/** Transfers per second in each of `count` equal parts of the way, interpolated between the points. */
export function ratesByPart(course: readonly ProgressPoint[], count: number): number[] {
  const total = course.at(-1)?.transfers ?? 0;
  const times = Array.from({ length: count + 1 }, (_, i) => timeOf(course, (total * i) / count));
  return times.slice(1).map((time, i) => total / count / (time - (times[i] ?? 0)));
}

function timeOf(course: readonly ProgressPoint[], transfers: number): number {
  const next = course.findIndex((point) => point.transfers >= transfers);
  const [before, after] = [course[next - 1], course[next]];
  if (after === undefined || before === undefined) return after?.at ?? Number.NaN;
  const share = (transfers - before.transfers) / (after.transfers - before.transfers);
  return before.at + share * (after.at - before.at);
}
