/** The visitor's API key: kept for this tab only. */

const STORAGE_KEY = 'atlas-api-key';

/** @returns {string} empty when there is none */
export function readKey() {
  return sessionStorage.getItem(STORAGE_KEY) ?? '';
}

/** @param {string} key */
export function saveKey(key) {
  sessionStorage.setItem(STORAGE_KEY, key);
}

export function forgetKey() {
  sessionStorage.removeItem(STORAGE_KEY);
}

/**
 * The beginning of a key, which may be shown.
 * @param {string} key
 */
export function keyHint(key) {
  return `${key.slice(0, 10)}…`;
}
