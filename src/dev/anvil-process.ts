/** The anvil process: starts it, waits until it listens, and ends it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { FatalError } from '../lib/errors.ts';
import { killOnParentExit } from '../lib/kill-on-parent-exit.ts';
import { anvilPath } from './anvil-path.ts';

export interface AnvilProcess {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pid: number;
  /** Resolves when the process has ended for any reason, or failed to start. */
  readonly exited: Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 2_000;
/** Enough of stderr to contain a usage error, or a panic with its message. */
const ERROR_TAIL_CHARS = 2_000;

export function spawnAnvil(args: readonly string[]): AnvilProcess {
  // In its own session, so that Ctrl-C on the terminal reaches only the owner, which stops things in order.
  const child = spawn(anvilPath(), args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  killOnParentExit(child);
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  return { child, stdout: child.stdout, stderr: child.stderr, pid: child.pid ?? 0, exited };
}

/**
 * The `host:port` on which anvil reports to listen. From then on its output is dropped, and the process no longer keeps
 * this program alive. Throws a FatalError with anvil's own message if anvil ends first.
 */
export async function listeningAddress(anvil: AnvilProcess): Promise<string> {
  let errors = '';
  anvil.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-ERROR_TAIL_CHARS);
  });
  anvil.child.once('error', (error) => {
    errors = error.message;
  });
  const address = await firstMatch(anvil, /^Listening on (\S+)/);
  if (address === undefined) {
    await endProcess(anvil);
    throw new FatalError(`anvil, the local chain, did not start: ${errors.trim() || 'no output'}`);
  }
  anvil.stdout.resume();
  anvil.child.unref();
  for (const pipe of [anvil.stdout, anvil.stderr]) if (pipe instanceof Socket) pipe.unref();
  return address;
}

/** First capture of `pattern` in a line of stdout, or undefined if the process ends or the time is up first. */
async function firstMatch(anvil: AnvilProcess, pattern: RegExp): Promise<string | undefined> {
  const lines = createInterface({ input: anvil.stdout });
  const timer = setTimeout(() => lines.close(), START_TIMEOUT_MS);
  void anvil.exited.then(() => lines.close());
  try {
    return await new Promise((resolve) => {
      lines.on('line', (line) => {
        const found = pattern.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
      lines.once('close', () => resolve(undefined));
    });
  } finally {
    clearTimeout(timer);
    lines.close();
  }
}

/** Ends the process. Resolves when it is gone. */
export async function endProcess(anvil: AnvilProcess): Promise<void> {
  anvil.child.ref();
  anvil.child.kill('SIGTERM');
  const timer = setTimeout(() => anvil.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await anvil.exited;
  clearTimeout(timer);
}
