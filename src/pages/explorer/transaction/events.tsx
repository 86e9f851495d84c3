/** The events of a transaction by name; each opens to its arguments, topics and data. */
import { useContext } from 'preact/hooks';
import { Address } from '../../ui/address.tsx';
import { AddressNames } from '../../ui/address-names.ts';
import { Copy } from '../../ui/copy.tsx';
import { countText, grouped } from '../../ui/format.ts';
import type { KnownNames } from '../../ui/known-names.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { ArgList } from './arg-list.tsx';
import { argsInLine } from './args-in-line.ts';
import { RawData } from './method.tsx';
import type { Transaction } from './sentences.ts';

type Event = NonNullable<Transaction['events']>[number];

const COLUMNS: Column<Event>[] = [
  { title: 'No.', number: true, wideOnly: true, cell: ({ logIndex }) => logIndex ?? '–' },
  { title: 'Contract', plain: true, cell: ({ address }) => <Address address={address} /> },
  { title: 'Event', plain: true, cell: (event) => <EventName event={event} /> },
  { title: 'Arguments', plain: true, whole: true, cell: (event) => <Details event={event} /> },
];

export function Events({ events, count }: { events: readonly Event[]; count: number }) {
  return (
    <>
      <Table
        caption="Events of the transaction"
        columns={COLUMNS}
        rows={events}
        rowKey={({ topics, data, logIndex }) => logIndex ?? `${topics.join()}${data}`}
        empty="No events."
      />
      {count > events.length && (
        <p class="pager soft small">
          The first {grouped(events.length)} of {grouped(count)}.
        </p>
      )}
    </>
  );
}

function EventName({ event: { name, topics } }: { event: Event }) {
  const [topic] = topics;
  if (name !== null) return <b class="break">{name}</b>;
  if (topic === undefined) return <span class="soft">anonymous</span>;
  return (
    <span class="with-copy mono" title={topic}>
      {topic.slice(0, 10)}…<Copy text={topic} what="topic" />
    </span>
  );
}

function Details({ event }: { event: Event }) {
  const { args, address, signature, topics, data, dataBytes } = event;
  const names = useContext(AddressNames);
  const token = names.get(address);
  return (
    <details class="event">
      <summary>{summaryOf(event, names)}</summary>
      {signature !== null && <code class="soft small break">{signature}</code>}
      {args !== null && <ArgList args={args} token={token} />}
      {topics.length > 0 && (
        <details class="raw">
          <summary>
            Topics <span class="soft small">{topics.length}</span>
          </summary>
          <ol class="items">
            {topics.map((topic, i) => (
              <li key={i} class="with-copy">
                <code class="break">{topic}</code>
                <Copy text={topic} what="topic" />
              </li>
            ))}
          </ol>
        </details>
      )}
      {dataBytes > 0 && <RawData title="Data" hex={data} bytes={dataBytes} />}
    </details>
  );
}

/** The arguments in one line. */
function summaryOf({ address, name, args, topics, dataBytes }: Event, names: KnownNames): string {
  if (args !== null) return argsInLine(args, names.get(address), names);
  const parts = [countText(topics.length, 'topic'), countText(dataBytes, 'byte')];
  return [...parts, ...(name === null ? [] : ['not as declared'])].join(', ');
}
