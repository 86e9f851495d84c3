/** Latency of each REST endpoint as a client with keep-alive connections sees it, at the head and while filling. */
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

const CONNECTIONS = 4;
const SECONDS = 1;
const QUICK_SECONDS = 0.05;
/** Pause of each connection while filling, where load at full speed would only show that the cores are few. */
const PAUSE_MS = 5;
/** Rounds of different requests. */
const ROUNDS = 100;
/** Longest time for filling under load, seconds. */
const FILLING_SECONDS = 900;

type KeyClass = 'ordinary' | 'hottest';
const CLASSES: readonly KeyClass[] = ['ordinary', 'hottest'];

/** Latencies by endpoint and class of keys, under this name, one per repetition. */
const groupOf = (endpoint: string, keys: KeyClass) => `${endpoint} ${keys}`;
type Latencies = Record<string, GroupResult[]>;

interface Phase {
  latencies: Latencies;
  /** Longest time for which the event loop was held, milliseconds. */
  longestHoldMs: number;
}

export async function measureRest(stage: Stage): Promise<Table[]> {
  const keys = await stage.keys();
  stage.log('rest: each endpoint, index at the head');
  const idle = await stage.serve({}, (daemon) => measureIdle(stage, daemon, keys));
  stage.log('rest: all endpoints in turn while the index is filled');
  const filling = await measureWhileFilling(stage, keys);
  const what = `REST latency in ms at the client, ${CONNECTIONS} keep-alive connections`;
  return [
    latencyTable(`${what}, at the head`, idle, [
      keyNote(keys),
      `Each endpoint by itself; ${sharing(stage.cores)}.`,
    ]),
    latencyTable(`${what}, while filling`, filling, [
      `All endpoints in turn with ${PAUSE_MS} ms between requests; nothing is pinned.`,
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
  await stage.with('http-load', stage.cores.load, async (load) => {
    const run = (requests: LoadRequest[]) =>
      load.ask('run', { port, connections: CONNECTIONS, seconds, requests });
    await run(inRounds(all)); // the first answers wait for code to be compiled and pages to be read
    await longestHold(daemon);
    for (let i = 0; i < stage.options.repeat; i++) {
      for (const { name, keyClass, texts } of all) {
        const group = groupOf(name, keyClass);
        note(latencies, (await run(texts.map((text) => ({ group, text })))).groups);
      }
    }
  });
  return { latencies, longestHoldMs: await longestHold(daemon) };
}

/** Adds the results of a run. */
function note(latencies: Latencies, groups: Record<string, GroupResult>): void {
  for (const [group, result] of Object.entries(groups)) {
    latencies[group] = [...(latencies[group] ?? []), result];
  }
}

interface FillingPhase extends Phase {
  transfersPerSecond: number;
  walPeakBytes: number;
}

/** Between two looks at the write-ahead log, milliseconds. */
const LOOK_MS = 50;

/** All endpoints in turn, while the index goes on from where it stands. Nothing is pinned. */
async function measureWhileFilling(stage: Stage, keys: Keys): Promise<FillingPhase> {
  const { part, segments } = await stage.chain();
  const target = segments.more.last - 2 * streamBlocks(stage.options.quick);
  await part.ask('setHead', target);
  const wal = new PeakSize(join(await stage.filledFolder(), 'index.db-wal'));
  return stage.serve({ cores: null }, (daemon) =>
    stage.with('http-load', null, async (load) => {
      const before = await daemon.reaches(segments.fill.last, FILLING_SECONDS * 1000);
      const began = before.lastCommitAt ?? Date.now();
      await longestHold(daemon);
      const all = allRequests(keys, daemon.key);
      await load.ask('start', {
        port: daemon.port,
        connections: CONNECTIONS,
        seconds: FILLING_SECONDS,
        pauseMs: PAUSE_MS,
        atLeast: all.length,
        requests: inRounds(all),
      });
      const looks = setInterval(() => wal.look(), LOOK_MS);
      const after = await daemon.reaches(target, FILLING_SECONDS * 1000).finally(() => clearInterval(looks));
      const latencies: Latencies = {};
      note(latencies, (await load.ask('finish')).groups);
      const seconds = ((after.lastCommitAt ?? 0) - began) / 1000;
      return {
        latencies,
        longestHoldMs: await longestHold(daemon),
        transfersPerSecond: (after.transfers - before.transfers) / seconds,
        walPeakBytes: wal.bytes,
      };
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

/** Longest time for which the daemon's event loop was held since the last look, milliseconds. */
async function longestHold(daemon: DaemonProcess): Promise<number> {
  const metrics = await daemon.metrics();
  return (metrics.get('atlas_event_loop_delay_seconds{stat="max"}') ?? Number.NaN) * 1000;
}

function latencyTable(title: string, { latencies }: Phase, notes: string[]): Table {
  const figures = Object.entries(latencies).flatMap(([group, results]) => {
    const [name = '', keyClass] = group.split(' ');
    const figure = (part: string, value: (result: GroupResult) => number): Figure => ({
      name,
      column: `${keyClass} ${part}`,
      unit: 'ms',
      samples: results.map(value),
    });
    return [figure('p50', ({ p50Ms }) => p50Ms), figure('p99', ({ p99Ms }) => p99Ms)];
  });
  return { title, layout: 'grid', figures, notes: [...notes, ...failureNotes(latencies)] };
}

/** What ordinary and hottest mean. */
function keyNote({ largest: { walletTransfers, tokenTransfers, holders } }: Keys): string {
  return `Ordinary keys have up to 10,000 transfers; the hottest wallet has ${grouped(walletTransfers)}, the hottest token ${grouped(tokenTransfers)} and ${grouped(holders)} holders.`;
}

function failureNotes(latencies: Latencies): string[] {
  return Object.entries(latencies).flatMap(([group, results]) => {
    const total = (value: (result: GroupResult) => number) =>
      results.reduce((sum, result) => sum + value(result), 0);
    const failures = total((result) => result.failures);
    if (failures === 0) return [];
    return `${group}: ${failures} of ${total(({ count }) => count)} answers were not 200.`;
  });
}

function worstTable(idle: Phase, filling: FillingPhase): Table {
  const worst = ({ latencies }: Phase, keyClass: KeyClass) => {
    const ofClass = Object.entries(latencies).filter(([group]) => group.endsWith(` ${keyClass}`));
    return quantile(
      ofClass.map(([, results]) => median(results.map(({ p99Ms }) => p99Ms))),
      1,
    );
  };
  const figure = (name: string, value: number, floor: number, goal: number): Figure => ({
    name,
    unit: 'ms',
    samples: [value],
    budget: { floor, goal },
  });
  const figures: Figure[] = [
    figure('slowest endpoint, ordinary keys, idle, p99', worst(idle, 'ordinary'), 10, 3),
    figure('slowest endpoint, ordinary keys, filling, p99', worst(filling, 'ordinary'), 10, 3),
    figure('slowest endpoint, hottest keys, idle, p99', worst(idle, 'hottest'), 200, 30),
    figure('slowest endpoint, hottest keys, filling, p99', worst(filling, 'hottest'), 200, 30),
    figure('event loop held at most, idle', idle.longestHoldMs, 20, 5),
    figure('event loop held at most, filling', filling.longestHoldMs, 20, 5),
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
