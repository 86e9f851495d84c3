/** `/rpc` through the gateway, compared with direct calls to the node and with nginx in front of the same node. */
import type { Figure, Table, Unit } from '../figure.ts';
import { findNginx, type Nginx, startNginx } from '../load/nginx.ts';
import { postRequest } from '../load/request.ts';
import {
  loadGeneratorName,
  measureAlternately,
  measureThroughput,
  type Target,
  type Throughput,
} from '../load/throughput.ts';
import { pin, pinningText } from '../process/cores.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import type { ChainNode } from '../setup/fill-index.ts';
import { fixedCall } from '../workers/fixed-call.ts';
import { measureLocalAnswers } from './rpc-local.ts';

/** Distinct calls, so that none is merged with another. */
const CALLS = Array.from({ length: 1_000 }, (_, i) => fixedCall(i));

export async function measureRpc(context: BenchContext): Promise<Table[]> {
  const chain = await context.chain();
  await context.filledFolder();
  context.log('rpc: calls passed through against nginx and against the node itself');
  const passthrough = await context.withServingDaemon({ nodeHttp: chain.fastUrl }, (daemon) =>
    withNginx(context, chain, (nginx) => measurePassthrough(context, chain, daemon, nginx)),
  );
  return [passthrough, ...(await measureLocalAnswers(context))];
}

async function withNginx<T>(
  context: BenchContext,
  chain: ChainNode,
  use: (nginx: Nginx | null) => Promise<T>,
): Promise<T> {
  const program = findNginx();
  if (program === null) return use(null);
  const nginx = await startNginx(program, {
    upstreamPort: portOf(chain.fastUrl),
    folder: context.folder,
    cores: context.cores.server,
  });
  return context.withCleanup(
    () => use(nginx),
    () => nginx.stop(),
  );
}

async function measurePassthrough(
  context: BenchContext,
  chain: ChainNode,
  daemon: DaemonProcess,
  nginx: Nginx | null,
): Promise<Table> {
  const node: Target = {
    name: 'the node',
    pid: chain.worker.pid,
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
  const { server, load } = context.cores;
  const at = (target: Target, connections?: number) => async () => {
    // For direct calls, the node is the server under test; otherwise it runs on the cores of the load.
    await pin(chain.worker.pid, target === node ? server : load);
    return measureThroughput(context, target, connections);
  };
  const sides = (connections?: number) =>
    measureAlternately(context.options.repeat, [
      at(node, connections),
      at(gateway, connections),
      ...(proxy === null ? [] : [at(proxy, connections)]),
    ]);
  const full = await sides();
  const single = await sides(1);
  await pin(chain.worker.pid, [server, load].every((cores) => cores !== null) ? `${server},${load}` : null);
  return {
    title: '/rpc: calls that differ, passed through to the node',
    layout: 'list',
    figures: [...throughputFigures(full), ...latencyFigures(single)],
    notes: [
      `64 connections, load by ${await loadGeneratorName()}; ${pinningText(context.cores)}; a proxy is on ` +
        'the core of servers and the node then on that of the load.',
      nginx === null ? 'nginx is not installed and was left out.' : `nginx ${nginx.version}, one process.`,
    ],
  };
}

function requests(path: string, key: string): string[] {
  return CALLS.map((body) => postRequest(path, body, key));
}

/** Results of the node itself, the gateway and, if installed, nginx. */
type Sides = Throughput[][];

function throughputFigures([node = [], gateway = [], nginx = []]: Sides): Figure[] {
  return [
    ...sideFigures('gateway', gateway, nginx),
    ...sideFigures('nginx', nginx, []),
    ...sideFigures('the node itself', node, []),
  ];
}

function sideFigures(name: string, measured: Throughput[], nginx: Throughput[]): Figure[] {
  if (measured.length === 0) return [];
  const figure = (what: string, unit: Unit, value: (result: Throughput) => number): Figure => ({
    name: what,
    unit,
    samples: measured.map(value),
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

/** The time that a proxy adds to one call at a time. */
function latencyFigures([node = [], gateway = [], nginx = []]: Sides): Figure[] {
  const added = (name: string, measured: Throughput[]): Figure => ({
    name: `${name}, time added to one call at a time, p50`,
    unit: 'ms',
    samples: measured.map(({ p50Ms }, i) => p50Ms - (node[i]?.p50Ms ?? Number.NaN)),
  });
  return [
    { ...added('gateway', gateway), budget: { floor: 0.5, goal: 0.2 } },
    ...(nginx.length > 0 ? [added('nginx', nginx)] : []),
  ];
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
