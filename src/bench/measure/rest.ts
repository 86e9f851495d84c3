/**
 * Latency of each REST endpoint, at the head and while filling: as a client with keep-alive connections sees it, and as
 * the daemon itself measures it, from reading the request to writing the answer.
 */
import { join } from 'node:path';
import { grouped } from '../../cli/table.ts';
import { type Figure, median, quantile, type Table } from '../figure.ts';
import { apiRequests, type EndpointRequests } from '../load/api-requests.ts';
import type { GroupResult, LoadRequest } from '../load/http-load.ts';
import { sharing } from '../process/cores.ts';
import type { DaemonProcess } from '../stage/daemon.ts';
import { PeakSize } from '../stage/fill.ts';
import type { Keys } from '../stage/keys.ts';
import { streamBlocks } from '../stage/plan.ts';
import type { Stage } from '../stage/stage.ts';
import { answersBetween, quantileMs } from './http-seconds.ts';

const CONNECTIONS = 4;
const SECONDS = 1;
const QUICK_SECONDS = 0.05;
/** Pause of each connection while filling: load at full speed would only show that there are few cores. */
const PAUSE_MS = 5;
/** Rounds of different requests. */
const ROUNDS = 100;
/**
 * Rounds before measuring while filling. They start the read thread, which takes a third of a second then, fill the
 * caches of hot wallets, and get most code compiled.
 */
const WARM_ROUNDS = 25;
/** Longest time for filling under load, seconds. */
const FILLING_SECONDS = 900;

/** Milliseconds, measured at the server. */
const BUDGETS = { ordinary: { floor: 10, goal: 3 }, hottest: { floor: 200, goal: 30 } };
const LOOP_BUDGET = { floor: 20, goal: 5 };

type KeyClass = keyof typeof BUDGETS;
const CLASSES: readonly KeyClass[] = ['ordinary', 'hottest'];

/** Latencies by endpoint and class of keys, under this name, one per repetition. */
const groupOf = (endpoint: string, keys: KeyClass) => `${endpoint} ${keys}`;
type Latencies = Record<string, Result[]>;

interface Result extends GroupResult {
  serverP99Ms: number;
}

interface Phase {
  latencies: Latencies;
  loop: LoopTimes;
}

/** Longest delays of the daemon's event loop, milliseconds. */
interface LoopTimes {
  /** Delay for whatever reason. */
  lateMs: number;
  /** Delay without the time spent waiting for a processor. */
  heldMs: number;
}

export async function measureRest(stage: Stage): Promise<Table[]> {
  const keys = await stage.keys();
  stage.log('rest: each endpoint, index at the head');
  const idle = await stage.serve({}, (daemon) => measureIdle(stage, daemon, keys));
  stage.log('rest: all endpoints in turn while the index is filled');
  const filling = await measureWhileFilling(stage, keys);
  const what = `REST latency in ms at the client and at the server, ${CONNECTIONS} keep-alive connections`;
  return [
    latencyTable(`${what}, at the head`, idle, [
      keyNote(keys),
      `Each endpoint by itself; ${sharing(stage.cores)}.`,
    ]),
    latencyTable(`${what}, while filling`, filling, [
      `All endpoints in turn, first with ordinary keys and then with the hottest, ${PAUSE_MS} ms between requests; nothing is pinned. The first ${WARM_ROUNDS} requests of each, which start the read thread and have code compiled, are not counted.`,
    ]),
    worstTable(idle, filling),
  ];
}

/** Each endpoint by itself. */
async function measureIdle(stage: Stage, daemon: DaemonProcess, keys: Keys): Promise<Phase> {
  const seconds = stage.options.quick ? QUICK_SECONDS : SECONDS;
  const latencies: Latencies = {};
  const all = allRequests(keys, daemon.key);
  const { port } = daemon;
  return stage.with('http-load', stage.cores.load, async (load) => {
    const run = (requests: LoadRequest[]) =>
      load.ask('run', { port, connections: CONNECTIONS, seconds, requests });
    await run(inRounds(all)); // the first answers wait for compilation and page reads
    const watch = await Watch.begin(daemon);
    for (let i = 0; i < stage.options.repeat; i++) {
      for (const { name, keyClass, texts } of all) {
        const group = groupOf(name, keyClass);
        note(latencies, (await run(texts.map((text) => ({ group, text })))).groups, await watch.look());
      }
    }
    return { latencies, loop: watch.loop };
  });
}

/** The daemon's own measurements between two readings. */
class Watch {
  readonly loop: LoopTimes = { lateMs: 0, heldMs: 0 };
  private readonly daemon: DaemonProcess;
  private last: Map<string, number>;

  /** Ignores everything before this call. */
  static async begin(daemon: DaemonProcess): Promise<Watch> {
    return new Watch(daemon, await daemon.metrics());
  }

  private constructor(daemon: DaemonProcess, first: Map<string, number>) {
    this.daemon = daemon;
    this.last = first;
  }

