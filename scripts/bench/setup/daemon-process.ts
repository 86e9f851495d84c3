/** The daemon as users run it: `atlas-node start` in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openKeyStore } from '../../../src/access/keys.ts';
import { readyUrl } from '../../../src/cli/start/start.ts';
import { FatalError } from '../../../src/lib/errors.ts';
import { killOnParentExit } from '../../../src/lib/kill-on-parent-exit.ts';
import type { IndexStatus } from '../../../src/model/index-status.ts';
import { pinnedCommand } from '../process/cores.ts';
import { programCommand } from '../process/program.ts';
import { waitUntil } from '../wait-until.ts';

export interface DaemonOptions {
  dataDir: string;
  nodeHttp: string;
  /** Empty: the daemon polls for heads. */
  nodeWs: string;
  /** A core list for `taskset`, or null. */
  cores: string | null;
  /** More settings, as environment variables. */
  env?: Readonly<Record<string, string>>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
/** Longest time for a status answer: the event loop may be blocked, but not for that long. */
const ANSWER_TIMEOUT_MS = 30_000;
const STATUS_POLL_MS = 50;
/** Enough of the log for the reason of a failure. */
const LOG_TAIL_CHARS = 4_000;

/** Settings that differ from the defaults: many sockets under one key, metrics, and a readable log. */
const SETTINGS = {
  ATLAS_STREAM__MAX_CONNECTIONS_PER_KEY: '10000',
  ATLAS_METRICS__LISTEN: '127.0.0.1:0',
  ATLAS_LOG__FORMAT: 'json',
  ATLAS_LOG__LEVEL: 'info',
  // The chain of the bench begins at 1. For the default, the daemon first proves that block 0 is pruned: 30 s.
  ATLAS_INDEX__START_BLOCK: '1',
};

/** Starts the daemon and waits until it serves. Throws FatalError with the end of its log if it does not. */
export async function startDaemonProcess(options: DaemonOptions): Promise<DaemonProcess> {
  mkdirSync(options.dataDir, { recursive: true });
  const key = createKey(options.dataDir);
  const startedAt = Date.now();
  const child = spawnDaemon(options);
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const output = readOutput(child);
  try {
    const handle = await waitUntil(
      () => {
        if (output.spawnError !== null)
          throw new FatalError(`the daemon cannot be started: ${output.spawnError.message}`);
        if (child.exitCode !== null) throw new FatalError(`the daemon ended: ${output.logTail()}`);
        const { url, metricsUrl } = output;
        return url !== null && metricsUrl !== null ? { url, metricsUrl } : null;
      },
      { what: 'the daemon to serve', timeoutMs: START_TIMEOUT_MS, everyMs: 2 },
    );
    return new DaemonProcess(child, exited, { ...handle, key, startedAt, output });
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    throw error;
  }
}

function createKey(dataDir: string): string {
  const keys = openKeyStore(join(dataDir, 'keys.db'));
  try {
    return keys.create({ name: 'bench', tier: 'unlimited' }).key;
  } finally {
    keys.close();
  }
}

function spawnDaemon({ dataDir, nodeHttp, nodeWs, cores, env }: DaemonOptions): ChildProcess {
  const flags = ['--node-http', nodeHttp, '--data-dir', dataDir, '--port', '0'];
  if (nodeWs !== '') flags.push('--node-ws', nodeWs);
  const [file = '', ...args] = pinnedCommand(programCommand('start', ...flags), cores);
  // Ignores the user's settings, both from the environment and from a file in the working directory.
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('ATLAS_'));
  const child = spawn(file, args, {
    cwd: dataDir,
    env: { ...Object.fromEntries(kept), ...SETTINGS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches every process of the terminal, but the daemon must be stopped cleanly.
    detached: true,
  });
  killOnParentExit(child);
  return child;
}

/** Its output: its addresses, once printed, and the end of its log. */
interface Output {
  /** Why the process could not be started, or null. */
  spawnError: Error | null;
  url: string | null;
  metricsUrl: string | null;
  /** Unix milliseconds. */
  readyAt: number;
  logTail(): string;
}

function readOutput(child: ChildProcess): Output {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the daemon has no pipes');
  let log = '';
  const output: Output = {
    spawnError: null,
    url: null,
    metricsUrl: null,
    readyAt: 0,
    logTail: () => log.trim() || 'it said nothing',
  };
  child.once('error', (error) => {
    output.spawnError = error;
  });
  createInterface({ input: stdout }).on('line', (line) => {
    const url = readyUrl(line);
    if (url === undefined) return;
    output.url = url;
    output.readyAt = Date.now();
  });
  createInterface({ input: stderr }).on('line', (line) => {
    log = `${log}\n${line}`.slice(-LOG_TAIL_CHARS);
    output.metricsUrl ??= /"(http:\/\/127[^"]*\/metrics)"/.exec(line)?.[1] ?? null;
  });
  return output;
}

interface DaemonHandle {
  url: string;
  metricsUrl: string;
  key: string;
  startedAt: number;
  output: Output;
}

/** A daemon that serves. */
export class DaemonProcess {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  /** A key without limits. */
  readonly key: string;
  /** Unix milliseconds when it was started, and when it reported that it serves. */
  readonly startedAt: number;
  readonly readyAt: number;
  private readonly child: ChildProcess;
  private readonly exited: Promise<void>;
  private readonly metricsUrl: string;
  private readonly output: Output;

  constructor(child: ChildProcess, exited: Promise<void>, handle: DaemonHandle) {
    this.child = child;
    this.exited = exited;
    this.pid = child.pid ?? 0;
    this.url = handle.url;
    this.port = Number(new URL(handle.url).port);
    this.metricsUrl = handle.metricsUrl;
    this.key = handle.key;
    this.startedAt = handle.startedAt;
    this.readyAt = handle.output.readyAt;
    this.output = handle.output;
  }

  async status(): Promise<IndexStatus> {
    const status: IndexStatus = JSON.parse(await this.fetchText(`${this.url}/status`));
    return status;
  }

  /** Values of its metrics by name with labels, as Prometheus scrapes them. */
  async metrics(): Promise<Map<string, number>> {
    const text = await this.fetchText(this.metricsUrl);
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      samples.map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
    );
  }

  /** Resolves with the status when the index has reached a block. */
  waitForBlock(block: number, timeoutMs: number): Promise<IndexStatus> {
    return waitUntil(
      async () => {
        const status = await this.status();
        return (status.head?.number ?? -1) >= block ? status : null;
      },
      { what: `the index to reach block ${block}`, timeoutMs, everyMs: STATUS_POLL_MS },
    );
  }

  /** Asks the daemon to stop. Resolves when it has. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.exited;
    clearTimeout(timer);
  }

  /** Throws FatalError with the end of the daemon's log if it does not answer. */
  private async fetchText(url: string): Promise<string> {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
      return await response.text();
    } catch (cause) {
      const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
      throw new FatalError(`the daemon does not answer (${String(reason)}): ${this.output.logTail()}`, {
        cause,
      });
    }
  }
}
