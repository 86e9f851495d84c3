/** Addresses, tokens, transactions and blocks as they stand in tables. */

import { copyButton } from '../ui/copy-button.js';
import { h } from '../ui/dom.js';
import { grouped, safeName, shortHex } from '../ui/format.js';
import { identicon } from '../ui/identicon.js';
import { blockLink, tokenLink, transactionLink, walletLink } from './route.js';

const ZERO = `0x${'0'.repeat(40)}`;

/**
 * An address to click on. The zero address is no wallet.
 * @param {string} address
 */
export function walletAnchor(address) {
  if (address === ZERO) return h('span', { class: 'address soft', title: address }, 'zero address');
  return h(
    'a',
    { class: 'address', href: walletLink(address), title: address },
    identicon(address),
    shortHex(address),
  );
}

/**
 * A token by its symbol, which anybody may have chosen, with its address, which nobody can.
 * @param {string} address
 * @param {string | null} symbol
 */
export function tokenAnchor(address, symbol) {
  const name = symbol === null ? '' : safeName(symbol);
  return h(
    'a',
    { class: 'token', href: tokenLink(address), title: address },
    name === '' ? null : h('bdi', { class: 'symbol' }, name),
    h('span', { class: 'address' }, shortHex(address)),
  );
}

/**
 * @param {string} hash
 */
export function transactionAnchor(hash) {
  return h(
    'span',
    { class: 'hash' },
    hashAnchor(hash, transactionLink(hash)),
    copyButton(() => hash, `transaction ${shortHex(hash)}`),
  );
}

/**
 * @param {string} hash
 */
export function blockAnchor(hash) {
  return hashAnchor(hash, blockLink(hash));
}

/** @param {number} number */
export function blockNumberAnchor(number) {
  return h('a', { href: blockLink(number) }, grouped(number));
}

/**
 * @param {string} hash
 * @param {string} href
 */
function hashAnchor(hash, href) {
  return h('a', { class: 'address', href, title: hash }, shortHex(hash));
}
