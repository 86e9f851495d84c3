/**
 * Latency of each REST endpoint, at the head and during a backfill: as seen by a client with keep-alive connections,
 * and as measured by the daemon itself, from reading the request to writing the answer.
 */
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { type Figure, median, quantile, type Table } from '../figure.ts';
import { apiRequests, type EndpointRequests, toolCalls } from '../load/api-requests.ts';
import type { GroupResult, LoadRequest } from '../load/http-load.ts';
import { pinningText } from '../process/cores.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { streamBlocks } from '../setup/chain-plan.ts';
import type { DaemonProcess } from '../setup/daemon-process.ts';
import { PeakSize } from '../setup/fill-index.ts';
import type { Subjects } from '../setup/subjects.ts';
import { bucketsBetween, quantileMs } from './latency-histogram.ts';

const CONNECTIONS = 4;
const SECONDS = 1;
const QUICK_SECONDS = 0.05;
/** Pause of each connection during a backfill. Load at full speed would only show that there are few cores. */
const PAUSE_MS = 5;
/** Rounds of different requests. */
const ROUNDS = 100;
/**
 * Rounds before measuring during a backfill. They start the read thread, which then takes a third of a second, fill the
 * caches of hot wallets, and get most code compiled.
 */
const WARM_ROUNDS = 25;
/** Longest time to fill the index under load, seconds. */
const FILLING_SECONDS = 900;

/** Milliseconds, measured at the server. */
const BUDGETS = { ordinary: { floor: 10, goal: 3 }, hottest: { floor: 200, goal: 30 } };
const LOOP_BUDGET = { floor: 20, goal: 5 };

/** Tools are called separately, because agents have their own budget and must not change the REST figures. */
const AGENTS = 'mcp';
const AGENTS_BUDGET = { floor: 20, goal: 10 };

type SubjectClass = keyof typeof BUDGETS;
const CLASSES: readonly SubjectClass[] = ['ordinary', 'hottest'];

/** Latencies by endpoint and class of subjects, under this name, one per repetition. */
const groupOf = (endpoint: string, subjectClass: SubjectClass) => `${endpoint} ${subjectClass}`;
type Latencies = Record<string, Result[]>;

interface Result extends GroupResult {
  serverP99Ms: number;
}

interface Phase {
  latencies: Latencies;
  loop: LoopTimes;
}

interface IdlePhase extends Phase {
  /** While agents call tools. */
  agents: Phase;
}

/** Longest delays of the daemon's event loop, milliseconds. */
interface LoopTimes {
  /** Delay for any reason. */
  lateMs: number;
  /** Delay minus the time spent waiting for a processor. */
  heldMs: number;
}

export async function measureRest(context: BenchContext): Promise<Table[]> {
  const subjects = await context.subjects();
  context.log('rest: each endpoint, index at the head');
  const idle = await context.withServingDaemon({}, (daemon) => measureIdle(context, daemon, subjects));
  context.log('rest: all endpoints in turn while the index is filled');
  const filling = await measureWhileFilling(context, subjects);
  const what = `REST latency in ms at the client and at the server, ${CONNECTIONS} keep-alive connections`;
  return [
    latencyTable(`${what}, at the head`, idle, [
      subjectNote(subjects),
      `Each endpoint by itself; ${pinningText(context.cores)}.`,
    ]),
    latencyTable(`${what}, while filling`, filling, [
      `All endpoints in turn, first with ordinary keys and then with the hottest, ${PAUSE_MS} ms between ` +
        `requests; nothing is pinned. The first ${WARM_ROUNDS} requests of each, which start the read thread and ` +
        'have code compiled, are not counted.',
    ]),
    worstTable(idle, filling),
  ];
}

/** Each endpoint separately. */
async function measureIdle(
  context: BenchContext,
  daemon: DaemonProcess,
  subjects: Subjects,
): Promise<IdlePhase> {
  const seconds = context.options.quick ? QUICK_SECONDS : SECONDS;
  const latencies: Latencies = {};
  const all = allRequests(subjects, daemon.key);
  const { port } = daemon;
  return context.withWorker('http-load', context.cores.load, async (load) => {
    const run = (requests: LoadRequest[]) =>
      load.call('run', { port, connections: CONNECTIONS, seconds, requests });
    await run(interleave(all)); // the first answers wait for compilation and page reads
    const reader = await MetricsReader.begin(daemon);
    for (let i = 0; i < context.options.repeat; i++) {
      for (const { name, subjectClass, texts } of all) {
        const group = groupOf(name, subjectClass);
        recordResults(
          latencies,
          (await run(texts.map((text) => ({ group, text })))).groups,
          await reader.readP99(),
        );
      }
    }
    const calls = toolCalls(subjects.ordinary, daemon.key).map((text) => ({ group: AGENTS, text }));
    await run(calls);
    const agentsReader = await MetricsReader.begin(daemon);
    const agents: Latencies = {};
    for (let i = 0; i < context.options.repeat; i++)
      recordResults(agents, (await run(calls)).groups, await agentsReader.readP99());
    return { latencies, loop: reader.loop, agents: { latencies: agents, loop: agentsReader.loop } };
  });
}

