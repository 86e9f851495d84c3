/**
 * The daemon beside stock development nodes whose chain is reverted again and again. Index, subscriptions, filters and
 * cached calls must agree with the node.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { toQuantity } from '../../../src/lib/hex.ts';
import { killOnParentExit } from '../../../src/lib/kill-on-parent-exit.ts';
import { StreamClient } from '../../streams/client.ts';
import { type Cleanup, nestedCleanup } from '../cleanup.ts';
import { PINNED_NODE } from '../daemon/command.ts';
import { startTestDaemon, type TestDaemon } from '../daemon/daemon.ts';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait.ts';

interface StockNode {
  /** Installed into a folder of its own: no dependency of the project. */
  package: string;
  program: string;
  /** Files of the folder, by name. */
  files: Record<string, string>;
  args: (port: string) => string[];
}

const hardhatArgs = (port: string) => ['node', '--hostname', '127.0.0.1', '--port', port];
const NODES: Record<string, StockNode> = {
  'hardhat 2': {
    package: 'hardhat@2.29.1',
    program: 'hardhat',
    files: { 'package.json': '{"private":true}', 'hardhat.config.js': 'module.exports = { networks: {} };' },
    args: hardhatArgs,
  },
  'hardhat 3': {
    package: 'hardhat@3.18.0',
    program: 'hardhat',
    files: { 'package.json': '{"private":true,"type":"module"}', 'hardhat.config.js': 'export default {};' },
    args: hardhatArgs,
  },
  'ganache 7': {
    package: 'ganache@7.9.2',
    program: 'ganache',
    files: { 'package.json': '{"private":true}' },
    args: (port) => ['--server.host', '127.0.0.1', '--server.port', port],
  },
};

export interface NodesOptions {
  /** Only nodes whose name has this text. */
  only: string;
  /** Where to install the nodes. */
  folder: string;
  /** Reverts of each chain. */
  reverts: number;
  print: (line: string) => void;
}

/** A call of the node, or of the daemon's /rpc. */
type Call = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

interface Log {
  blockHash: string;
  logIndex: string;
  removed?: boolean;
}
interface Block {
  number: string;
  hash: string;
  transactions: { hash: string; to: string | null }[];
}
interface Transfer {
  blockHash: string;
  txHash: string;
  eventIndex: number;
  removed?: boolean;
}

