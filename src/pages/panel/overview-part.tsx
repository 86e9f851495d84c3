/** The daemon at a glance, for operators. */
import { useState } from 'preact/hooks';
import { Chart, type Point } from '../ui/chart.tsx';
import { Choice } from '../ui/choice.tsx';
import { Facts } from '../ui/facts.tsx';
import { byteSize, countText, duration, grouped, percent } from '../ui/format.ts';
import { Link } from '../ui/link.tsx';
import { Section } from '../ui/section.tsx';
import { Age } from '../ui/time.tsx';
import { type AdminAnswers, usePolled } from './admin-api.ts';
import { Problems, phaseOf } from './index/phase.tsx';
import { LampText, StateCards } from './state-cards.tsx';

const POLL_MS = 5_000;

type Overview = AdminAnswers['overview'];
type Sample = Overview['activity']['samples'][number];

export function OverviewPart() {
  const overview = usePolled('overview', POLL_MS);
  return (
    <>
      <Section
        id="overview"
        isPage
        title="Overview"
        loaded={overview}
        controls={overview.data && <LampText {...phaseOf(overview.data.status)} />}
      >
        {(data) => (
          <>
            <Problems status={data.status} />
            <OverviewFacts overview={data} />
          </>
        )}
      </Section>
      {overview.data && overview.data.activity.samples.length > 1 && (
        <History samples={overview.data.activity.samples} />
      )}
      {overview.data && <StateCards status={overview.data.status} />}
    </>
  );
}

function OverviewFacts({ overview }: { overview: Overview }) {
  const { version, status, activity, sockets, hooks, labels } = overview;
  const { totals, samples, residentBytes, heapBytes } = activity;
  const longest = Math.max(0, ...samples.map(({ loopDelaySeconds }) => loopDelaySeconds));
  const since = 'since the start';
  return (
    <Facts
      facts={[
        {
          name: 'Uptime',
          value: duration((Date.now() - status.startedAt) / 1000),
          note: `version ${version}`,
        },
        {
          name: 'Index',
          value: status.head === null ? 'empty' : `block ${grouped(status.head.number)}`,
          note: <Link to="/admin?part=index">{grouped(status.transfers)} transfers</Link>,
        },
        {
          name: 'Behind the node',
          value: status.lagBlocks === null ? 'unknown' : countText(status.lagBlocks, 'block'),
          note: status.lagSeconds !== null && `newest block ${duration(status.lagSeconds)} old`,
        },
        { name: 'Memory', value: byteSize(residentBytes), note: `${byteSize(heapBytes)} of JavaScript heap` },
        {
          name: 'Event loop',
          value: milliseconds(samples.at(-1)?.loopDelaySeconds ?? 0),
          note: `longest delay in 10 s; ${milliseconds(longest)} in the last hour`,
        },
        { name: 'Requests', value: grouped(totals.requests), note: `${rate(samples)}, ${since}` },
        {
          name: 'Errors',
          value: grouped(totals.errors),
          note: `faults with 5xx; ${grouped(totals.refusals)} with 4xx`,
        },
        {
          name: 'Cache hits',
          value: totals.rpcCalls === 0 ? 'no calls yet' : percent(totals.cacheHits / totals.rpcCalls),
          note: `of ${grouped(totals.rpcCalls)} JSON-RPC calls`,
        },
        {
          name: 'Sockets',
          value: <Link to="/admin?part=sockets">{grouped(sockets)}</Link>,
          note: 'open now',
        },
        {
          name: 'Webhooks',
          value: <Link to="/admin?part=hooks">{grouped(hooks)}</Link>,
          note: `${countText(labels, 'label')} of addresses`,
        },
        {
          name: 'Node',
          value: status.capabilities?.client ?? 'no answer yet',
          note: status.capabilities && `chain ${status.capabilities.chainId}`,
        },
        {
          name: 'Last commit',
          value:
            status.lastCommitAt === null ? (
              `none ${since}`
            ) : (
              <Age iso={new Date(status.lastCommitAt).toISOString()} />
            ),
          note: countText(status.reorgs, 'reorganisation'),
        },
      ]}
    />
  );
}

/** Requests per second over the last minute. */
function rate(samples: readonly Sample[]): string {
  const last = samples.slice(-6);
  const [first, end] = [samples.at(-7) ?? samples[0], samples.at(-1)];
  const seconds = first && end ? (end.at - first.at) / 1000 : 0;
  const requests = last.reduce((sum, sample) => sum + sample.requests, 0);
  return seconds === 0 ? '0 a second' : `${Math.round((requests / seconds) * 10) / 10} a second`;
}

const SERIES = {
  lag: {
    text: 'Behind',
    name: 'Age of the newest block, s',
    of: (s: Sample) => s.lagSeconds ?? 0,
    say: duration,
  },
  requests: { text: 'Requests', name: 'Requests', of: (s: Sample) => s.requests, say: sayCount('request') },
  errors: { text: 'Errors', name: 'Server errors', of: (s: Sample) => s.errors, say: sayCount('error') },
  hits: { text: 'Cache hits', name: 'Cache hits', of: (s: Sample) => s.cacheHits, say: sayCount('hit') },
  memory: {
    text: 'Memory',
    name: 'Resident memory, MiB',
    of: mebibytes,
    say: (n: number) => `${grouped(n)} MiB`,
  },
  loop: {
    text: 'Event loop',
    name: 'Longest delay of the event loop, ms',
    of: (s: Sample) => s.loopDelaySeconds * 1000,
    say: (n: number) => milliseconds(n / 1000),
  },
} as const;

type SeriesId = keyof typeof SERIES;
const SERIES_IDS: readonly SeriesId[] = ['lag', 'requests', 'errors', 'hits', 'memory', 'loop'];

function History({ samples }: { samples: readonly Sample[] }) {
  const [id, setId] = useState<SeriesId>('lag');
  const { name, of, say } = SERIES[id];
  const points = samples.map((sample): Point => {
    const value = of(sample);
    return {
      at: sample.at,
      value,
      text: `${new Date(sample.at).toISOString().slice(11, 19)} UTC: ${say(value)}`,
    };
  });
  return (
    <section id="history" class="section" aria-labelledby="history-title">
      <header>
        <h2 id="history-title">The last hour</h2>
        <p class="soft small">{name}, every 10 s</p>
        <div class="controls">
          <Choice
            label="Figure"
            value={id}
            onChange={setId}
            options={SERIES_IDS.map((value) => ({ value, text: SERIES[value].text }))}
          />
        </div>
      </header>
      <Chart label={`${name} over the last hour`} points={points} kind="line" />
    </section>
  );
}

function sayCount(noun: string): (count: number) => string {
  return (count) => `${countText(count, noun)} in 10 s`;
}

function mebibytes({ residentBytes }: Sample): number {
  return residentBytes / 2 ** 20;
}

function milliseconds(seconds: number): string {
  return `${seconds < 0.01 ? (seconds * 1000).toFixed(1) : grouped(seconds * 1000)} ms`;
}
