/** A view of the panel that shows what the server says now. */
import { h, patch } from '../ui/dom.js';
import { poll } from '../ui/poll.js';

/**
 * A view that is loaded again and again, and changed only where it differs.
 * @param {number} ms
 * @param {import('./main.js').ViewContext} view
 * @param {() => Promise<HTMLElement[]>} load
 */
export function polledView(ms, { signal, onFailure }, load) {
  const content = h('div', {}, h('p', { class: 'loading' }, 'Asking …'));
  poll(ms, signal, async () => {
    try {
      patch(content, ...(await load()));
      onFailure(null);
    } catch (error) {
      onFailure(error);
    }
  });
  return content;
}
