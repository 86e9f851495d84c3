/** A block, asked of the node through /rpc. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { dateTime, grouped } from '../ui/format.js';
import { blockAnchor, blockNumberAnchor, transactionAnchor } from './address-view.js';
import { more } from './more.js';
import { pageTitle } from './page-title.js';
import { isHash } from './route.js';
import { notice, section } from './section.js';
import { isoTime, timeAgo } from './time-view.js';

/** Transactions that are listed at first. */
const LISTED = 200;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {import('./route.js').Route} route
 * @returns {import('./main.js').MountedView}
 */
export function blockView(view, { subject: block }) {
  const part = section(view, {
    id: 'summary',
    title: 'Summary',
    note: 'As the node has it.',
    load: () => loadBlock(view, block),
    eager: true,
  });
  return {
    title: `Block ${block}`,
    content: [
      pageTitle('Block', block, h('a', { href: '#/' }, 'Large transfers of the newest blocks')),
      part.element,
    ],
    update: () => undefined,
  };
}

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} block its number or its hash
 * @returns {Promise<import('./section.js').PartContent>}
 */
async function loadBlock({ api, signal }, block) {
  const [method, name] = isHash(block)
    ? ['eth_getBlockByHash', block]
    : ['eth_getBlockByNumber', `0x${Number(block).toString(16)}`];
  /** @type {import('./api.js').Answered<import('./api-types.js').Block | null>} */
  const { data, exchange } = await api.rpc(method, [name, false], signal);
  const content =
    data === null
      ? notice('The node has no such block. It may be of another chain, or not there yet.')
      : [factsView(data), data.transactions.length > 0 && transactionList(data.transactions)];
  return { content, exchanges: [exchange] };
}

/** @param {import('./api-types.js').Block} block */
function factsView({ number, hash, parentHash, timestamp, transactions }) {
  const time = isoTime(timestamp);
  return h(
    'dl',
    { class: 'facts' },
    fact('Number', grouped(Number(number))),
    fact('Time, UTC', dateTime(time), timeAgo(time)),
    fact('Transactions', grouped(transactions.length)),
    fact('Hash', blockAnchor(hash)),
    fact('Block before', blockAnchor(parentHash)),
    fact('Block after', blockNumberAnchor(Number(number) + 1)),
  );
}

/** @param {readonly string[]} hashes */
function transactionList(hashes) {
  const left = hashes.length - LISTED;
  return [
    hashList(hashes.slice(0, LISTED)),
    left > 0 ? more(`The other ${grouped(left)}`, () => hashList(hashes.slice(LISTED))) : null,
  ];
}

/** @param {readonly string[]} hashes */
function hashList(hashes) {
  return h(
    'ul',
    { class: 'hashes', 'aria-label': 'Transactions' },
    hashes.map((hash) => h('li', {}, transactionAnchor(hash))),
  );
}
