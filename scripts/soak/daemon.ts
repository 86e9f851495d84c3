/** The daemon of the soak, in a process of its own, so that its memory can be watched. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killOnParentExit } from '../../src/lib/watchdog.ts';
import { RUNTIME_ENV, RUNTIME_FLAGS } from '../runtime-flags.ts';

/** What the process sends once it serves. */
export interface ReadyMessage {
  port: number;
  /** An API key without limits. */
  key: string;
}

export interface SoakDaemon extends ReadyMessage {
  pid: number;
  stop(): Promise<void>;
}

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Starts a daemon with its data in `dir`, for the node at `nodeUrl` (HTTP and WebSocket on one port). */
export async function startSoakDaemon(dir: string, nodeUrl: string): Promise<SoakDaemon> {
  // As the launcher starts it: a TypeScript loader would add to the memory that is watched.
  const child = fork(fileOf('serve.ts'), [dir, nodeUrl], {
    execArgv: [
      '--disable-warning=ExperimentalWarning',
      ...RUNTIME_FLAGS,
      '--require',
      fileOf('../../bin/strip-types.cjs'),
    ],
    env: { ...RUNTIME_ENV, ...process.env },
  });
  killOnParentExit(child);
  const exited = once(child, 'exit');
  const [served] = (await once(child, 'message')) as [ReadyMessage];
  const stop = async (): Promise<void> => {
    child.kill();
    await exited;
  };
  return { ...served, pid: child.pid ?? 0, stop };
}
