/**
 * Every component in the status with a state of its own: the PostgreSQL sink, and whatever a later server adds, such as
 * nodes or shared keys. Figures are named and formatted by their JSON names, so that a new one appears without a change
 * here.
 */
import { type Fact, Facts } from '../ui/facts.tsx';
import { byteSize, duration, grouped } from '../ui/format.ts';
import { Age } from '../ui/time.tsx';

const TITLES: Record<string, string> = {
  sink: 'PostgreSQL sink',
  cluster: 'Shared keys',
  nodes: 'Node',
};

type Lamp = 'good' | 'wait' | 'bad';

/** The texts and lamps of known states. Any other state is shown as is, with a yellow lamp. */
const STATES: Record<string, [Lamp, string]> = {
  connecting: ['bad', 'Not connected'],
  filling: ['wait', 'Writing history'],
  following: ['good', 'Following the index'],
  waiting: ['bad', 'Waiting'],
  connected: ['good', 'Connected'],
  joined: ['good', 'Shared with the other daemons'],
  ok: ['good', 'Healthy'],
  active: ['good', 'In use'],
  up: ['good', 'Answers'],
  down: ['bad', 'Does not answer'],
};

interface Stateful {
  state: string;
  reason: string | null;
  figures: [name: string, value: unknown][];
}

export function StateCards({ status }: { status: object }) {
  return (
    <>
      {Object.entries(status).flatMap(([key, value]) => {
        const items = Array.isArray(value) ? value : [value];
        return items
          .map(statefulOf)
          .map(
            (item, i) =>
              item && (
                <StateCard
                  key={`${key} ${i}`}
                  title={`${TITLES[key] ?? words(key)}${items.length > 1 ? ` ${i + 1}` : ''}`}
                  item={item}
                />
              ),
          );
      })}
    </>
  );
}

function statefulOf(value: unknown): Stateful | null {
  if (typeof value !== 'object' || value === null) return null;
  const { state, reason, ...figures } = Object.fromEntries(Object.entries(value));
  if (typeof state !== 'string') return null;
  return { state, reason: typeof reason === 'string' ? reason : null, figures: Object.entries(figures) };
}

function StateCard({ title, item: { state, reason, figures } }: { title: string; item: Stateful }) {
  const [lamp, text] = STATES[state] ?? ['wait', words(state)];
  return (
    <section class="section" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <LampText lamp={lamp} text={text} />
      </header>
      {reason !== null && (
        <p class="notice bad" role="alert">
          {reason}
        </p>
      )}
      <Facts facts={figures.map(([name, value]) => figure(name, value))} />
    </section>
  );
}

export function LampText({ lamp, text }: { lamp: Lamp; text: string }) {
  return (
    <p class="chain small">
      <span class={`lamp ${lamp}`} aria-hidden="true" />
      {text}
    </p>
  );
}

/** Null for anything but a plain figure. */
function figure(name: string, value: unknown): Fact | null {
  const [, stem = name, unit = ''] = /^(.+?)(Seconds|Bytes|At)?$/.exec(name) ?? [];
  const title = words(stem);
  if (value === null) return { name: title, value: 'unknown' };
  if (typeof value === 'boolean') return { name: title, value: value ? 'yes' : 'no' };
  if (typeof value === 'string') return { name: title, value };
  if (typeof value !== 'number') return null;
  if (unit === 'Seconds') return { name: title, value: duration(value) };
  if (unit === 'Bytes') return { name: title, value: byteSize(value) };
  if (unit === 'At') return { name: title, value: <Age iso={new Date(value).toISOString()} /> };
  return { name: title, value: grouped(value) };
}

/** `lagBlocks` becomes `Lag blocks`. */
function words(name: string): string {
  const text = name.replace(/[_-]/g, ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
