/** From what was put into the search field to the view of it. */
import { h } from '../ui/dom.js';
import { inWords, Problem } from './problem.js';
import { isAddress, tokenLink, walletLink } from './route.js';

/** Longest text that is repeated. */
const SHOWN = 80;

/**
 * @param {import('./section.js').View} view
 * @param {import('./route.js').Route} route
 * @returns {import('./main.js').Shown}
 */
export function findView(view, { address: text }) {
  if (!isAddress(text)) return said('That is no address', reasonFor(text), text);
  const message = h('p', { class: 'loading', role: 'status' }, 'Looking …');
  void forward(view, text).catch((error) => {
    if (view.signal.aborted) return;
    if (error instanceof Problem && error.code === 'unauthorized') return view.onRefusedKey(error);
    message.className = 'notice bad';
    message.textContent = inWords(error);
  });
  return { title: 'Search', content: message, update: () => undefined };
}

/**
 * A contract whose token transfers are in the index is shown as a token, everything else as a wallet.
 * @param {import('./section.js').View} view
 * @param {string} address
 */
async function forward({ api, signal }, address) {
  const isToken = await api.get('token_stats', { token: address }, signal).then(
    (/** @type {import('./api.js').Answered<import('./records.js').TokenStats>} */ { data }) =>
      data.transferCount > 0,
    (error) => {
      if (error instanceof Problem && (error.code === 'not_found' || error.code === 'not_ready'))
        return false;
      throw error;
    },
  );
  if (!signal.aborted) location.replace(isToken ? tokenLink(address) : walletLink(address));
}

/** @param {string} text */
function reasonFor(text) {
  if (/^0x[0-9a-f]{64}$/.test(text)) {
    return 'It is as long as the hash of a transaction or a block. The explorer looks at addresses: take one of those that stand in the transaction.';
  }
  if (/^[0-9][0-9,]*$/.test(text)) {
    return 'It looks like the number of a block. The explorer looks at addresses: take one of those that stand in the block.';
  }
  if (/^(0x)?[0-9a-f]+$/.test(text)) {
    const digits = text.replace(/^0x/, '').length;
    return `It has ${digits} hexadecimal digits; an address has 0x and 40 of them. Was it copied as a whole?`;
  }
  return 'An address is 0x and 40 hexadecimal digits. Names are not looked up.';
}

/**
 * @param {string} title
 * @param {string} reason
 * @param {string} text
 * @returns {import('./main.js').Shown}
 */
function said(title, reason, text) {
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

/** @returns {import('./main.js').Shown} */
export function unknownView() {
  return said(
    'There is nothing here',
    'The link may be cut short. Look for the address in the field above.',
    location.hash,
  );
}
