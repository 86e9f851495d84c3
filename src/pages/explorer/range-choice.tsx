/** How far back from its end a chart over time begins. */
import { Choice } from '../ui/choice.tsx';
import { setParams } from '../ui/router.ts';

const DAY = 86_400;

/** Seconds before the end; 0 for all. */
const RANGES = [
  { value: '', text: 'All', seconds: 0 },
  { value: 'year', text: '1 year', seconds: 365 * DAY },
  { value: 'month', text: '30 days', seconds: 30 * DAY },
  { value: 'week', text: '7 days', seconds: 7 * DAY },
  { value: 'day', text: '24 hours', seconds: DAY },
] as const;

/** The range in the URL of a page. */
export function rangeIn(params: URLSearchParams) {
  return RANGES.find(({ value }) => value === params.get('range')) ?? RANGES[0];
}

/** `label`: what the range ends at. */
export function RangeChoice({ label, value }: { label: string; value: (typeof RANGES)[number]['value'] }) {
  return (
    <Choice
      label={label}
      options={RANGES}
      value={value}
      onChange={(chosen) => setParams({ range: chosen || null }, { replace: true })}
    />
  );
}