/** The daemon's own measurements between two readings. */
class MetricsReader {
  readonly loop: LoopTimes = { lateMs: 0, heldMs: 0 };
  private readonly daemon: DaemonProcess;
  private last: Map<string, number>;

  /** Ignores everything before this call. */
  static async begin(daemon: DaemonProcess): Promise<MetricsReader> {
    return new MetricsReader(daemon, await daemon.metrics());
  }

  private constructor(daemon: DaemonProcess, first: Map<string, number>) {
    this.daemon = daemon;
    this.last = first;
  }

  /** P99 of the answers since the last reading by endpoint, milliseconds. */
  async readP99(): Promise<(endpoint: string) => number> {
    const metrics = await this.daemon.metrics();
    const answers = bucketsBetween(this.last, metrics);
    this.last = metrics;
    const ms = (name: string) => (metrics.get(name) ?? Number.NaN) * 1000;
    this.loop.lateMs = Math.max(this.loop.lateMs, ms('atlas_event_loop_delay_seconds{stat="max"}'));
    this.loop.heldMs = Math.max(this.loop.heldMs, ms('atlas_event_loop_held_seconds_max'));
    return (endpoint) =>
      quantileMs(answers.get(endpoint === AGENTS ? '/mcp' : `/api/${endpoint}`) ?? [], 0.99);
  }
}

/** Adds the results of a run. */
function recordResults(
  latencies: Latencies,
  groups: Record<string, GroupResult>,
  serverP99Of: (endpoint: string) => number,
): void {
  for (const [group, result] of Object.entries(groups)) {
    const [endpoint = ''] = group.split(' ');
    const whole = { ...result, serverP99Ms: serverP99Of(endpoint) };
    latencies[group] = [...(latencies[group] ?? []), whole];
  }
}

interface FillingPhase extends Phase {
  transfersPerSecond: number;
  walPeakBytes: number;
}

/** Interval of samples of the WAL's size, milliseconds. */
const WAL_SAMPLE_MS = 50;

/**
 * All endpoints in turn, first with ordinary subjects and then with the hottest, while the backfill continues. Nothing
 * is pinned.
 */
async function measureWhileFilling(context: BenchContext, subjects: Subjects): Promise<FillingPhase> {
  const { worker, segments } = await context.chain();
  const first = segments.fill.last;
  const target = segments.more.last - 2 * streamBlocks(context.options.quick);
  await worker.call('setHead', target);
  const wal = new PeakSize(join(await context.filledFolder(), 'index.db-wal'));
  return context.withServingDaemon({ cores: null }, (daemon) =>
    context.withWorker('http-load', null, async (load) => {
      const before = await daemon.waitForBlock(first, FILLING_SECONDS * 1000);
      const startedAt = before.lastCommitAt ?? Date.now();
      const all = allRequests(subjects, daemon.key);
      await load.call('run', {
        port: daemon.port,
        connections: CONNECTIONS,
        seconds: 0,
        minRequests: all.length * WARM_ROUNDS,
        requests: interleave(all),
      });
      const reader = await MetricsReader.begin(daemon);
      const latencies: Latencies = {};
      const sampling = setInterval(() => wal.sample(), WAL_SAMPLE_MS);
      const loadUpTo = async (block: number, subjectClass: SubjectClass) => {
        const ofClass = all.filter((requests) => requests.subjectClass === subjectClass);
        await load.call('start', {
          port: daemon.port,
          connections: CONNECTIONS,
          seconds: FILLING_SECONDS,
          pauseMs: PAUSE_MS,
          minRequests: ofClass.length,
          requests: interleave(ofClass),
        });
        const status = await daemon.waitForBlock(block, FILLING_SECONDS * 1000);
        recordResults(latencies, (await load.call('finish')).groups, await reader.readP99());
        return status;
      };
      try {
        await loadUpTo(Math.floor((first + target) / 2), 'ordinary');
        const after = await loadUpTo(target, 'hottest');
        const seconds = ((after.lastCommitAt ?? 0) - startedAt) / 1000;
        return {
          latencies,
          loop: reader.loop,
          transfersPerSecond: (after.transfers - before.transfers) / seconds,
          walPeakBytes: wal.bytes,
        };
      } finally {
        clearInterval(sampling);
      }
    }),
  );
}

