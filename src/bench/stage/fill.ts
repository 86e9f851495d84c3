/** Filling an index from the node, end to end, and what that costs. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError } from '../../errors.ts';
import { IndexWriter } from '../../store/index-writer.ts';
import type { IndexStatus } from '../../types.ts';
import { cpuSeconds, peakMegabytes } from '../process/usage.ts';
import type { DaemonProcess } from './daemon.ts';
import type { ChainNode, Stage } from './stage.ts';

/** How far it was at a time. */
export interface Point {
  /** Seconds since the daemon was ready. */
  at: number;
  transfers: number;
}

export interface FillRun {
  /** From the ready daemon to the last commit. */
  seconds: number;
  transfers: number;
  /** One point per commit seen. */
  course: Point[];
  peakMegabytes: number;
  walPeakBytes: number;
  cpuSeconds: number;
  /** Seconds that the writer spent committing, and the number of commits. */
  commitSeconds: number;
  commits: number;
}

const SAMPLE_MS = 100;
/** Transfers per second: anything slower is not filling. */
const MIN_RATE = 200;
/** Longest time to the first commit. */
const STARTING_S = 60;

/** Fills a new index with the first segment of the chain. */
export async function fillIndex(stage: Stage, chain: ChainNode, dataDir: string): Promise<FillRun> {
  await chain.part.ask('setHead', chain.segments.fill.last);
  const indexPath = join(dataDir, 'index.db');
  // Not pinned: filling is meant to use all cores.
  const run = await stage.run({ dataDir, nodeHttp: chain.url, nodeWs: '', cores: null }, (daemon) =>
    follow(daemon, chain, indexPath),
  );
  // The last connection to close moves the write-ahead log into the file, which is then complete.
  new IndexWriter(indexPath, { cacheMb: 1 }).close();
  return run;
}

async function follow(daemon: DaemonProcess, { segments }: ChainNode, indexPath: string): Promise<FillRun> {
  const { last, transfers } = segments.fill;
  const deadline = daemon.readyAt + (STARTING_S + transfers / MIN_RATE) * 1000;
  const course: Point[] = [{ at: 0, transfers: 0 }];
  const wal = new PeakSize(`${indexPath}-wal`);
  for (;;) {
    const status = await daemon.status();
    notePoint(course, status, daemon.readyAt);
    wal.look();
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

function notePoint(course: Point[], { transfers, lastCommitAt }: IndexStatus, readyAt: number): void {
  if (lastCommitAt === null || transfers === course.at(-1)?.transfers) return;
  course.push({ at: (lastCommitAt - readyAt) / 1000, transfers });
}

/** The largest size seen of a file. */
export class PeakSize {
  bytes = 0;
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  look(): void {
    this.bytes = Math.max(this.bytes, statSync(this.path, { throwIfNoEntry: false })?.size ?? 0);
  }
}

/** Transfers per second in each of `count` equal parts of the way, interpolated between the points. */
export function ratesByPart(course: readonly Point[], count: number): number[] {
  const total = course.at(-1)?.transfers ?? 0;
  const times = Array.from({ length: count + 1 }, (_, i) => timeOf(course, (total * i) / count));
  return times.slice(1).map((time, i) => total / count / (time - (times[i] ?? 0)));
}

function timeOf(course: readonly Point[], transfers: number): number {
  const next = course.findIndex((point) => point.transfers >= transfers);
  const [before, after] = [course[next - 1], course[next]];
  if (after === undefined || before === undefined) return after?.at ?? Number.NaN;
  const part = (transfers - before.transfers) / (after.transfers - before.transfers);
  return before.at + part * (after.at - before.at);
}
