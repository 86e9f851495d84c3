/** Addresses of the explorer's own views, kept in the part behind `#`. Pure functions. */

/**
 * @typedef {object} Route
 * @property {'home' | 'find' | 'wallet' | 'token' | 'transaction' | 'block' | 'unknown'} view
 * @property {string} subject what the view is of, lower case: an address, a hash or a block's number; for `find` the one in the text that was looked for, or that text
 * @property {string} section of the view, to be scrolled to; may be empty
 * @property {URLSearchParams} params
 */

const ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const NUMBER = /^[0-9]{1,15}$/;

/** Addresses and hashes in a longer text, such as the link of another explorer; often without 0x. */
const SUBJECTS = /(?<![0-9a-z])(?:0x)?([0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-z])/g;

/**
 * @param {string} text
 */
export function isAddress(text) {
  return ADDRESS.test(text);
}

/**
 * Whether this may be the hash of a transaction or a block.
 * @param {string} text
 */
export function isHash(text) {
  return HASH.test(text);
}

/**
 * @param {string} text
 */
export function isBlockNumber(text) {
  return NUMBER.test(text);
}

/**
 * @param {string} hash `location.hash`
 * @returns {Route}
 */
export function parseRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', text = '', section = ''] = path.split('/');
  const params = new URLSearchParams(query);
  const subject = decoded(text).trim().toLowerCase();
  if (view === '') return { view: 'home', subject: '', section: '', params };
  if (view === 'find') return { view, subject: subjectIn(subject) ?? subject, section: '', params };
  if ((view === 'wallet' || view === 'token') && isAddress(subject))
    return { view, subject, section, params };
  if (view === 'transaction' && isHash(subject)) return { view, subject, section, params };
  if (view === 'block' && (isHash(subject) || isBlockNumber(subject)))
    return { view, subject, section, params };
  return { view: 'unknown', subject: '', section: '', params };
}

/**
 * @param {string} address
 */
export function walletLink(address) {
  return `#/wallet/${address}`;
}

/**
 * @param {string} address
 */
export function tokenLink(address) {
  return `#/token/${address}`;
}

/**
 * @param {string} hash
 */
export function transactionLink(hash) {
  return `#/transaction/${hash}`;
}

/**
 * @param {number | string} block its number or its hash
 */
export function blockLink(block) {
  return `#/block/${block}`;
}

/**
 * @param {string} text
 */
export function findLink(text) {
  return `#/find/${encodeURIComponent(text.trim())}`;
}

/**
 * A view's section with settings; those that are null are left out.
 * @param {string} address
 * @param {string} section
 * @param {Record<string, string | null>} settings
 */
export function sectionLink(address, section, settings) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(settings)) if (value !== null) params.set(name, value);
  const query = params.toString();
  return `${walletLink(address)}/${section}${query && `?${query}`}`;
}

/**
 * The address or hash that a text holds, where it is one only; a text of digits and commas is a block's number.
 * @param {string} text in lower case
 */
function subjectIn(text) {
  const number = text.replaceAll(',', '');
  if (isBlockNumber(number)) return String(Number(number));
  const [found, ...others] = new Set([...text.matchAll(SUBJECTS)].map(([, digits]) => digits));
  return found === undefined || others.length > 0 ? null : `0x${found}`;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
