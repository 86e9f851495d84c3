/**
 * `/rpc` against its peers in one run, alternating: nginx in front of the same node for what is passed on, and the node
 * asked directly for what is answered here; then the memory that long answers take. Needs nginx, wrk and taskset, two
 * cores, and three minutes. Exits with 1 when a floor is missed.
 *
 *     node_modules/.bin/node scripts/bench/rpc.ts [passthrough|latency|local|cached|memory]...
 */
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { type Load, loadBy, type Outcome } from './rpc-load.ts';
import { growthByLongAnswers } from './rpc-memory.ts';
import { type Program, startFixedNode, startGateway, startProxy } from './rpc-programs.ts';

/** The server under test has one core to itself, the load and the node share the other. */
const SERVER_CORE = 0;
const LOAD_CORE = 1;
const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 64;

const BENCHES: Record<string, () => Promise<void>> = { passthrough, latency, local, cached, memory };

/** What must hold and what is wanted, of a figure that is better the higher it is, or the lower. */
interface Budget {
  figure: 'ratio' | 'added ms' | 'MB';
  floor: number;
  goal: number;
}

async function main(): Promise<void> {
  const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
  for (const name of chosen) {
    const bench = BENCHES[name];
    if (bench === undefined)
      throw new Error(`there is no bench ${name}; choose of ${Object.keys(BENCHES).join(', ')}`);
    await bench();
  }
}

/** Calls that nothing can answer but the node: the state of many accounts. */
async function passthrough(): Promise<void> {
  await withGateway(await startFixedNode(LOAD_CORE), async (node, gateway) => {
    const proxy = await startProxy(SERVER_CORE, node.url);
    const bodies = balances(2_000);
    await compare(`passthrough, ${CONNECTIONS} connections`, { figure: 'ratio', floor: 0.5, goal: 0.8 }, [
      [proxy, { bodies, connections: CONNECTIONS }],
      [gateway, { bodies, connections: CONNECTIONS, key: gateway.key }],
    ]);
    await proxy.stop();
  });
}

/** What a call takes longer than at the node itself, one at a time. */
async function latency(): Promise<void> {
  await withGateway(await startFixedNode(LOAD_CORE), async (node, gateway) => {
    const bodies = balances(2_000);
    await compare('passthrough, 1 connection', { figure: 'added ms', floor: 0.5, goal: 0.2 }, [
      [node, { bodies, connections: 1 }],
      [gateway, { bodies, connections: 1, key: gateway.key }],
    ]);
  });
}

async function local(): Promise<void> {
  await withAnvil(async (_anvil, node, gateway) => {
    const bodies = [call('eth_blockNumber', '[]')];
    await compare('eth_blockNumber', { figure: 'ratio', floor: 0.8, goal: 1 }, [
      [node, { bodies, connections: CONNECTIONS }],
      [gateway, { bodies, connections: CONNECTIONS, key: gateway.key }],
    ]);
  });
}

async function cached(): Promise<void> {
  await withAnvil(async (anvil, node, gateway) => {
    const block = await fullBlock(anvil);
    const bodies = [call('eth_getBlockByNumber', `["${block}",true]`)];
    await compare('a full finalized block', { figure: 'ratio', floor: 10, goal: 30 }, [
      [node, { bodies, connections: CONNECTIONS }],
      [gateway, { bodies, connections: CONNECTIONS, key: gateway.key }],
    ]);
  });
}

/** Long answers, which are passed on while they come. */
async function memory(): Promise<void> {
  const { bytes, atOnce, growth } = await growthByLongAnswers((node) => startGateway(SERVER_CORE, node));
  console.log(`${atOnce} answers of ${(bytes / 1e6).toFixed(0)} MB at once`);
  console.log(
    `  gateway   ${judge({ figure: 'MB', floor: 64, goal: 32 }, growth / 1e6)} of memory more than before`,
  );
}

type Gateway = Awaited<ReturnType<typeof startGateway>>;

async function withGateway(
  node: Program,
  work: (node: Program, gateway: Gateway) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway(SERVER_CORE, node.url);
  try {
    await work(node, gateway);
  } finally {
    await gateway.stop();
    await node.stop();
  }
}

