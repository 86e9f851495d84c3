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

/** The filters of a request. Days begin and end in UTC. */
export function filterQuery(params: URLSearchParams): Query<'address_transfers'> {
  const text = (name: string) => params.get(name) || null;
  const since = text('since');
  const until = text('until');
  return {
    direction: text('direction'),
    type: text('kind'),
    token: text('token'),
    counterparty: text('counterparty'),
    since: since && `${since}T00:00:00Z`,
    until: until && `${until}T23:59:59Z`,
    include_internal: params.get('internal') === '0' ? null : 'true',
  };
}

export function Filters({ params }: { params: URLSearchParams }) {
  const isSet = FIELDS.some(({ name }) => params.has(name));
  const [isOpen, setOpen] = useState(isSet);
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
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          More filters
        </button>
        {(isSet || params.has('kind') || params.has('direction')) && (
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
      setParams({ [name]: currentTarget.value.trim() || null }),
  };
}

function clear(): void {
  setParams({ direction: null, kind: null, ...Object.fromEntries(FIELDS.map(({ name }) => [name, null])) });
}
