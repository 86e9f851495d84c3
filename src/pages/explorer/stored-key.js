/** The visitor's API key: kept for this tab only, which may hand it over (key-handover.js). */

const STORAGE_KEY = 'atlas-api-key';

/** Where the browser allows no storage the key lives as long as the page. */
let unstored = '';

/** @returns {string} empty when there is none */
export function readKey() {
  return storage()?.getItem(STORAGE_KEY) ?? unstored;
}

/** @param {string} key */
export function saveKey(key) {
  const place = storage();
  if (place === null) unstored = key;
  else place.setItem(STORAGE_KEY, key);
}

export function forgetKey() {
  storage()?.removeItem(STORAGE_KEY);
  unstored = '';
}

/** Null where the visitor blocks cookies: browsers then forbid even to look at it. */
function storage() {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/**
 * The beginning of a key, which may be shown.
 * @param {string} key
 */
export function keyHint(key) {
  return `${key.slice(0, 10)}…`;
}
