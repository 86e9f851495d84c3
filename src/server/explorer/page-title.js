/** The head of a view about an address. */
import { addressMark } from '../ui/address-mark.js';
import { copyButton } from '../ui/copy.js';
import { h } from '../ui/dom.js';

/**
 * @param {string} kind
 * @param {string} address
 * @param {import('../ui/dom.js').Child} more
 */
export function pageTitle(kind, address, more) {
  return h(
    'div',
    { class: 'page-title' },
    h('p', { class: 'kind' }, kind),
    h(
      'h1',
      {},
      addressMark(address, 22),
      // In two halves, so that a narrow screen breaks it in the middle.
      h(
        'span',
        { class: 'mono whole' },
        h('span', {}, address.slice(0, 22)),
        h('span', {}, address.slice(22)),
      ),
      copyButton(() => address, 'the address'),
    ),
    h('p', { class: 'small' }, more),
  );
}
