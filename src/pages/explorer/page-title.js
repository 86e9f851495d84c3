/** The head of a view about an address, a transaction or a block. */

import { copyButton } from '../ui/copy-button.js';
import { h } from '../ui/dom.js';
import { identicon } from '../ui/identicon.js';
import { isAddress } from './route.js';

/**
 * @param {string} kind
 * @param {string} subject its address, hash or number
 * @param {import('../ui/dom.js').Child} [more]
 */
export function pageTitle(kind, subject, more = null) {
  return h(
    'div',
    { class: 'page-title' },
    h('p', { class: 'kind', 'aria-hidden': true }, kind),
    h(
      'div',
      { class: 'subject' },
      h(
        'h1',
        { 'aria-label': `${kind} ${subject}` },
        isAddress(subject) ? identicon(subject, 22) : null,
        h(
          'span',
          { class: 'mono whole' },
          pieces(subject).map((piece) => h('span', {}, piece)),
        ),
      ),
      copyButton(() => subject, `the ${isAddress(subject) ? 'address' : kind.toLowerCase()}`),
    ),
    more === null ? null : h('p', { class: 'small' }, more),
  );
}

/**
 * An address in halves, a hash in quarters, so that a narrow screen breaks it evenly.
 * @param {string} subject
 */
function pieces(subject) {
  return subject.match(isAddress(subject) ? /(^0x)?.{20}/g : /(^0x)?.{1,16}/g) ?? [];
}
