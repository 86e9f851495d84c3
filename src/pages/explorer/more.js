/** The rest of a list that may be too long to be made before somebody wants to see it. */
import { h, replace } from '../ui/dom.js';

/**
 * @param {string} title
 * @param {() => import('../ui/dom.js').Child} make
 */
export function more(title, make) {
  const content = h('div');
  const details = h('details', { class: 'list' }, h('summary', {}, title), content);
  details.addEventListener('toggle', () => replace(content, make()), { once: true });
  return details;
}
