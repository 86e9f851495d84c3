/** The visitor's API key: kept for this tab only. */

const PLACE = 'atlas-api-key';

/** @returns {string} empty when there is none */
export function readKey() {
  return sessionStorage.getItem(PLACE) ?? '';
}

/** @param {string} key */
export function keepKey(key) {
  sessionStorage.setItem(PLACE, key);
}

export function forgetKey() {
  sessionStorage.removeItem(PLACE);
}

/**
 * The beginning of a key, which may be shown.
 * @param {string} key
 */
export function keyHint(key) {
  return `${key.slice(0, 10)}…`;
}
