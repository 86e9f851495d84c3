/** All keys with their usage and actions. */
import { Meter } from '../../ui/facts.tsx';
import { dateTime, grouped, percent } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { keyEvent, keyName, keyState, type ListedKey } from './key-text.ts';

interface KeyTableProps {
  keys: readonly ListedKey[];
  /** Shown if there are no rows. */
  empty: string;
  onUsage: (key: ListedKey) => void;
  onEdit: (key: ListedKey) => void;
  onRotate: (key: ListedKey) => void;
  onRevoke: (key: ListedKey) => void;
}

export function KeyTable({ keys, empty, ...actions }: KeyTableProps) {
  return (
    <Table
      caption="Keys"
      rows={keys}
      rowKey={({ id }) => id}
      rowClass={(key) => (keyState(key) === 'valid' ? '' : 'ended')}
      columns={[...COLUMNS, { title: '', plain: true, cell: (key) => <Actions listed={key} {...actions} /> }]}
      empty={empty}
    />
  );
}

const COLUMNS: Column<ListedKey>[] = [
  { title: 'No.', number: true, cell: ({ id }) => id },
  {
    title: 'Name and key',
    plain: true,
    cell: (key) => (
      <>
        <bdi class="name" title={key.name}>
          {keyName(key)}
        </bdi>{' '}
        <span class="mono nowrap soft">{key.hint}…</span>
      </>
    ),
  },
  {
    title: 'Tier',
    cell: ({ tier, allow }) => (
      <span title={allow.join('\n')}>
        {tier}
        {allow.length > 0 && <small class="soft"> {allow.length} allowed</small>}
      </span>
    ),
  },
  { title: 'Requests this month', cell: (key) => <Usage listed={key} /> },
  {
    title: 'Last use',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === null ? <span class="soft">none recently</span> : <Time iso={lastUsedAt} />,
  },
  {
    title: 'Expires',
    cell: ({ expiresAt }) =>
      expiresAt === null ? <span class="soft">never</span> : dateTime(expiresAt).slice(0, 16),
  },
  {
    title: 'State, UTC',
    cell: (key) => (
      <span class="nowrap" title={`created ${dateTime(key.createdAt ?? '')} UTC`}>
        {keyEvent(key)}
      </span>
    ),
  },
];

function Usage({ listed: { requestsThisMonth, requestsPerMonth } }: { listed: ListedKey }) {
  if (requestsPerMonth === 0)
    return (
      <>
        {grouped(requestsThisMonth)} <span class="soft">without a quota</span>
      </>
    );
  const share = requestsThisMonth / requestsPerMonth;
  return (
    <span title={`${percent(share)} of the quota`}>
      {grouped(requestsThisMonth)} <span class="soft nowrap">of {grouped(requestsPerMonth)}</span>
      <Meter share={share} />
    </span>
  );
}

function Actions({
  listed,
  onUsage,
  onEdit,
  onRotate,
  onRevoke,
}: Omit<KeyTableProps, 'keys' | 'empty'> & { listed: ListedKey }) {
  const name = keyName(listed);
  const isRevoked = listed.revokedAt !== null;
  const actions = {
    Usage: onUsage,
    ...(!isRevoked && { Change: onEdit, Rotate: onRotate, Revoke: onRevoke }),
  };
  return (
    <span class="buttons">
      {Object.entries(actions).map(([text, action]) => (
        <button
          key={text}
          id={text === 'Usage' ? `usage-of-${listed.id}` : undefined}
          type="button"
          class="quiet"
          aria-label={`${text} ${name}`}
          onClick={() => action(listed)}
        >
          {text}
        </button>
      ))}
    </span>
  );
}
