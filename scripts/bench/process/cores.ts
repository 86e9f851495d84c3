/** Assigns servers and load to cores, so that they do not take each other's time. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Cores {
  /** Cores of the server under load; null if processes cannot be pinned or there is only one core. */
  server: string | null;
  /** Cores of the load and everything else. */
  load: string | null;
  /** Why nothing is pinned, or null. */
  reason: string | null;
}

/** The first available core for the server, the others for the load. */
export async function chooseCores(): Promise<Cores> {
  const none = { server: null, load: null };
  const [server, ...load] = allowedCores();
  if (server === undefined || load.length === 0) return { ...none, reason: 'there is one core only' };
  const hasTaskset = await run('taskset', ['--version']).then(
    () => true,
    () => false,
  );
  if (!hasTaskset) return { ...none, reason: 'taskset is not installed' };
  return { server: String(server), load: load.join(','), reason: null };
}

/** Pins a process with all its threads to cores. Does nothing if `cores` is null. */
export async function pin(pid: number, cores: string | null): Promise<void> {
  if (cores !== null) await run('taskset', ['-a', '-c', '-p', cores, String(pid)]);
}

/** Pins only the first thread of a process to cores. Does nothing if `cores` is null. */
export async function pinFirstThread(pid: number, cores: string | null): Promise<void> {
  if (cores !== null) await run('taskset', ['-c', '-p', cores, String(pid)]);
}

/** A command line that starts on given cores. */
export function pinnedCommand(command: readonly string[], cores: string | null): string[] {
  return cores === null ? [...command] : ['taskset', '-c', cores, ...command];
}

/** Describes how servers and load share the machine. */
export function pinningText({ server, load, reason }: Cores): string {
  return reason === null ? `server on core ${server}, load on ${load}` : `nothing is pinned: ${reason}`;
}

/** Numbers of the cores this process may run on, as Linux lists them: `0-3,8`. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
