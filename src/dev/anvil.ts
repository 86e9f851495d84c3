/** A local chain: anvil from the npm package @foundry-rs/anvil, as a child process that does not outlive this one. */
import { type AnvilProcess, endProcess, listeningAddress, spawnAnvil } from './anvil-process.ts';

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

type Call = Anvil['call'];

const CALL_TIMEOUT_MS = 60_000;
/** Whole coins in each of the ten well-known accounts: enough for months of demo traffic. */
const COINS_PER_ACCOUNT = 1_000_000_000;

/** Starts anvil on a free port of 127.0.0.1 and waits until it answers. Throws a FatalError if it does not start. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const process = spawnAnvil(anvilArguments(options));
  const address = await listeningAddress(process);
  const call: Call = (method, params = []) => request(`http://${address}`, method, params);
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
function startMiner(process: AnvilProcess, call: Call, everyMs: number): { stop(): Promise<void> } {
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
