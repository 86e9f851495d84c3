/** Everything about a wallet. */
import { h } from '../ui/dom.js';
import { chainLoader } from './chain-part.js';
import { loadCohort } from './cohort-part.js';
import { loadCounterparties } from './counterparties-part.js';
import { flowsLoader } from './flows-part.js';
import { memoizeAsync } from './memoize-async.js';
import { pageTitle } from './page-title.js';
import { loadRecipients } from './recipients-part.js';
import { tokenLink } from './route.js';
import { section } from './section.js';
import { loadSummary } from './summary-part.js';
import { transfersLoader } from './transfers-part.js';

/**
 * @param {import('./section.js').ViewContext} view
 * @param {import('./route.js').Route} route
 * @returns {import('./main.js').MountedView}
 */
export function walletView(view, route) {
  const { subject: address } = route;
  let { params } = route;
  /** @type {import('./summary-part.js').AskSummary} */
  const askSummary = memoizeAsync(() => view.api.get('wallet_summary', { address }, view.signal));
  const chain = section(view, {
    id: 'funding',
    title: 'Funding chain',
    note: 'Who sent this wallet its first native coin, who sent that one its first, and so on.',
    load: chainLoader(view, address, () => chain.reload()),
  });
  const transfers = section(view, {
    id: 'transfers',
    title: 'Transfers',
    note: 'Native coin and tokens, newest first.',
    load: transfersLoader(
      view,
      address,
      () => params,
      () => transfers.reload(),
    ),
  });
  const parts = [
    section(view, {
      id: 'summary',
      title: 'Summary',
      note: 'Totals over all indexed blocks.',
      load: () => loadSummary(view, address, askSummary),
      eager: true,
    }),
    section(view, {
      id: 'flows',
      title: 'Balance of flows',
      note: 'What came in less what went out, after each transaction.',
      load: flowsLoader(view, address, askSummary),
    }),
    chain,
    section(view, {
      id: 'coordinated',
      title: 'Coordinated wallets',
      note: 'Other wallets whose first funding came from the same funder, those nearest in time.',
      load: () => loadCohort(view, address),
    }),
    section(view, {
      id: 'recipients',
      title: 'Funded by this wallet',
      note: 'Wallets it sent native coin to in the last 10,000 blocks, most recent first.',
      load: () => loadRecipients(view, address),
    }),
    section(view, {
      id: 'counterparties',
      title: 'Counterparties',
      note: 'The addresses it exchanged with most.',
      load: () => loadCounterparties(view, address),
    }),
    transfers,
  ];
  const more = ['Is it a token contract? ', h('a', { href: tokenLink(address) }, 'Look at it as a token')];
  return {
    title: `Wallet ${address}`,
    content: [pageTitle('Wallet', address, more), ...parts.map(({ element }) => element)],
    update(next) {
      if (next.params.toString() === params.toString()) return;
      params = next.params;
      void transfers.reload();
    },
    onReorg: () => void transfers.reload(), // the stream tells only of what it has told before
  };
}
