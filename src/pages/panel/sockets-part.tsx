/** Open WebSockets: their keys, their subscriptions, and a button to close each. */
import { Facts } from '../ui/facts.tsx';
import { byteSize, grouped, safeName } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { type AdminAnswers, callAdmin, useAction, usePolled } from './admin-api.ts';
import { Problem } from './dialog.tsx';
import { NAME_CHARS } from './keys/key-text.ts';

const POLL_MS = 2_000;
const KEYS_POLL_MS = 10_000;

type Sockets = AdminAnswers['sockets'];
type Socket = Sockets['sockets'][number];

export function SocketsPart() {
  const sockets = usePolled('sockets', POLL_MS);
  const keys = usePolled('keys', KEYS_POLL_MS).data?.keys ?? [];
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const closing = useAction();
  const close = async (id: number) => {
    await closing.run(() => callAdmin('POST', `sockets/${id}/close`, { body: {} }));
    sockets.reload();
  };
  const columns: Column<Socket>[] = [
    {
      title: 'Key',
      plain: true,
      cell: ({ keyId }) => (
        <>
          {keyId} <bdi class="soft">{safeName(names.get(keyId) ?? '', NAME_CHARS)}</bdi>
        </>
      ),
    },
    { title: 'Address', cell: ({ address }) => <code class="break">{address}</code> },
    { title: 'Path', plain: true, cell: ({ endpoint }) => <code>{endpoint}</code> },
    { title: 'Subscribed to', cell: ({ topics }) => topicCounts(topics) },
    { title: 'Unsent', number: true, cell: ({ backlogBytes }) => byteSize(backlogBytes) },
    { title: 'Opened', cell: ({ openedAt }) => <Time iso={openedAt} /> },
    {
      title: '',
      plain: true,
      cell: ({ id, address }) => (
        <button
          type="button"
          class="quiet"
          aria-label={`Close the socket from ${address}`}
          onClick={() => close(id)}
        >
          Close
        </button>
      ),
    },
  ];
  return (
    <Section id="sockets" isPage title="Sockets" loaded={sockets}>
      {({ total, endpoints, topics, sockets: listed }) => (
        <>
          <Problem text={closing.problem} />
          <Facts
            facts={[
              { name: 'Open sockets', value: grouped(total) },
              ...Object.entries({ ...endpoints, ...topics }).map(([name, count]) => ({
                name: safeName(name, NAME_CHARS),
                value: grouped(count),
                note: name in endpoints ? 'sockets' : 'subscriptions',
              })),
            ]}
          />
          <Table
            caption="Sockets"
            columns={columns}
            rows={listed}
            rowKey={({ id }) => id}
            empty="No open sockets."
          />
          {total > listed.length && (
            <p class="pager soft small">
              The {grouped(listed.length)} slowest of {grouped(total)}.
            </p>
          )}
        </>
      )}
    </Section>
  );
}

/** `logs ×3, newHeads` */
function topicCounts(topics: readonly string[]): string {
  if (topics.length === 0) return 'nothing';
  const counts = new Map<string, number>();
  for (const topic of topics) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  return [...counts].map(([topic, count]) => (count === 1 ? topic : `${topic} ×${count}`)).join(', ');
}
