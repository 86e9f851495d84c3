/** Open WebSockets and what is subscribed to. */
import { h, replace } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { ago, byteSize, grouped, label, NAME_CHARS } from '../ui/format.js';
import { table } from '../ui/table.js';
import { call } from './admin-api.js';
import { keepLooking } from './poll.js';

const EVERY_MS = 2000;

/**
 * @param {import('./main.js').View} view
 */
export function socketsView({ signal, onTrouble }) {
  const content = h('div', {}, h('p', { class: 'loading' }, 'Asking …'));
  keepLooking(EVERY_MS, signal, async () => {
    try {
      /** @type {[import('./api-types.js').Sockets, import('./api-types.js').KeyList]} */
      const [sockets, { keys }] = await Promise.all([call('GET', 'sockets'), call('GET', 'keys')]);
      replace(content, socketsPart(sockets, new Map(keys.map(({ id, name }) => [id, name]))));
      onTrouble(null);
    } catch (error) {
      onTrouble(error);
    }
  });
  return content;
}

/**
 * @param {import('./api-types.js').Sockets} sockets
 * @param {ReadonlyMap<number, string>} names of keys
 */
function socketsPart({ available, total, endpoints, topics, sockets }, names) {
  const head = h('header', {}, h('h1', {}, 'Sockets'));
  if (!available)
    return h(
      'section',
      { class: 'part' },
      head,
      h('p', { class: 'notice' }, 'This server offers no streams.'),
    );
  const subscriptions = Object.values(topics).reduce((sum, count) => sum + count, 0);
  return h(
    'section',
    { class: 'part' },
    head,
    h(
      'dl',
      { class: 'facts' },
      fact('Open sockets', grouped(total)),
      ...Object.entries(endpoints).map(([path, count]) => fact(path, grouped(count))),
      fact('Subscriptions', grouped(subscriptions)),
      ...Object.entries(topics).map(([topic, count]) => fact(topic, grouped(count))),
    ),
    total === 0
      ? h('p', { class: 'notice after' }, 'Nobody is connected.')
      : h('div', { class: 'after' }, socketTable(sockets, names)),
    total > sockets.length
      ? h('p', { class: 'soft small after' }, `The ${grouped(sockets.length)} slowest of ${grouped(total)}.`)
      : null,
  );
}

/**
 * @param {import('./api-types.js').Socket[]} sockets
 * @param {ReadonlyMap<number, string>} names
 */
function socketTable(sockets, names) {
  return table(
    'Sockets',
    [
      {
        title: 'Key',
        cell: ({ keyId }) => [
          `${keyId} `,
          h('bdi', { class: 'soft' }, label(names.get(keyId) ?? '', NAME_CHARS)),
        ],
      },
      { title: 'Path', plain: true, cell: ({ endpoint }) => h('code', {}, endpoint) },
      {
        title: 'Subscribed to',
        plain: true,
        cell: ({ topics }) => (topics.length === 0 ? 'nothing' : counted(topics)),
      },
      { title: 'Unsent', number: true, cell: ({ backlogBytes }) => byteSize(backlogBytes) },
      {
        title: 'Open for',
        cell: ({ openedAt }) => h('span', { class: 'nowrap' }, ago(openedAt).replace(' ago', '')),
      },
    ],
    sockets,
  );
}

/**
 * `logs ×3, newHeads`
 * @param {string[]} topics
 */
function counted(topics) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const topic of topics) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  return [...counts].map(([topic, count]) => (count === 1 ? topic : `${topic} ×${count}`)).join(', ');
}
