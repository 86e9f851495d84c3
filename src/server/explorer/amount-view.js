/** Amounts as they stand in tables: short, with the exact value to point at. */
import { h } from '../ui/dom.js';
import { groupedText, NATIVE_DECIMALS, safeName, unitsToText } from '../ui/format.js';
import { tokenAnchor } from './address-view.js';

/**
 * A decimal text with its unit.
 * @param {string} text
 * @param {string} unit
 */
export function amountView(text, unit) {
  return h(
    'span',
    { title: `${text} ${unit}` },
    groupedText(text),
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
  if (transferType === 'erc1155') return h('span', {}, `${groupedText(amount)} × `, tokenIdView(tokenId));
  if (decimals === null) return amountView(amount, 'units');
  return h('span', { title: `${amount} units` }, groupedText(unitsToText(BigInt(amount), decimals)));
}

/**
 * A decimal text whose unit stands elsewhere.
 * @param {string} text
 * @param {string} unit
 */
export function exactAmountView(text, unit) {
  return h('span', { title: `${text} ${unit}` }, groupedText(text));
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
