/** The filters of a wallet's transfers. They are URL parameters, so that a filtered view is a link. */
import { useState } from 'preact/hooks';
import { TRANSFER_KINDS, TransferKind } from '../../../model/transfer-kind.ts';
import type { Query } from '../../client/answers.ts';
import { Choice } from '../../ui/choice.tsx';
import { setParams } from '../../ui/router.ts';

const DIRECTIONS = [
  { value: 'both', text: 'All' },
  { value: 'in', text: 'In' },
  { value: 'out', text: 'Out' },
] as const;

const KINDS = [
  { value: '', text: 'Every kind' },
  ...TRANSFER_KINDS.filter(({ code }) => code !== TransferKind.nativeInternal).map(({ name, label }) => ({
    value: name,
    text: label,
  })),
];

/** Fields under "More filters". */
const FIELDS = [
  { name: 'token', title: 'Token address', type: 'text' },
  { name: 'counterparty', title: 'Counterparty', type: 'text' },
  { name: 'since', title: 'From, UTC', type: 'date' },
  { name: 'until', title: 'To, UTC', type: 'date' },
] as const;

/** Spans of time up to now, seconds. */
const RANGES = [
  { value: '24h', text: '24 h', seconds: 86_400 },
  { value: '7d', text: '7 d', seconds: 7 * 86_400 },
  { value: '30d', text: '30 d', seconds: 30 * 86_400 },
] as const;

const RANGE_CHOICES = [
  { value: 'all', text: 'All time' },
  ...RANGES.map(({ value, text }) => ({ value, text })),
  { value: 'own', text: 'Dates' },
] as const;

/** The filters of a request at a time, milliseconds. Days begin and end in UTC. */
export function filterQuery(params: URLSearchParams, now: number): Query<'address_transfers'> {
  const text = (name: string) => params.get(name) || null;
  const range = RANGES.find(({ value }) => value === params.get('range'));
  const since = text('since');
  const until = text('until');
  return {
    direction: text('direction'),
    type: text('kind'),
    token: text('token'),
    counterparty: text('counterparty'),
    since: range === undefined ? since && `${since}T00:00:00Z` : Math.floor(now / 1000) - range.seconds,
    until: range === undefined ? until && `${until}T23:59:59Z` : null,
    include_internal: params.get('internal') === '0' ? null : 'true',
  };
}

/** What of the filters is shown. It outlives a reload of the list, which draws the filters anew. */
export interface FilterState {
  isOpen: boolean;
  /** Whether own dates were chosen, also before one is entered. */
  wantsDates: boolean;
}

export function useFilterState(params: URLSearchParams) {
  return useState<FilterState>(() => ({ isOpen: hasFields(params), wantsDates: false }));
}

function hasFields(params: URLSearchParams): boolean {
  return FIELDS.some(({ name }) => params.has(name));
}

interface FiltersProps {
  params: URLSearchParams;
  state: FilterState;
  onState: (state: FilterState) => void;
}

export function Filters({ params, state, onState }: FiltersProps) {
  const { isOpen, wantsDates } = state;
  const isSet = hasFields(params);
  const direction = DIRECTIONS.find(({ value }) => value === params.get('direction'))?.value ?? 'both';
  return (
    <div class="filters">
      <div class="controls">
        <Choice
          label="Direction"
          options={DIRECTIONS}
          value={direction}
          onChange={(value) => setParams({ direction: value === 'both' ? null : value })}
        />
        <select
          aria-label="Kind"
          value={params.get('kind') ?? ''}
          onChange={({ currentTarget }) => setParams({ kind: currentTarget.value || null })}
        >
          {KINDS.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <Choice
          label="Time"
          options={RANGE_CHOICES}
          value={rangeOf(params, wantsDates)}
          onChange={(value) => {
            const isOwn = value === 'own';
            onState({ isOpen: isOpen || isOwn, wantsDates: isOwn });
            const isRange = RANGES.some((range) => range.value === value);
            setParams({ range: isRange ? value : null, since: null, until: null });
          }}
        />
        <button
          type="button"
          class="quiet"
          aria-expanded={isOpen}
          onClick={() => onState({ ...state, isOpen: !isOpen })}
        >
          More filters
        </button>
        {(isSet || ['kind', 'direction', 'range'].some((name) => params.has(name))) && (
          <button type="button" class="quiet" onClick={clear}>
            Clear filters
          </button>
        )}
      </div>
      {isOpen && (
        <div class="fields">
          {FIELDS.map(({ name, title, type }) => (
            <label key={name} class="field" htmlFor={`filter-${name}`}>
              {title}
              {type === 'date' ? (
                <input type="date" {...fieldProps(name, params)} />
              ) : (
                <input type="text" placeholder="0x…" {...fieldProps(name, params)} />
              )}
            </label>
          ))}
        </div>
      )}
    </div>
  );
}

function fieldProps(name: string, params: URLSearchParams) {
  return {
    id: `filter-${name}`,
    value: params.get(name) ?? '',
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      setParams({
        [name]: currentTarget.value.trim() || null,
        ...((name === 'since' || name === 'until') && { range: null }),
      }),
  };
}

function rangeOf(params: URLSearchParams, wantsDates: boolean): (typeof RANGE_CHOICES)[number]['value'] {
  const range = RANGES.find(({ value }) => value === params.get('range'));
  if (range !== undefined) return range.value;
  return params.has('since') || params.has('until') || wantsDates ? 'own' : 'all';
}

function clear(): void {
  setParams({
    direction: null,
    kind: null,
    range: null,
    ...Object.fromEntries(FIELDS.map(({ name }) => [name, null])),
  });
}
