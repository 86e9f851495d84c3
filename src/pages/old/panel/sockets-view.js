/** Open WebSockets and what is subscribed to. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { ago, byteSize, grouped, NAME_CHARS, safeName } from '../ui/format.js';
import { table } from '../ui/table.js';
import { callAdminApi } from './admin-api.js';
import { polledView } from './polled-view.js';

const POLL_MS = 2000;

/**
 * @param {import('./main.js').ViewContext} view
 */
export function socketsView(view) {
  return polledView(POLL_MS, view, async () => {
    /** @type {[import('./api-types.js').Sockets, import('./api-types.js').KeyList]} */
    const [sockets, { keys }] = await Promise.all([
      callAdminApi('GET', 'sockets'),
      callAdminApi('GET', 'keys'),
    ]);
    return [socketsPart(sockets, new Map(keys.map(({ id, name }) => [id, name])))];
  });
}

/**
 * @param {import('./api-types.js').Sockets} sockets
 * @param {ReadonlyMap<number, string>} names of keys
 */
function socketsPart({ total, endpoints, topics, sockets }, names) {
  const subscriptions = Object.values(topics).reduce((sum, count) => sum + count, 0);
  return h(
    'section',
    { class: 'part' },
    h('header', {}, h('h1', {}, 'Sockets')),
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
          h('bdi', { class: 'soft' }, safeName(names.get(keyId) ?? '', NAME_CHARS)),
        ],
      },
      { title: 'Path', plain: true, cell: ({ endpoint }) => h('code', {}, endpoint) },
      {
        title: 'Subscribed to',
        plain: true,
        cell: ({ topics }) => (topics.length === 0 ? 'nothing' : topicCounts(topics)),
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
function topicCounts(topics) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const topic of topics) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  return [...counts].map(([topic, count]) => (count === 1 ? topic : `${topic} ×${count}`)).join(', ');
}
