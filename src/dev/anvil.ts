/** A local chain: anvil from the npm package @foundry-rs/anvil, as a child process that does not outlive this one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { FatalError } from '../lib/errors.ts';
import { killOnParentExit } from '../lib/kill-on-parent-exit.ts';
import { anvilPath } from './anvil-path.ts';

interface AnvilOptions {
  /** Milliseconds between blocks. Without this or `manual`, each transaction is mined at once in its own block. */
  blockTimeMs?: number;
  /** Mine blocks only by `evm_mine` and `anvil_mine`. */
  manual?: boolean;
  /** Default: 31337. */
  chainId?: number;
  /** Number of newest blocks for which anvil keeps state; default 256. It keeps all blocks, receipts and traces. */
  stateBlocks?: number;
}

export interface Anvil {
  /** HTTP address. `wsUrl` has the same port. */
  readonly url: string;
  readonly wsUrl: string;
  readonly pid: number;
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<void>;
  /** Result of one JSON-RPC call; rejects with the node's own message. */
  call(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Ends the process. Resolves when it has ended. */
  stop(): Promise<void>;
}

const CALL_TIMEOUT_MS = 60_000;
/** Whole coins in each of the ten well-known accounts: enough for months of demo traffic. */
const COINS_PER_ACCOUNT = 1_000_000_000;

/** Starts anvil on a free port of 127.0.0.1 and waits until it answers. Throws a FatalError if it does not start. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const process = spawnAnvil(anvilArguments(options));
  const address = await listeningAddress(process);
  const call: Anvil['call'] = (method, params = []) => request(`http://${address}`, method, params);
  await call('anvil_setLoggingEnabled', [false]);
  const miner =
    options.blockTimeMs === undefined ? undefined : startMiner(process, call, options.blockTimeMs);

  const stop = async () => {
    await miner?.stop();
    await endProcess(process);
  };
  return {
    url: `http://${address}`,
    wsUrl: `ws://${address}`,
    pid: process.pid,
    exited: process.exited,
    call,
    stop,
  };
}

function anvilArguments(options: AnvilOptions): string[] {
  const args = ['--host', '127.0.0.1', '--port', '0', '--balance', String(COINS_PER_ACCOUNT)];
  // Without this, anvil writes some 300 kB per block to a folder in the home directory and leaves them there.
  args.push('--prune-history', String(options.stateBlocks ?? 256));
  // startMiner keeps the interval, because with --block-time anvil holds 1,500 states in memory, 2 GB, despite
  // --prune-history.
  if (options.manual || options.blockTimeMs !== undefined) args.push('--no-mining');
  if (options.chainId !== undefined) args.push('--chain-id', String(options.chainId));
  return args;
}

/** Mines a block every `everyMs`. Ends a chain that can no longer mine, so that its owner sees `exited` resolve. */
function startMiner(process: AnvilProcess, call: Anvil['call'], everyMs: number): { stop(): Promise<void> } {
  let inFlight: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    inFlight ??= call('evm_mine')
      .catch(() => endProcess(process))
      .finally(() => {
        inFlight = undefined;
      });
  }, everyMs).unref();
  void process.exited.then(() => clearInterval(timer));
  return {
    async stop() {
      clearInterval(timer);
      await inFlight;
    },
  };
}

async function request(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error) throw new Error(`anvil refused ${method}: ${answer.error.message}`);
  return answer.result;
}

/** The anvil process: starts it, waits until it listens, and ends it. */
interface AnvilProcess {
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
