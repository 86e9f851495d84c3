/** Measures how late the event loop runs, and how much of the delay is its own. */

import { closeSync, openSync, readSync } from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { guarded } from '../lib/guard.ts';

/** Milliseconds between two samples. */
const SAMPLE_INTERVAL_MS = 10;

/**
 * Linux's statistics of a thread: nanoseconds running, nanoseconds waiting for a processor, and number of runs. The
 * thread itself must open the file.
 */
const SCHEDSTAT_PATH = '/proc/thread-self/schedstat';
const SCHEDSTAT_CHARS = 96;

/** Seconds. */
interface LoopDelays {
  p50: number;
  p99: number;
  max: number;
  /**
   * The longest delay minus the time that the thread waited for a processor: how long it ran without yielding. Equals
   * `max` on a system without such statistics.
   */
  held: number;
}

/** Measures the event loop of the thread that constructs it. */
export class LoopDelayMonitor {
  private readonly delays = createHistogram();
  private readonly timer: NodeJS.Timeout;
  private readonly schedstatFd: number | null = openOrNull(SCHEDSTAT_PATH);
  private readonly text = Buffer.alloc(SCHEDSTAT_CHARS);
  private sampledAt = performance.now();
  private cpuWaitMs = this.readCpuWaitMs();
  private heldMs = 0;
  private longestMs = 0;

  constructor() {
    this.timer = setInterval(
      guarded('delay of the event loop', () => this.sample()),
      SAMPLE_INTERVAL_MS,
    ).unref();
  }

  /** The delays since the last call. */
  takeDelays(): LoopDelays {
    this.sample();
    const { delays, heldMs } = this;
    const taken = {
      p50: delays.percentile(50) / 1e9,
      p99: delays.percentile(99) / 1e9,
      max: delays.max / 1e9,
      held: heldMs / 1e3,
    };
    delays.reset();
    this.heldMs = 0;
    return taken;
  }

  /** The longest delay since the last call, in seconds. Independent of `takeDelays`. */
  takeLongest(): number {
    this.sample();
    const seconds = this.longestMs / 1e3;
    this.longestMs = 0;
    return seconds;
  }

  close(): void {
    clearInterval(this.timer);
    if (this.schedstatFd !== null) closeSync(this.schedstatFd);
  }

  private sample(): void {
    const now = performance.now();
    const cpuWaitMs = this.readCpuWaitMs();
    const lateMs = Math.max(0, now - this.sampledAt - SAMPLE_INTERVAL_MS);
    this.delays.record(Math.max(1, Math.round(lateMs * 1e6)));
    this.heldMs = Math.max(this.heldMs, lateMs - (cpuWaitMs - this.cpuWaitMs));
    this.longestMs = Math.max(this.longestMs, lateMs);
    this.sampledAt = now;
    this.cpuWaitMs = cpuWaitMs;
  }

  /** Total time this thread has waited for a processor, milliseconds. */
  private readCpuWaitMs(): number {
    if (this.schedstatFd === null) return 0;
    const length = readSync(this.schedstatFd, this.text, 0, SCHEDSTAT_CHARS, 0);
    return Number(this.text.toString('latin1', 0, length).split(' ')[1] ?? 0) / 1e6;
  }
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
