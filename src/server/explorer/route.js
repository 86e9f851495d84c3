/** Addresses of the explorer's own views, kept in the part behind `#`. Pure functions. */

/**
 * @typedef {object} Route
 * @property {'home' | 'find' | 'wallet' | 'token' | 'unknown'} view
 * @property {string} address lower case; for `find` the one in the text that was looked for, or that text
 * @property {string} section of the view, to be scrolled to; may be empty
 * @property {URLSearchParams} params
 */

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** In a longer text, such as the link of another explorer; often without 0x. */
const ADDRESSES = /(?<![0-9a-z])(?:0x)?([0-9a-f]{40})(?![0-9a-z])/g;

/**
 * @param {string} text
 */
export function isAddress(text) {
  return ADDRESS.test(text);
}

/**
 * @param {string} hash `location.hash`
 * @returns {Route}
 */
export function parseRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', text = '', section = ''] = path.split('/');
  const params = new URLSearchParams(query);
  const address = decoded(text).trim().toLowerCase();
  if (view === '') return { view: 'home', address: '', section: '', params };
  if (view === 'find') return { view, address: addressIn(address) ?? address, section: '', params };
  if ((view === 'wallet' || view === 'token') && isAddress(address))
    return { view, address, section, params };
  return { view: 'unknown', address: '', section: '', params };
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
 * The address that a text holds, where it is one only.
 * @param {string} text in lower case
 */
function addressIn(text) {
  const [found, ...others] = new Set([...text.matchAll(ADDRESSES)].map(([, digits]) => digits));
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
