/** Requests over time, of all keys or of one. */
import { useState } from 'preact/hooks';
import { Chart, type Point } from '../../ui/chart.tsx';
import { Choice } from '../../ui/choice.tsx';
import { countText, dateTime, grouped } from '../../ui/format.ts';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import { type AdminAnswers, usePolled } from '../admin-api.ts';
import { keyName, type ListedKey } from './key-text.ts';

const POLL_MS = 3_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const SPANS = [
  { value: '1', text: '24 hours' },
  { value: '7', text: '7 days' },
  { value: '31', text: '31 days' },
] as const;
type Span = (typeof SPANS)[number]['value'];

type Usage = AdminAnswers['usage'];

/** `chosen` null means all keys. */
export function UsageSection({ chosen, onAll }: { chosen: ListedKey | null; onAll: () => void }) {
  const [days, setDays] = useState<Span>('1');
  const usage = usePolled('usage', POLL_MS, `?days=${days}${chosen === null ? '' : `&key=${chosen.id}`}`);
  const whose = chosen === null ? 'all keys' : keyName(chosen);
  return (
    <Section
      id="usage"
      title={chosen === null ? 'Requests' : `Requests of ${whose}`}
      loaded={usage}
      controls={
        <>
          {chosen !== null && (
            <button type="button" class="button" onClick={onAll}>
              All keys
            </button>
          )}
          <Choice label="Time span" options={SPANS} value={days} onChange={setDays} />
        </>
      }
    >
      {(data) => {
        const points = barsOf(data, days === '31' ? DAY_MS : HOUR_MS);
        const total = points.reduce((sum, { value }) => sum + value, 0);
        return (
          <>
            <p class="small">
              {`${countText(total, 'request')} of ${whose} in the last ` +
                `${SPANS.find(({ value }) => value === days)?.text}`}
            </p>
            <Chart label={`Requests of ${whose} over time`} points={points} kind="bars" />
            <Months months={data.months} />
          </>
        );
      }}
    </Section>
  );
}

/** One bar per step of the range, even without requests. */
function barsOf({ from, to, hours }: Usage, step: number): Point[] {
  const first = Math.floor(Date.parse(from) / step);
  const last = Math.floor(Date.parse(to) / step);
  const counts = new Map<number, number>();
  for (const { at, requests } of hours) {
    const bar = Math.floor(Date.parse(at) / step);
    counts.set(bar, (counts.get(bar) ?? 0) + requests);
  }
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const value = counts.get(first + i) ?? 0;
    const at = (first + i) * step;
    return { at, value, text: `${spanText(at, step)}: ${countText(value, 'request')}` };
  });
}

function spanText(at: number, step: number): string {
  const iso = new Date(at).toISOString();
  return step === DAY_MS ? iso.slice(0, 10) : `${dateTime(iso).slice(0, 16)} UTC, one hour`;
}

function Months({ months }: { months: Usage['months'] }) {
  if (months.length === 0) return null;
  return (
    <details>
      <summary>By month</summary>
      <Table
        caption="Requests by month"
        rows={months}
        rowKey={({ month }) => month}
        columns={[
          { title: 'Month, UTC', cell: ({ month }) => month },
          { title: 'Requests', number: true, cell: ({ requests }) => grouped(requests) },
        ]}
      />
    </details>
  );
}
