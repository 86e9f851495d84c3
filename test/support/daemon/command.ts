/** Runs the program like a user, in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../wait.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const LAUNCHER = `${ROOT}bin/atlas-node`;
export const PINNED_NODE = `${ROOT}node_modules/node-linux-${process.arch}/bin/node`;
/** What the launcher runs with Node: the bundle. For tests that start the program often, or with other flags. */
export const PROGRAM = `${ROOT}bin/program.mjs`;
/** Flags with which Node runs sources, such as a test's own. The program never runs from its sources. */
export const SOURCE_FLAGS = ['--import', import.meta.resolve('tsx')];

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
}

export interface Running {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<Ended>;
}

/** Starts a command without any setting of this environment. It is killed when the owner ends first. */
export function start(
  owner: { after(fn: () => Promise<void>): void },
  [file = '', ...args]: string[],
  { cwd, env = {} }: RunOptions,
): Running {
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: homedir(), NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
    stdout,
    stderr,
  }));
  owner.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Runs a command to its end. */
export function run(
  owner: { after(fn: () => Promise<void>): void },
  command: string[],
  options: RunOptions,
): Promise<Ended> {
  return start(owner, command, options).ended;
}

/** The base address in the daemon's ready line, once it is printed. */
export function readyUrl({ stdout, stderr, child }: Running): Promise<string> {
  return waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${stderr()}`);
      return /is ready: REST (\S+)\/api /.exec(stdout())?.[1];
    },
    { what: `the ready line of the daemon (${child.spawnargs.join(' ')})` },
  );
}