interface ClassRequests extends EndpointRequests {
  subjectClass: SubjectClass;
}

function allRequests(subjects: Subjects, apiKey: string): ClassRequests[] {
  return CLASSES.flatMap((subjectClass) =>
    apiRequests(subjects[subjectClass], subjectClass === 'hottest', apiKey).map((requests) => ({
      ...requests,
      subjectClass,
    })),
  );
}

/** One request of each endpoint and class, then the next of each, so that all get the same number. */
function interleave(all: readonly ClassRequests[]): LoadRequest[] {
  return Array.from({ length: ROUNDS }, (_, round) =>
    all.map(({ name, subjectClass, texts }) => ({
      group: groupOf(name, subjectClass),
      text: texts[round % texts.length] ?? '',
    })),
  ).flat();
}

function latencyTable(title: string, { latencies }: Phase, notes: string[]): Table {
  const figures = Object.entries(latencies).flatMap(([group, results]) => {
    const [name = '', subjectClass] = group.split(' ');
    const figure = (column: string, value: (result: Result) => number): Figure => ({
      name,
      column: `${subjectClass} ${column}`,
      unit: 'ms',
      samples: results.map(value),
    });
    return [
      figure('p50', ({ p50Ms }) => p50Ms),
      figure('p99', ({ p99Ms }) => p99Ms),
      figure('p99 at the server', ({ serverP99Ms }) => serverP99Ms),
    ];
  });
  return { title, layout: 'grid', figures, notes: [...notes, ...failureNotes(latencies)] };
}

/** Defines ordinary and hottest. */
function subjectNote({ largest: { walletTransfers, tokenTransfers, holders } }: Subjects): string {
  return (
    'Ordinary keys have up to 10,000 transfers; the hottest wallet has ' +
    `${formatNumber(walletTransfers)}, the hottest token ${formatNumber(tokenTransfers)} and ` +
    `${formatNumber(holders)} holders.`
  );
}

function failureNotes(latencies: Latencies): string[] {
  return Object.entries(latencies).flatMap(([group, results]) => {
    const total = (value: (result: Result) => number) =>
      results.reduce((sum, result) => sum + value(result), 0);
    const failures = total((result) => result.failures);
    if (failures === 0) return [];
    return `${group}: ${failures} of ${total(({ count }) => count)} answers were not 200.`;
  });
}

function worstTable(idle: IdlePhase, filling: FillingPhase): Table {
  const worst = ({ latencies }: Phase, subjectClass: SubjectClass, value: (result: Result) => number) => {
    const ofClass = Object.entries(latencies).filter(([group]) => group.endsWith(` ${subjectClass}`));
    return quantile(
      ofClass.map(([, results]) => median(results.map(value))),
      1,
    );
  };
  const figure = (name: string, value: number, budget?: Figure['budget']): Figure => ({
    name,
    unit: 'ms',
    samples: [value],
    ...(budget && { budget }),
  });
  const ofPhase = (name: string, phase: Phase): Figure[] => [
    ...CLASSES.flatMap((subjectClass) => {
      const what = `slowest endpoint, ${subjectClass} keys, ${name}, p99`;
      return [
        figure(
          `${what} at the server`,
          worst(phase, subjectClass, ({ serverP99Ms }) => serverP99Ms),
          BUDGETS[subjectClass],
        ),
        figure(
          `${what} at the client`,
          worst(phase, subjectClass, ({ p99Ms }) => p99Ms),
        ),
      ];
    }),
    figure(`event loop held at most, ${name}`, phase.loop.heldMs, LOOP_BUDGET),
    figure(`event loop late at most, waiting for a processor included, ${name}`, phase.loop.lateMs),
  ];
  const { latencies, loop } = idle.agents;
  const agents = median((latencies[AGENTS] ?? []).map(({ serverP99Ms }) => serverP99Ms));
  const figures: Figure[] = [
    ...ofPhase('idle', idle),
    figure('a tool of /mcp, ordinary keys, p99 at the server', agents, AGENTS_BUDGET),
    figure('event loop held at most, while agents call tools', loop.heldMs, LOOP_BUDGET),
    ...ofPhase('filling', filling),
    { name: 'filling while asked', unit: 'transfers/s', samples: [filling.transfersPerSecond] },
    {
      name: 'largest write-ahead log, filling while asked',
      unit: 'MB',
      samples: [filling.walPeakBytes / 1e6],
      budget: { floor: 256, goal: 256 },
    },
  ];
  return {
    title: 'REST at its worst',
    layout: 'list',
    figures: figures.filter(({ samples }) => samples.every(Number.isFinite)),
    notes: [],
  };
}
