/** Where the service is, also below a path of a proxy: one folder above these files. */

const BASE = new URL('..', import.meta.url);

/**
 * Address of a path of the service.
 * @param {string} path without the leading slash
 */
export function urlOf(path) {
  return new URL(path, BASE).href;
}

/**
 * Address of a WebSocket of the service.
 * @param {string} path without the leading slash
 */
export function socketUrlOf(path) {
  return urlOf(path).replace(/^http/, 'ws');
}
