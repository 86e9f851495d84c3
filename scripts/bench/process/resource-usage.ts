/** Resource usage of processes, from Linux: proc(5). */
import { readFileSync, writeFileSync } from 'node:fs';
import { waitUntil } from '../wait-until.ts';

/** Ticks of `/proc/<pid>/stat` per second; fixed for programs on Linux. */
const TICKS = 100;

/** Seconds of processor time that a process has used in all its threads; steps of 10 ms. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in brackets, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Processor time within a second that a daemon without work may use, seconds: it polls its node. */
const IDLE_SECONDS = 0.08;

/**
 * Resolves once a process has used next to no processor time for a second. A daemon that has just been filled asks its
 * node about wallets and tokens for some more seconds, which would count as the cost of the requests measured then.
 */
export async function untilIdle(pid: number): Promise<void> {
  let before = Number.NEGATIVE_INFINITY;
  const probe = (): true | null => {
    const now = cpuSeconds(pid);
    const used = now - before;
    before = now;
    return used <= IDLE_SECONDS ? true : null;
  };
  await waitUntil(probe, { what: 'the daemon to have no work left', timeoutMs: 300_000, everyMs: 1_000 });
}

/** Seconds of processor time of a process's first thread, to the nanosecond. */
export function mainThreadSeconds(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e9;
}

/** Largest resident memory since the start of the process or the last `resetPeakMemory`, MB (10^6 bytes). */
export function peakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1]) * 1024) / 1e6;
}

/** Resident memory now, MB (10^6 bytes). */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) * 1024) / 1e6;
}

/** Resets the peak to the current memory. */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

export interface Usage {
  seconds: number;
  /** Seconds of processor time. */
  cpu: number;
  /** Bytes, whether or not they reached a disk. */
  written: number;
  read: number;
}

/** Of this process so far. */
export function ownUsage(): Usage {
  const { user, system } = process.cpuUsage();
  const io = readFileSync('/proc/self/io', 'utf8');
  return {
    seconds: performance.now() / 1000,
    cpu: (user + system) / 1e6,
    written: Number(/^wchar: (\d+)/m.exec(io)?.[1]),
    read: Number(/^rchar: (\d+)/m.exec(io)?.[1]),
  };
}
