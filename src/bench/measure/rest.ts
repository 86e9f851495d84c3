/** Latency of each REST endpoint as a client with keep-alive connections sees it, at the head and while filling. */
import { type Figure, quantile, type Table } from '../figure.ts';
import { apiRequests, type EndpointRequests } from '../load/api-requests.ts';
import type { GroupResult, LoadRequest } from '../load/http-load.ts';
import type { DaemonProcess } from '../stage/daemon.ts';
import type { Keys } from '../stage/keys.ts';
import { streamBlocks } from '../stage/plan.ts';
import type { Stage } from '../stage/stage.ts';
import { pinning } from './points.ts';

const CONNECTIONS = 4;
const SECONDS = 1;
const QUICK_SECONDS = 0.1;
/** Pause of each connection while filling, where load at full speed would only show that the cores are few. */
const PAUSE_MS = 5;
/** Rounds of different requests. */
const ROUNDS = 100;
/** Longest time for filling under load, seconds. */
const FILLING_SECONDS = 900;

type KeyClass = 'ordinary' | 'hottest';
const CLASSES: readonly KeyClass[] = ['ordinary', 'hottest'];

/** Latencies by endpoint and class of keys, under this name. */
const groupOf = (endpoint: string, keys: KeyClass) => `${endpoint} ${keys}`;
type Latencies = Record<string, GroupResult>;

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
  return [latencyTable(stage, keys, idle, filling), worstTable(idle, filling)];
}

/** Each endpoint by itself. */
async function measureIdle(stage: Stage, daemon: DaemonProcess, keys: Keys): Promise<Phase> {
  const seconds = stage.options.quick ? QUICK_SECONDS : SECONDS;
  const latencies: Latencies = {};
  await longestHold(daemon);
  await stage.with('http-load', stage.cores.load, async (load) => {
    for (const { name, keyClass, texts } of allRequests(keys, daemon.key)) {
      const group = groupOf(name, keyClass);
      const requests = texts.map((text) => ({ group, text }));
      const spec = { port: daemon.port, connections: CONNECTIONS, seconds, requests };
      Object.assign(latencies, (await load.ask('run', spec)).groups);
    }
  });
  return { latencies, longestHoldMs: await longestHold(daemon) };
}

interface FillingPhase extends Phase {
  transfersPerSecond: number;
}

/** All endpoints in turn, while the index goes on from where it stands. Nothing is pinned. */
async function measureWhileFilling(stage: Stage, keys: Keys): Promise<FillingPhase> {
  const { part, segments } = await stage.chain();
  const target = segments.more.last - 2 * streamBlocks(stage.options.quick);
  await part.ask('setHead', target);
  return stage.serve({ cores: null }, (daemon) =>
    stage.with('http-load', null, async (load) => {
      const before = await daemon.status();
      await longestHold(daemon);
      await load.ask('start', {
        port: daemon.port,
        connections: CONNECTIONS,
        seconds: FILLING_SECONDS,
        pauseMs: PAUSE_MS,
        requests: inRounds(allRequests(keys, daemon.key)),
      });
      const after = await daemon.reaches(target, FILLING_SECONDS * 1000);
      const { groups: latencies } = await load.ask('finish');
      const seconds = ((after.lastCommitAt ?? 0) - daemon.readyAt) / 1000;
      return {
        latencies,
        longestHoldMs: await longestHold(daemon),
        transfersPerSecond: (after.transfers - before.transfers) / seconds,
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
  return (metrics.get('atlas_event_loop_delay_seconds{quantile="1"}') ?? Number.NaN) * 1000;
}

function latencyTable(stage: Stage, keys: Keys, idle: Phase, filling: Phase): Table {
  const phases = [
    { phase: 'idle', latencies: idle.latencies },
    { phase: 'filling', latencies: filling.latencies },
  ] as const;
  const names = apiRequests(keys.ordinary, false, '').map(({ name }) => name);
  const figures = phases.flatMap(({ phase, latencies }) =>
    CLASSES.flatMap((keyClass) =>
      names.flatMap((name): Figure[] => {
        const result = latencies[groupOf(name, keyClass)];
        if (result === undefined) return [];
        const figure = (part: string, value: number): Figure => ({
          name,
          column: `${phase} ${keyClass} ${part}`,
          unit: 'ms',
          samples: [value],
        });
        return [figure('p50', result.p50Ms), figure('p99', result.p99Ms)];
      }),
    ),
  );
  const { walletTransfers, tokenTransfers, holders } = keys.largest;
  const n = (value: number) => value.toLocaleString('en-US');
  return {
    title: `REST latency in ms at the client, ${CONNECTIONS} keep-alive connections`,
    layout: 'grid',
    figures,
    notes: [
      `Ordinary keys have up to 10,000 transfers; the hottest wallet has ${n(walletTransfers)}, the hottest token ${n(tokenTransfers)} and ${n(holders)} holders.`,
      `Idle: each endpoint by itself, ${pinning(stage)}. Filling: all in turn with ${PAUSE_MS} ms between requests, nothing pinned.`,
      ...failureNotes({ ...idle.latencies, ...filling.latencies }),
    ],
  };
}

function failureNotes(latencies: Latencies): string[] {
  return Object.entries(latencies)
    .filter(([, { failures }]) => failures > 0)
    .map(([group, { failures, count }]) => `${group}: ${failures} of ${count} answers were not 200.`);
}

function worstTable(idle: Phase, filling: FillingPhase): Table {
  const worst = ({ latencies }: Phase, keyClass: KeyClass) => {
    const ofClass = Object.entries(latencies).filter(([group]) => group.endsWith(` ${keyClass}`));
    return quantile(
      ofClass.map(([, { p99Ms }]) => p99Ms),
      1,
    );
  };
  const figure = (name: string, value: number, floor: number, goal: number): Figure => ({
    name,
    unit: 'ms',
    samples: [value],
    budget: { floor, goal },
  });
  return {
    title: 'REST at its worst',
    layout: 'list',
    figures: [
      figure('slowest endpoint, ordinary keys, idle, p99', worst(idle, 'ordinary'), 10, 3),
      figure('slowest endpoint, ordinary keys, filling, p99', worst(filling, 'ordinary'), 10, 3),
      figure('slowest endpoint, hottest keys, idle, p99', worst(idle, 'hottest'), 200, 30),
      figure('slowest endpoint, hottest keys, filling, p99', worst(filling, 'hottest'), 200, 30),
      figure('event loop held at most, idle', idle.longestHoldMs, 20, 5),
      figure('event loop held at most, filling', filling.longestHoldMs, 20, 5),
      { name: 'filling while asked', unit: 'transfers/s', samples: [filling.transfersPerSecond] },
    ],
    notes: [],
  };
}
