/** From what was put into the search field to the view of it. */

import { ApiError } from '../ui/api-error.js';
import { h } from '../ui/dom.js';
import {
  blockLink,
  isAddress,
  isBlockNumber,
  isHash,
  tokenLink,
  transactionLink,
  walletLink,
} from './route.js';
import { section } from './section.js';

/** Longest text that is repeated. */
const SHOWN = 80;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {import('./route.js').Route} route
 * @returns {import('./main.js').MountedView}
 */
export function findView(view, { subject: text }) {
  if (!isAddress(text) && !isHash(text) && !isBlockNumber(text)) {
    return messageView('Not an address, hash or block number', reasonFor(text), text);
  }
  const part = section(view, {
    id: 'search',
    title: 'Looking it up',
    note: 'What it is decides which view shows it.',
    load: async () => {
      await redirect(view, text);
      return { content: null, exchanges: [] };
    },
    eager: true,
  });
  return {
    title: 'Search',
    content: [
      h('div', { class: 'intro' }, h('h1', {}, 'Search'), h('p', { class: 'mono break' }, text)),
      part.element,
    ],
    update: () => undefined,
  };
}

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} text
 */
async function redirect(view, text) {
  const link = isAddress(text)
    ? await addressLink(view, text)
    : isHash(text)
      ? await hashLink(view, text)
      : blockLink(text);
  if (!view.signal.aborted) location.replace(link);
}

/**
 * A contract whose token transfers are in the index is shown as a token, everything else as a wallet.
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 */
async function addressLink({ api, signal }, address) {
  const isToken = await api.get('token_stats', { token: address }, signal).then(
    (/** @type {import('./api.js').Answered<import('./api-types.js').TokenStats>} */ { data }) =>
      data.transferCount > 0,
    (error) => {
      if (error instanceof ApiError && (error.code === 'not_found' || error.code === 'not_ready'))
        return false;
      throw error;
    },
  );
  return isToken ? tokenLink(address) : walletLink(address);
}

/**
 * A hash is one of a transaction unless the node has a block of it.
 * @param {import('./section.js').ViewContext} view
 * @param {string} hash
 */
async function hashLink({ api, signal }, hash) {
  /** @type {import('./api.js').Answered<import('./api-types.js').Block | null>} */
  const { data } = await api.rpc('eth_getBlockByHash', [hash, false], signal);
  return data === null ? transactionLink(hash) : blockLink(hash);
}

/** @param {string} text */
function reasonFor(text) {
  if (/^(0x)?[0-9a-f]+$/.test(text)) {
    const digits = text.replace(/^0x/, '').length;
    return `It has ${digits} hexadecimal digits; an address has 0x and 40 of them, a hash 64. Was it copied as a whole?`;
  }
  return 'An address is 0x and 40 hexadecimal digits, the hash of a transaction 64. Names are not looked up.';
}

/**
 * @param {string} title
 * @param {string} reason
 * @param {string} text
 * @returns {import('./main.js').MountedView}
 */
function messageView(title, reason, text) {
  return {
    title,
    content: h(
      'div',
      { class: 'intro' },
      h('h1', {}, title),
      h('p', { class: 'mono break' }, text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text),
      h('p', { class: 'soft' }, reason),
    ),
    update: () => undefined,
  };
}

/** @returns {import('./main.js').MountedView} */
export function unknownView() {
  return messageView(
    'There is nothing here',
    'The link may be cut short. Look for the address or the hash in the field above.',
    location.hash,
  );
}
