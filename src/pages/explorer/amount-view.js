/** Amounts as they stand in tables: short, with the exact value to point at. */
import { h } from '../ui/dom.js';
import { groupedText, NATIVE_DECIMALS, safeName, unitsToText } from '../ui/format.js';
import { tokenAnchor } from './address-view.js';

/** Pieces between which an amount of more than `UNBROKEN` characters may be broken. */
const PIECES = /[^,]{1,9},?/g;
const UNBROKEN = 16;

/**
 * A decimal text in few characters; a longer one can be broken, so that it fits a narrow cell.
 * @param {string} text
 * @returns {import('../ui/dom.js').Child}
 */
export function shortAmount(text) {
  const short = groupedText(text);
  if (short.length <= UNBROKEN) return short;
  return short.match(PIECES)?.map((piece) => [piece, h('wbr')]);
}

/**
 * A decimal text with its unit.
 * @param {string} text
 * @param {string} unit
 */
export function amountView(text, unit) {
  return h(
    'span',
    { title: `${text} ${unit}` },
    shortAmount(text),
    ' ',
    h('span', { class: 'soft' }, safeName(unit)),
  );
}

/**
 * What a transfer moved, without the token it is of.
 * @param {import('./api-types.js').Transfer} transfer
 * @param {string} coin
 */
export function transferAmount(transfer, coin) {
  const { transferType, amount, decimals } = transfer;
  if (transferType === 'native_direct' || transferType === 'native_internal') {
    return exactAmountView(unitsToText(BigInt(amount), decimals ?? NATIVE_DECIMALS), coin);
  }
  return tokenAmount({ ...transfer, transferType }, decimals);
}

/**
 * What was moved of a token; in its base units while its decimals are not known.
 * @param {Pick<import('./token-logs.js').TokenEvent, 'transferType' | 'amount' | 'tokenId'>} event
 * @param {number | null} decimals
 */
export function tokenAmount({ transferType, amount, tokenId }, decimals) {
  if (amount === null) return 'several ids';
  if (transferType === 'erc721') return tokenIdView(tokenId);
  if (transferType === 'erc1155')
    return h('span', { title: `${amount} units` }, shortAmount(amount), ' × ', tokenIdView(tokenId));
  if (decimals === null) return amountView(amount, 'units');
  return h('span', { title: `${amount} units` }, shortAmount(unitsToText(BigInt(amount), decimals)));
}

/**
 * A decimal text whose unit stands elsewhere.
 * @param {string} text
 * @param {string} unit
 */
export function exactAmountView(text, unit) {
  return h('span', { title: `${text} ${unit}` }, shortAmount(text));
}

/**
 * What a transfer is of.
 * @param {import('./api-types.js').Transfer} transfer
 * @param {string} coin
 */
export function transferAsset({ tokenAddress, symbol }, coin) {
  return tokenAddress === null ? safeName(coin) : tokenAnchor(tokenAddress, symbol);
}

/** @param {string | null} tokenId */
function tokenIdView(tokenId) {
  const text = tokenId ?? '?';
  return h(
    'span',
    { title: `token id ${text}` },
    `#${text.length > 12 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text}`,
  );
}
