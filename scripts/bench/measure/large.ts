/** `/rpc` answers of 30 MB for some clients, and their effect on others. */
import { Agent, request } from 'node:http';
import type { Figure, Table } from '../figure.ts';
import { getRequest } from '../load/request.ts';
import { cpuSeconds } from '../process/resource-usage.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import { largeLogsCall } from '../workers/large-logs.ts';

const CLIENTS = 2;
const SECONDS = 10;
const QUICK_SECONDS = 1;
/** Each answer is the sum of the logs of this many blocks; the node returns a hundred blocks at a time. */
const ANSWER_BYTES = 30_000_000;
const BLOCKS = 800;
/** Calls in the batch, and the blocks of each, within the limit of the node. */
const BATCH_CALLS = 8;
const PART_BLOCKS = 100;
/** Distance in blocks between the ranges of consecutive calls. */
const SHIFT = 7;
/** Pause between the requests of the clients whose latency is measured, so that they are not the load. */
const PAUSE_MS = 5;

const BUDGET = { floor: 20, goal: 5 };

interface Sample {
  heldMs: number;
  p99Ms: number;
  answers: number;
  /** Of the daemon, per answer. */
  cpuMs: number;
}

export async function measureLarge(context: BenchContext): Promise<Table[]> {
  const chain = await context.chain();
  const { wallets } = (await context.subjects()).ordinary;
  const { first, last } = chain.segments.fill;
  const blocks = Math.min(BLOCKS, last - first + 1);
  const logs = (from: number, count: number, bytes: number) =>
    largeLogsCall(from, from + count - 1, Math.floor(bytes / count));
  // Each call has its own range, so that most must be forwarded to the node.
  const start = (i: number) => first + ((i * SHIFT) % (last - first + 2 - blocks));
  const part = Math.min(PART_BLOCKS, blocks - BATCH_CALLS);
  const bodies: Record<string, (i: number) => string> = {
    'logs collected from parts': (i) => logs(start(i), blocks, ANSWER_BYTES),
    'a batch': (i) => {
      const calls = Array.from({ length: BATCH_CALLS }, (_, at) =>
        logs(start(i) + at, part, ANSWER_BYTES / BATCH_CALLS),
      );
      return `[${calls}]`;
    },
  };
  context.log('large: answers of 30 MB, and what others notice of them');
  const figures = await context.withServingDaemon({ nodeHttp: chain.fastUrl }, async (daemon) => {
    const requests = wallets.map((address) =>
      getRequest(`/api/wallet_summary?address=${address}`, daemon.key),
    );
    const all: Figure[] = [];
    for (const [name, body] of Object.entries(bodies)) {
      await measureOne(context, daemon, requests, body); // the first answers wait for compilation
      const samples: Sample[] = [];
      for (let i = 0; i < context.options.repeat; i++) {
        samples.push(await measureOne(context, daemon, requests, body));
      }
      all.push(...figuresOf(name, samples));
    }
    return all;
  });
  return [
    {
      title:
        `/rpc: event loop held by large answers, ${ANSWER_BYTES / 1e6} MB for each of ${CLIENTS} ` +
        'clients at a time',
      layout: 'list',
      figures,
      notes: [
        'Held: the longest that the event loop did one thing, without the time spent waiting for a processor.',
      ],
    },
  ];
}

/** Loads the daemon for some seconds. */
async function measureOne(
  context: BenchContext,
  daemon: DaemonProcess,
  requests: readonly string[],
  bodyOf: (i: number) => string,
): Promise<Sample> {
  const seconds = context.options.quick ? QUICK_SECONDS : SECONDS;
  return context.withWorker('http-load', context.cores.load, async (load) => {
    await daemon.metrics(); // drops everything measured before
    const cpuBefore = cpuSeconds(daemon.pid);
    const stop = new AbortController();
    let asked = 0;
    const nextBody = () => bodyOf(asked++);
    const clients = Array.from({ length: CLIENTS }, () => fetchUntil(daemon, nextBody, stop.signal));
    const { groups } = await load.call('run', {
      port: daemon.port,
      connections: CLIENTS,
      seconds,
      pauseMs: PAUSE_MS,
      requests: requests.map((text) => ({ group: 'rest', text })),
    });
    stop.abort();
    const answers = (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);
    const cpu = cpuSeconds(daemon.pid) - cpuBefore;
    const metrics = await daemon.metrics();
    return {
      heldMs: (metrics.get('atlas_event_loop_held_seconds_max') ?? Number.NaN) * 1000,
      p99Ms: groups.rest?.p99Ms ?? Number.NaN,
      answers: answers / seconds,
      cpuMs: (cpu * 1000) / answers,
    };
  });
}

/** Requests repeatedly until `stop` aborts. Resolves with the number of complete answers, after the last one. */
async function fetchUntil(daemon: DaemonProcess, nextBody: () => string, stop: AbortSignal): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let answers = 0;
  while (!stop.aborted) {
    const bytes = await post(daemon, nextBody(), agent);
    if (bytes < ANSWER_BYTES * 0.9) throw new Error(`an answer of ${bytes} bytes instead of ${ANSWER_BYTES}`);
    answers++;
  }
  agent.destroy();
  return answers;
}

/** Resolves with the length of the answer. */
function post(daemon: DaemonProcess, body: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-API-Key': daemon.key, 'Content-Length': body.length };
    const sent = request(`${daemon.url}/rpc`, { method: 'POST', headers, agent }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve(bytes));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function figuresOf(name: string, samples: readonly Sample[]): Figure[] {
  return [
    {
      name: `${name}: event loop held`,
      unit: 'ms',
      samples: samples.map(({ heldMs }) => heldMs),
      budget: BUDGET,
    },
    { name: `${name}: p99 of wallet_summary`, unit: 'ms', samples: samples.map(({ p99Ms }) => p99Ms) },
    { name: `${name}: answers`, unit: 'requests/s', samples: samples.map(({ answers }) => answers) },
    { name: `${name}: processor time`, unit: 'ms', samples: samples.map(({ cpuMs }) => cpuMs) },
  ];
}
