/** The daemon as users start it, in its own process, so that its time and memory can be measured. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readyUrl } from '../src/cli/start/start.ts';
import { killOnParentExit } from '../src/lib/kill-on-parent-exit.ts';

export const LAUNCHER = fileURLToPath(new URL('../bin/atlas-node', import.meta.url));

export interface Daemon {
  url: string;
  pid: number;
  /** Ends the daemon. Resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts a program with the flags of `start` on a free port. Resolves when it serves. `env` holds further settings. */
export async function startDaemon(
  program: string,
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Daemon> {
  const child = spawn(program, ['start', '--port', '0', ...flags], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killOnParentExit(child);
  const exited = once(child, 'exit');
  const stop = async (): Promise<number | null> => {
    child.kill();
    const [code] = await exited;
    return code;
  };
  for await (const line of createInterface(child.stdout)) {
    const url = readyUrl(line);
    if (url !== undefined) return { url, pid: child.pid ?? 0, stop };
  }
  throw new Error('the daemon ended before it was ready');
}