  /** P99 of the answers since the last reading by endpoint, milliseconds. */
  async look(): Promise<(endpoint: string) => number> {
    const metrics = await this.daemon.metrics();
    const answers = answersBetween(this.last, metrics);
    this.last = metrics;
    const ms = (name: string) => (metrics.get(name) ?? Number.NaN) * 1000;
    this.loop.lateMs = Math.max(this.loop.lateMs, ms('atlas_event_loop_delay_seconds{stat="max"}'));
    this.loop.heldMs = Math.max(this.loop.heldMs, ms('atlas_event_loop_held_seconds_max'));
    return (endpoint) => quantileMs(answers.get(`/api/${endpoint}`) ?? [], 0.99);
  }
}

/** Adds the results of a run. */
function note(
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

/** Between two looks at the write-ahead log, milliseconds. */
const LOOK_MS = 50;

/**
 * All endpoints in turn, first with ordinary keys and then with the hottest, while the index is filled further. Nothing
 * is pinned.
 */
async function measureWhileFilling(stage: Stage, keys: Keys): Promise<FillingPhase> {
  const { part, segments } = await stage.chain();
  const first = segments.fill.last;
  const target = segments.more.last - 2 * streamBlocks(stage.options.quick);
  await part.ask('setHead', target);
  const wal = new PeakSize(join(await stage.filledFolder(), 'index.db-wal'));
  return stage.serve({ cores: null }, (daemon) =>
    stage.with('http-load', null, async (load) => {
      const before = await daemon.reaches(first, FILLING_SECONDS * 1000);
      const began = before.lastCommitAt ?? Date.now();
      const all = allRequests(keys, daemon.key);
      await load.ask('run', {
        port: daemon.port,
        connections: CONNECTIONS,
        seconds: 0,
        atLeast: all.length * WARM_ROUNDS,
        requests: inRounds(all),
      });
      const watch = await Watch.begin(daemon);
      const latencies: Latencies = {};
      const looks = setInterval(() => wal.look(), LOOK_MS);
      const loadUpTo = async (block: number, keyClass: KeyClass) => {
        const ofClass = all.filter((requests) => requests.keyClass === keyClass);
        await load.ask('start', {
          port: daemon.port,
          connections: CONNECTIONS,
          seconds: FILLING_SECONDS,
          pauseMs: PAUSE_MS,
          atLeast: ofClass.length,
          requests: inRounds(ofClass),
        });
        const status = await daemon.reaches(block, FILLING_SECONDS * 1000);
        note(latencies, (await load.ask('finish')).groups, await watch.look());
        return status;
      };
      try {
        await loadUpTo(Math.floor((first + target) / 2), 'ordinary');
        const after = await loadUpTo(target, 'hottest');
        const seconds = ((after.lastCommitAt ?? 0) - began) / 1000;
        return {
          latencies,
          loop: watch.loop,
          transfersPerSecond: (after.transfers - before.transfers) / seconds,
          walPeakBytes: wal.bytes,
        };
      } finally {
        clearInterval(looks);
      }
    }),
  );
}

interface ClassRequests extends EndpointRequests {
  keyClass: KeyClass;
}

function allRequests(keys: Keys, apiKey: string): ClassRequests[] {
  return CLASSES.flatMap((keyClass) =>
    apiRequests(keys[keyClass], keyClass === 'hottest', apiKey).map((requests) => ({
      ...requests,
      keyClass,
    })),
  );
}

/** One request of each endpoint and class, then the next of each, so that all get the same number. */
function inRounds(all: readonly ClassRequests[]): LoadRequest[] {
  return Array.from({ length: ROUNDS }, (_, round) =>
    all.map(({ name, keyClass, texts }) => ({
      group: groupOf(name, keyClass),
      text: texts[round % texts.length] ?? '',
    })),
  ).flat();
}

function latencyTable(title: string, { latencies }: Phase, notes: string[]): Table {
  const figures = Object.entries(latencies).flatMap(([group, results]) => {
    const [name = '', keyClass] = group.split(' ');
    const figure = (part: string, value: (result: Result) => number): Figure => ({
      name,
      column: `${keyClass} ${part}`,
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

/** What ordinary and hottest mean. */
function keyNote({ largest: { walletTransfers, tokenTransfers, holders } }: Keys): string {
  return `Ordinary keys have up to 10,000 transfers; the hottest wallet has ${grouped(walletTransfers)}, the hottest token ${grouped(tokenTransfers)} and ${grouped(holders)} holders.`;
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

function worstTable(idle: Phase, filling: FillingPhase): Table {
  const worst = ({ latencies }: Phase, keyClass: KeyClass, value: (result: Result) => number) => {
    const ofClass = Object.entries(latencies).filter(([group]) => group.endsWith(` ${keyClass}`));
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
    ...CLASSES.flatMap((keyClass) => {
      const what = `slowest endpoint, ${keyClass} keys, ${name}, p99`;
      return [
        figure(
          `${what} at the server`,
          worst(phase, keyClass, ({ serverP99Ms }) => serverP99Ms),
          BUDGETS[keyClass],
        ),
        figure(
          `${what} at the client`,
          worst(phase, keyClass, ({ p99Ms }) => p99Ms),
        ),
      ];
    }),
    figure(`event loop held at most, ${name}`, phase.loop.heldMs, LOOP_BUDGET),
    figure(`event loop late at most, waiting for a processor included, ${name}`, phase.loop.lateMs),
  ];
  const figures: Figure[] = [
    ...ofPhase('idle', idle),
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
