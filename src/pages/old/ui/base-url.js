/** Where the service is, also below a path of a proxy: its pages stand in no folder of it. */

/**
 * Address of a path of the service.
 * @param {string} path without the leading slash
 */
export function urlOf(path) {
  return new URL(path, new URL('.', document.baseURI)).href;
}

/**
 * Address of a WebSocket of the service.
 * @param {string} path without the leading slash
 */
export function socketUrlOf(path) {
  return urlOf(path).replace(/^http/, 'ws');
}
