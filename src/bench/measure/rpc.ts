/** `/rpc` through the gateway against the node asked directly and against nginx in front of the same node. */
import type { Figure, Table, Unit } from '../figure.ts';
import { findNginx, type Nginx, startNginx } from '../load/nginx.ts';
import { postRequest } from '../load/request.ts';
import { inTurn, loadTool, measureThroughput, type Target, type Throughput } from '../load/throughput.ts';
import { fixedCall } from '../parts/fixed-call.ts';
import { pin, sharing } from '../process/cores.ts';
import type { DaemonProcess } from '../stage/daemon.ts';
import type { ChainNode, Stage } from '../stage/stage.ts';
import { measureLocalAnswers } from './rpc-local.ts';

/** Distinct calls, so that none is merged with another. */
const CALLS = Array.from({ length: 1_000 }, (_, i) => fixedCall(i));

export async function measureRpc(stage: Stage): Promise<Table[]> {
  const chain = await stage.chain();
  await stage.filledFolder();
  stage.log('rpc: calls passed through against nginx and against the node itself');
  const passed = await stage.serve({ nodeHttp: chain.fastUrl }, (daemon) =>
    withNginx(stage, chain, (nginx) => measurePassed(stage, chain, daemon, nginx)),
  );
  return [passed, ...(await measureLocalAnswers(stage))];
}

async function withNginx<T>(
  stage: Stage,
  chain: ChainNode,
  use: (nginx: Nginx | null) => Promise<T>,
): Promise<T> {
  const program = findNginx();
  if (program === null) return use(null);
  const nginx = await startNginx(program, {
    upstreamPort: portOf(chain.fastUrl),
    folder: stage.folder,
    cores: stage.cores.server,
  });
  return stage.whileRunning(
    () => use(nginx),
    () => nginx.stop(),
  );
}

async function measurePassed(
  stage: Stage,
  chain: ChainNode,
  daemon: DaemonProcess,
  nginx: Nginx | null,
): Promise<Table> {
  const node: Target = {
    name: 'the node',
    pid: chain.part.pid,
    port: portOf(chain.fastUrl),
    requests: requests('/', ''),
  };
  const gateway: Target = {
    name: 'the gateway',
    pid: daemon.pid,
    port: daemon.port,
    requests: requests('/rpc', daemon.key),
  };
  const proxy = nginx && { name: 'nginx', pid: nginx.pid, port: nginx.port, requests: requests('/', '') };
  const { server, load } = stage.cores;
  const at = (target: Target, connections?: number) => async () => {
    // When the node is asked directly it is the server; otherwise it runs with the load.
    await pin(chain.part.pid, target === node ? server : load);
    return measureThroughput(stage, target, connections);
  };
  const sides = (connections?: number) =>
    inTurn(stage.options.repeat, [
      at(node, connections),
      at(gateway, connections),
      ...(proxy === null ? [] : [at(proxy, connections)]),
    ]);
  const full = await sides();
  const single = await sides(1);
  await pin(chain.part.pid, [server, load].every((cores) => cores !== null) ? `${server},${load}` : null);
  return {
    title: '/rpc: calls that differ, passed through to the node',
    layout: 'list',
    figures: [...throughputFigures(full), ...latencyFigures(single)],
    notes: [
      `64 connections, load by ${await loadTool()}; ${sharing(stage.cores)}; a proxy is on the core of servers and the node then on that of the load.`,
      nginx === null ? 'nginx is not installed and was left out.' : `nginx ${nginx.version}, one process.`,
    ],
  };
}

function requests(path: string, key: string): string[] {
  return CALLS.map((body) => postRequest(path, body, key));
}

/** Results of the node itself, the gateway and, where it is installed, nginx. */
type Sides = Throughput[][];

function throughputFigures([node = [], gateway = [], nginx = []]: Sides): Figure[] {
  return [
    ...sideFigures('gateway', gateway, nginx),
    ...sideFigures('nginx', nginx, []),
    ...sideFigures('the node itself', node, []),
  ];
}

function sideFigures(name: string, own: Throughput[], nginx: Throughput[]): Figure[] {
  if (own.length === 0) return [];
  const figure = (what: string, unit: Unit, value: (result: Throughput) => number): Figure => ({
    name: what,
    unit,
    samples: own.map(value),
    ...(nginx.length > 0 && {
      against: { name: 'nginx', samples: nginx.map(value) },
      budget: { floor: 0.5, goal: 0.8 },
    }),
  });
  return [
    figure(name, 'requests/s', ({ requestsPerSecond }) => requestsPerSecond),
    figure(`${name}, processor time`, 'us', ({ microsecondsPerRequest }) => microsecondsPerRequest),
  ];
}

/** What a proxy adds to the time of one call at a time. */
function latencyFigures([node = [], gateway = [], nginx = []]: Sides): Figure[] {
  const added = (name: string, own: Throughput[]): Figure => ({
    name: `${name}, time added to one call at a time, p50`,
    unit: 'ms',
    samples: own.map(({ p50Ms }, i) => p50Ms - (node[i]?.p50Ms ?? Number.NaN)),
  });
  return [
    { ...added('gateway', gateway), budget: { floor: 0.5, goal: 0.2 } },
    ...(nginx.length > 0 ? [added('nginx', nginx)] : []),
  ];
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