function install(into: string, name: string, node: StockNode): string {
  const folder = join(into, name.replace(' ', '-'));
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(node.files)) writeFileSync(join(folder, file), text);
  if (!existsSync(join(folder, 'node_modules', '.bin', node.program))) {
    const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', node.package];
    // npm leaves out native modules that do not fit the Node it runs on.
    const env = { ...process.env, PATH: `${dirname(PINNED_NODE)}:${process.env.PATH}` };
    execFileSync('npm', args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return folder;
}

function callOf(url: string, headers: Record<string, string> = {}): Call {
  return async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const init = { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
    const { result, error } = (await (await fetch(url, init)).json()) as { result: T; error?: object };
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
}

async function startNode(owner: Cleanup, into: string, name: string, stock: StockNode): Promise<string> {
  const folder = install(into, name, stock);
  const port = String(await freePort());
  const command = [join(folder, 'node_modules', '.bin', stock.program), ...stock.args(port)];
  const env = { ...process.env, CI: 'true', HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' };
  const child = spawn(PINNED_NODE, command, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  killOnParentExit(child);
  owner.after(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await waitFor(() => callOf(url)('eth_chainId').catch(() => null), { what: `${name} to answer` });
  return url;
}

/** Emits a log with one topic on every call. */
const EMITTER = (() => {
  const code = `7f${'e1'.repeat(32)}60006000a100`;
  return `0x60${(code.length / 2).toString(16)}80600b6000396000f3${code}`;
})();
const RECEIVER = `0x00000000000000000000000000000000000a71a5`;

/** What the daemon said about one subject in the course of a run, and whether the node agrees. */
class Comparison {
  readonly wrong: string[] = [];
  compared = 0;

  equal(what: string, got: unknown, wanted: unknown): void {
    this.compared++;
    if (!isDeepStrictEqual(got, wanted))
      this.wrong.push(`${what}: got ${JSON.stringify(got)}, the node ${JSON.stringify(wanted)}`);
  }
}

/** The events that a reorg did not withdraw, by key. */
function standing<T extends { removed?: boolean }>(
  events: readonly T[],
  keyOf: (event: T) => string,
): string[] {
  const keys = new Set<string>();
  for (const event of events) {
    if (event.removed === true) keys.delete(keyOf(event));
    else keys.add(keyOf(event));
  }
  return [...keys].sort();
}

const logKey = ({ blockHash, logIndex }: Log) => `${blockHash} ${Number(logIndex)}`;

class Run {
  readonly comparison = new Comparison();
  private readonly node: Call;
  private readonly daemon: TestDaemon;
  private readonly rpc: Call;
  private readonly sender: string;
  private readonly emitter: string;
  private readonly options: NodesOptions;
  private sent = 0;

  constructor(node: Call, daemon: TestDaemon, sender: string, emitter: string, options: NodesOptions) {
    this.options = options;
    this.node = node;
    this.daemon = daemon;
    this.rpc = callOf(`${daemon.url}/rpc`, { 'X-API-Key': daemon.key });
    this.sender = sender;
    this.emitter = emitter;
  }

  async run(owner: Cleanup): Promise<void> {
    const { comparison, node, daemon, rpc, emitter } = this;
    const { reverts, print } = this.options;
    const client = await StreamClient.open(owner, daemon.url, daemon.key);
    const heads = await client.subscribe<Block>('newHeads');
    const logs = await client.subscribe<Log>('logs', { address: emitter });
    const transfers = await client.subscribe<Transfer>('wallet_transfers', { address: RECEIVER });
    const logFilter = await rpc<string>('eth_newFilter', { address: emitter });
    const blockFilter = await rpc<string>('eth_newBlockFilter');
    const first = Number(await node('eth_blockNumber')) + 1;
    const polled: { logs: Log[]; blocks: string[] } = { logs: [], blocks: [] };
    const poll = async () => {
      polled.logs.push(...(await rpc<Log[]>('eth_getFilterChanges', logFilter)));
      polled.blocks.push(...(await rpc<string[]>('eth_getFilterChanges', blockFilter)));
    };

    for (let revert = 1; revert <= reverts; revert++) {
      const snapshot = await node('evm_snapshot');
      const count = 1 + (revert % 3);
      await this.mine(count);
      if (revert % 2 === 0) await this.indexed(); // every other branch is gone before it is seen
      await this.compareCalls();
      if (revert % 5 === 0) await poll();
      await node('evm_revert', snapshot);
      await this.mine(count + (revert % 2)); // a shorter branch would be a node that is behind
      await this.indexed();
      await this.compareCalls();
      await poll();
      if (revert % 25 === 0) print(`${revert} reverts, ${comparison.compared} comparisons`);
    }

    const blocks = await this.blocksFrom(first);
    const hashes = blocks.map(({ hash }) => hash);
    await waitFor(() => heads.results.at(-1)?.hash === hashes.at(-1), { what: 'the last head' });
    const logsOfNode = await node<Log[]>('eth_getLogs', {
      address: emitter,
      fromBlock: toQuantity(first),
      toBlock: 'latest',
    });
    const wanted = logsOfNode.map(logKey).sort();
    const isComplete = () => isDeepStrictEqual(standing(logs.results, logKey), wanted);
    await waitFor(isComplete, { what: 'the last logs' }).catch(() => undefined);
    await poll();
    const seen = new Set(heads.results.map(({ hash }) => hash));
    comparison.equal(
      'newHeads',
      hashes.filter((hash) => !seen.has(hash)),
      [],
    );
    comparison.equal('logs', standing(logs.results, logKey), wanted);
    comparison.equal('log filter', standing(polled.logs, logKey), wanted);
    comparison.equal(
      'block filter',
      hashes.filter((hash) => !polled.blocks.includes(hash)),
      [],
    );
    const received = blocks.flatMap(({ hash, transactions }) =>
      transactions.filter(({ to }) => to === RECEIVER).map((sent) => `${hash} ${sent.hash}`),
    );
    const keyOf = ({ blockHash, txHash }: Transfer) => `${blockHash} ${txHash}`;
    comparison.equal('wallet_transfers', standing(transfers.results, keyOf), [...received].sort());
    comparison.equal('index', (await this.indexedTransfers()).map(keyOf).sort(), [...received].sort());
    const summary = await daemon.get<{ nativeReceivedWei: string }>('wallet_summary', { address: RECEIVER });
    const balance = BigInt(await node<string>('eth_getBalance', RECEIVER, 'latest'));
    comparison.equal('nativeReceivedWei', summary.nativeReceivedWei, String(balance));
  }

  /** Mines blocks with a transfer and a log each. */
  private async mine(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const value = toQuantity(1_000 + this.sent++);
      const fee = { gas: '0x30d40', from: this.sender };
      await this.node('eth_sendTransaction', { ...fee, to: RECEIVER, value });
      await this.node('eth_sendTransaction', { ...fee, to: this.emitter });
    }
  }

  /** Waits until the index has the node's head. */
  private async indexed(): Promise<void> {
    const { hash } = await this.node<Block>('eth_getBlockByNumber', 'latest', false);
    const headers = { 'X-API-Key': this.daemon.key };
    const isIndexed = async () => {
      const { headers: answered } = await fetch(`${this.daemon.url}/api/whale_transfers?limit=1`, {
        headers,
      });
      return answered.get('x-indexed-hash') === hash;
    };
    await waitFor(isIndexed, { what: `block ${hash} to be indexed` });
  }

  /** Asks the same of /rpc, twice, and of the node. */
  private async compareCalls(): Promise<void> {
    const head = Number(await this.node('eth_blockNumber'));
    const newest = await this.node<Block>('eth_getBlockByNumber', toQuantity(head), true);
    const calls: [string, ...unknown[]][] = [
      ['eth_getLogs', { address: this.emitter, fromBlock: toQuantity(head - 5), toBlock: toQuantity(head) }],
      ['eth_getBalance', RECEIVER, 'latest'],
      ...newest.transactions.map(({ hash }): [string, string] => ['eth_getTransactionReceipt', hash]),
    ];
    for (let number = Math.max(0, head - 6); number <= head; number++)
      calls.push(['eth_getBlockByNumber', toQuantity(number), false]);
    for (const [method, ...params] of calls) {
      const wanted = await this.node(method, ...params);
      for (let time = 1; time <= 2; time++)
        this.comparison.equal(
          `${method} ${JSON.stringify(params)}`,
          await this.rpc(method, ...params),
          wanted,
        );
    }
  }

  private async blocksFrom(first: number): Promise<Block[]> {
    const head = Number(await this.node('eth_blockNumber'));
    const blocks: Block[] = [];
    for (let number = first; number <= head; number++)
      blocks.push(await this.node('eth_getBlockByNumber', toQuantity(number), true));
    return blocks;
  }

  private async indexedTransfers(): Promise<Transfer[]> {
    const all: Transfer[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      type Page = { transfers: Transfer[]; nextCursor: string | null };
      const page: Page = await this.daemon.get<Page>('address_transfers', {
        address: RECEIVER,
        limit: 500,
        ...(cursor !== '' && { cursor }),
      });
      all.push(...page.transfers);
      cursor = page.nextCursor;
    }
    return all;
  }
}

async function compare(
  owner: Cleanup,
  name: string,
  stock: StockNode,
  options: NodesOptions,
): Promise<boolean> {
  const { folder, reverts, print } = options;
  const startedAt = performance.now();
  const url = await startNode(owner, folder, name, stock);
  const node = callOf(url);
  const [sender = ''] = await node<string[]>('eth_accounts');
  const created = await node('eth_sendTransaction', { from: sender, data: EMITTER, gas: '0x30d40' });
  const { contractAddress } = await node<{ contractAddress: string }>('eth_getTransactionReceipt', created);
  const daemon = await startTestDaemon(owner, {
    flags: { '--node-http': url, '--node-ws': url.replace('http', 'ws'), '--start-block': '0' },
  });
  const run = new Run(node, daemon, sender, contractAddress.toLowerCase(), options);
  await run.run(owner);
  const { compared, wrong } = run.comparison;
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const version = (await node<string>('web3_clientVersion')).split('/').slice(0, 2).join('/');
  const verdict = wrong.length === 0 ? 'all equal' : `${wrong.length} DIFFER`;
  print(
    `${name.padEnd(10)} ${version}: ${reverts} reverts, ${compared} comparisons, ${verdict}, ${seconds} s`,
  );
  for (const text of wrong.slice(0, 10)) print(`  ${text.slice(0, 400)}`);
  return wrong.length === 0;
}

/** Compares the daemon with each node, and prints the outcomes. Returns whether everything was equal. */
export async function compareNodes(options: NodesOptions): Promise<boolean> {
  let isRight = true;
  for (const [name, stock] of Object.entries(NODES)) {
    if (!name.includes(options.only)) continue;
    const cleanups: (() => void | Promise<void>)[] = [];
    const owner = nestedCleanup({ after: (close) => void cleanups.push(close) });
    isRight = (await compare(owner, name, stock, options)) && isRight;
    for (const close of cleanups) await close();
  }
  return isRight;
}
