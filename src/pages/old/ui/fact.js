/** A number with its name, for a list of facts. */
import { h } from './dom.js';

/**
 * @param {string} name
 * @param {import('./dom.js').Child} value
 * @param {import('./dom.js').Child} [more] in small below
 */
export function fact(name, value, more = null) {
  return h('div', {}, h('dt', {}, name), h('dd', {}, value, more ? h('small', {}, more) : null));
}