async function withAnvil(
  work: (anvil: Anvil, node: Program, gateway: Gateway) => Promise<void>,
): Promise<void> {
  const anvil = await startAnvil({ manual: true });
  await anvil.call('anvil_mine', ['0x3']);
  const node: Program = { name: 'anvil', url: anvil.url, pids: [anvil.pid], stop: () => anvil.stop() };
  await withGateway(node, (_, gateway) => work(anvil, node, gateway));
}

/** A block of two hundred transfers, made final by the blocks on top of it. */
async function fullBlock(anvil: Anvil): Promise<string> {
  const [from] = (await anvil.call('eth_accounts')) as string[];
  for (let i = 1; i <= 200; i++) {
    const to = `0x${i.toString(16).padStart(40, '1')}`;
    await anvil.call('eth_sendTransaction', [{ from, to, value: '0x1', gas: '0x5208' }]);
  }
  await anvil.call('anvil_mine', ['0x1']);
  const number = String(await anvil.call('eth_blockNumber'));
  await anvil.call('anvil_mine', ['0x80']);
  const { transactions } = (await anvil.call('eth_getBlockByNumber', [number, false])) as {
    transactions: unknown[];
  };
  const { number: finalized } = (await anvil.call('eth_getBlockByNumber', ['finalized', false])) as {
    number: string;
  };
  if (transactions.length !== 200 || Number(finalized) < Number(number))
    throw new Error('no full finalized block');
  return number;
}

function balances(count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    call('eth_getBalance', `["0x${i.toString(16).padStart(40, '0')}","latest"]`),
  );
}

function call(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
}

/** Measures both sides in turn and prints medians, and the ratio of the second to the first in the median of the rounds. */
async function compare(title: string, budget: Budget, sides: readonly [Side, Side]): Promise<void> {
  const outcomes: [Outcome[], Outcome[]] = [[], []];
  for (const [program, load] of sides) await loadBy(LOAD_CORE, program, { ...load, seconds: 1 });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, [program, load]] of sides.entries()) {
      outcomes[i]!.push(await loadBy(LOAD_CORE, program, { ...load, seconds: SECONDS }));
    }
  }
  console.log(title);
  for (const [i, [program]] of sides.entries())
    console.log(`  ${program.name.padEnd(10)}${row(outcomes[i]!)}`);
  const ratios = outcomes[1].map((ours, i) => ours.requestsPerSecond / outcomes[0][i]!.requestsPerSecond);
  const cpu =
    median(outcomes[0].map((o) => o.cpuPerRequest)) / median(outcomes[1].map((o) => o.cpuPerRequest));
  const added = median(outcomes[1].map((o) => o.p50)) - median(outcomes[0].map((o) => o.p50));
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  console.log(
    `  ratio     ${median(ratios).toFixed(2)} of its requests/s (${spread}), by processor time ${cpu.toFixed(2)}; p50 ${(added / 1000).toFixed(3)} ms more`,
  );
  console.log(`  budget    ${judge(budget, budget.figure === 'ratio' ? median(ratios) : added / 1000)}`);
}

/** The figure and what the budget says of it. */
function judge({ figure, floor, goal }: Budget, value: number): string {
  const reaches = (bound: number) => (figure === 'ratio' ? value >= bound : value <= bound);
  const verdict = reaches(goal) ? 'goal reached' : reaches(floor) ? 'floor held' : 'FLOOR MISSED';
  if (!reaches(floor)) process.exitCode = 1;
  return `${value.toFixed(2)} ${figure} (floor ${floor}, goal ${goal}): ${verdict}`;
}

type Side = readonly [Program, Omit<Load, 'seconds'>];

function row(outcomes: readonly Outcome[]): string {
  const of = (name: keyof Outcome) => median(outcomes.map((outcome) => outcome[name]));
  return `${of('requestsPerSecond').toFixed(0)} requests/s, p50 ${of('p50').toFixed(0)} us, p99 ${of('p99').toFixed(0)} us, ${of('cpuPerRequest').toFixed(1)} us of processor time each`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

await main();
