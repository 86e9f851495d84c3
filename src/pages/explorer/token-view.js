/** Everything about a token. */
import { h } from '../ui/dom.js';
import { loadActivity } from './activity-part.js';
import { loadBuyers } from './buyers-part.js';
import { loadHolders } from './holders-part.js';
import { memoizeAsync } from './memoize-async.js';
import { pageTitle } from './page-title.js';
import { walletLink } from './route.js';
import { section } from './section.js';
import { loadTokenFacts } from './token-facts-part.js';

/**
 * @param {import('./section.js').ViewContext} view
 * @param {import('./route.js').Route} route
 * @returns {import('./main.js').MountedView}
 */
export function tokenView(view, { subject: token }) {
  /** @type {import('./token-facts-part.js').AskStats} */
  const askStats = memoizeAsync(() => view.api.get('token_stats', { token }, view.signal));
  const parts = [
    section(view, {
      id: 'summary',
      title: 'Summary',
      note: 'Totals over all indexed blocks.',
      load: () => loadTokenFacts(askStats),
      eager: true,
    }),
    section(view, {
      id: 'holders',
      title: 'Holders',
      note: 'The largest balances, as the indexed transfers leave them.',
      load: () => loadHolders(view, token, askStats),
    }),
    section(view, {
      id: 'buyers',
      title: 'First buyers',
      note: 'The first addresses that received it.',
      load: () => loadBuyers(view, token),
    }),
    section(view, {
      id: 'activity',
      title: 'Activity',
      note: 'Its transfer events in the newest blocks, straight from the node.',
      load: () => loadActivity(view, token, askStats),
    }),
  ];
  const more = [
    'The contract has transfers of its own too: ',
    h('a', { href: walletLink(token) }, 'look at it as a wallet'),
  ];
  return {
    title: `Token ${token}`,
    content: [pageTitle('Token', token, more), ...parts.map(({ element }) => element)],
    update: () => undefined,
  };
}
