/** A daemon in its own process: killed, restarted on the same data, or measured. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKeyStore } from '../../../src/access/keys.ts';
import type { Cleanup } from '../cleanup.ts';
import { tempDir } from '../temp-dir.ts';
import { WAIT_TIMEOUT_MS, waitFor } from '../wait.ts';
import { LAUNCHER, type Running, readyUrl, start } from './command.ts';
import { TEST_SETTINGS } from './settings.ts';

export interface DaemonProcess {
  /** The address of the last start. It stays the same with a port that was given. */
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  /** An unlimited key, and one of the free tier; empty with the keys of a cluster. */
  readonly key: string;
  readonly freeKey: string;
  /** The process of the last start. */
  readonly child: ChildProcess;
  isRunning(): boolean;
  /** Output since the last start. */
  stdout(): string;
  stderr(): string;
  /** How it ended. */
  readonly ended: Running['ended'];
  /** Starts it, or starts it again with the same settings and data. */
  launch(): void;
  /** Likewise. Resolves when it serves. */
  start(): Promise<void>;
  /** Sends a signal. Resolves with the exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Resident memory, MiB. */
  memory(): number;
  /** A raw connection, ended with the cleanup. */
  dial(): Dialled;
  /** Milliseconds until /healthz is answered. */
  answersWithin(): Promise<number>;
}

interface DaemonOptions {
  /** Default: a free one. */
  port?: number;
  /** Default: true. The keys of a cluster are created by its members. */
  hasOwnKeys?: boolean;
  /** The data folder. Default: a new one. */
  dir?: string;
  /** Flags of `start`. */
  flags?: readonly string[];
  /** Default: the launcher. A run that kills needs the process itself. */
  program?: readonly string[];
}

/** Starts the program. `env` holds settings besides those of every test. */
export async function startDaemonProcess(
  cleanup: Cleanup,
  env: Record<string, string>,
  options: DaemonOptions = {},
): Promise<DaemonProcess> {
  const daemon = daemonProcess(cleanup, env, options);
  await daemon.start();
  return daemon;
}

/** The program, not started yet. */
export function daemonProcess(
  cleanup: Cleanup,
  env: Record<string, string>,
  { port = 0, hasOwnKeys = true, dir = tempDir(cleanup), flags = [], program = [LAUNCHER] }: DaemonOptions,
): DaemonProcess {
  const { key, freeKey } = hasOwnKeys ? createKeys(dir) : { key: '', freeKey: '' };
  const command = [...program, 'start', '--data-dir', dir, '--port', String(port), ...flags];
  let started: Running | null = null;
  const launch = (): Running => {
    started = start(cleanup, command, { cwd: dir, env: { ...TEST_SETTINGS, ...env } });
    return started;
  };
  const last = (): Running => {
    if (started === null) throw new Error('the daemon was not started');
    return started;
  };
  let url = `http://127.0.0.1:${port}`;
  const portOf = () => Number(new URL(url).port);
  return {
    get url() {
      return url;
    },
    get port() {
      return portOf();
    },
    dir,
    key,
    freeKey,
    get child() {
      return last().child;
    },
    isRunning: () => started !== null && started.child.exitCode === null && started.child.signalCode === null,
    stdout: () => last().stdout(),
    stderr: () => last().stderr(),
    get ended() {
      return last().ended;
    },
    launch: () => void launch(),
    async start() {
      url = await readyUrl(launch());
    },
    async end(signal) {
      const { child, ended } = last();
      child.kill(signal);
      return (await ended).code;
    },
    memory: () => residentMemory(last().child.pid),
    dial: () => new Dialled(cleanup, portOf()),
    async answersWithin() {
      const startedAt = performance.now();
      const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(WAIT_TIMEOUT_MS) });
      await response.text();
      return performance.now() - startedAt;
    },
  };
}

function createKeys(dir: string): { key: string; freeKey: string } {
  const keys = openKeyStore(join(dir, 'keys.db'));
  const { key } = keys.create({ name: 'unlimited', tier: 'unlimited' });
  const { key: freeKey } = keys.create({ name: 'free', tier: 'free' });
  keys.close();
  return { key, freeKey };
}

/**
 * What a flood may cost, MiB, and how long others may wait meanwhile, milliseconds. Without a bound the cost would be
 * many times as high.
 */
const MOST_MEMORY = 150;
const LONGEST_WAIT_MS = 5_000;

/** What a flood sends at full speed: twice the memory that the daemon may use for it. */
const FULL_SPEED_BYTES = 2 * MOST_MEMORY * 1024 * 1024;

/** Runs a flood. Others must be answered meanwhile, and the memory must stay bounded. */
export async function bounded(
  daemon: DaemonProcess,
  what: string,
  flood: () => Promise<unknown>,
): Promise<void> {
  const memory = daemon.memory();
  let over = false;
  const flooding = flood().finally(() => {
    over = true;
  });
  let [longest, most] = [0, 0];
  const watching = (async () => {
    while (!over) {
      longest = Math.max(longest, await daemon.answersWithin());
      most = Math.max(most, daemon.memory());
      await sleep(20);
    }
  })();
  await Promise.all([flooding, watching]);
  assert.ok(most - memory < MOST_MEMORY, `${what}: memory grew by ${Math.round(most - memory)} MiB`);
  assert.ok(longest < LONGEST_WAIT_MS, `${what}: others waited ${Math.round(longest)} ms`);
}

function residentMemory(pid: number | undefined): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kib === undefined) throw new Error(`the memory of process ${pid} cannot be read`);
  return Number(kib) / 1024;
}

/** A raw connection: sends bytes verbatim. */
export class Dialled {
  readonly socket: Socket;
  /** Everything received. */
  text = '';
  /** Whether the other side has ended it. */
  ended = false;

  constructor(cleanup: Cleanup, port: number) {
    this.socket = connect(port, '127.0.0.1');
    cleanup.after(() => void this.socket.destroy());
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      this.text += text;
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.ended = true;
    });
  }

  /** Sends and waits until the system has room for more, for at most `forMs`. */
  async send(data: string | Uint8Array, forMs = 100): Promise<void> {
    if (this.ended || this.socket.write(data)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, forMs);
      const { socket } = this;
      function done(): void {
        clearTimeout(timer);
        socket.off('drain', done);
        socket.off('close', done);
        resolve();
      }
      socket.once('drain', done).once('close', done);
    });
  }

  /**
   * Sends the same bytes repeatedly until the other side ends the connection or `limitMs` are over. Slows down once it
   * has sent more than a daemon may keep, because a daemon that waits for a client to accept its close frame discards
   * gigabytes.
   */
  async floodWith(data: string | Uint8Array, limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!this.ended && performance.now() < deadline) {
      await this.send(data);
      if (this.socket.bytesWritten > FULL_SPEED_BYTES) await sleep(50);
    }
  }

  /** Resolves when the other side has ended the connection. */
  async end(what: string): Promise<void> {
    await waitFor(() => this.ended, { what: `the end of ${what}` });
  }

  /** Resolves when the text received matches. */
  async receives(pattern: RegExp): Promise<string> {
    return waitFor(() => pattern.exec(this.text)?.[0], { what: String(pattern) });
  }
}
