/** Where to begin: what can be looked for, and large transfers to click on. */
import { h } from '../ui/dom.js';
import { grouped } from '../ui/format.js';
import { table } from '../ui/table.js';
import { blockNumberAnchor, transactionAnchor, walletAnchor } from './address-view.js';
import { amountView } from './amount-view.js';
import { notice, section } from './section.js';
import { timeAgo } from './time-view.js';

const MIN = 100;
const BLOCKS = 10_000;
const LIMIT = 20;

/** A page that stays open should not use up the quota of a key. */
const REFRESH_MS = 60_000;

/**
 * @param {import('./section.js').ViewContext} view
 * @returns {import('./main.js').MountedView}
 */
export function homeView(view) {
  const large = section(view, {
    id: 'large',
    title: 'Large transfers',
    note: `${grouped(MIN)} ${view.coin} or more, in the last ${grouped(BLOCKS)} blocks.`,
    load: () => loadLarge(view),
    eager: true,
    refreshMs: REFRESH_MS,
  });
  return {
    title: 'Explorer',
    content: [
      h(
        'div',
        { class: 'intro' },
        h('h1', {}, 'Where did it come from, and who moves with it?'),
        h(
          'p',
          { class: 'soft' },
          'Paste the address of a wallet or a token, the hash of a transaction or the number of a block into the field above. Every view shows the request it is made of, so that you can ask the same from your own program.',
        ),
      ),
      large.element,
    ],
    update: () => undefined,
  };
}

/**
 * @param {import('./section.js').ViewContext} view
 * @returns {Promise<import('./section.js').PartContent>}
 */
async function loadLarge({ api, coin, signal }) {
  /** @type {import('./api.js').Answered<{ transfers: import('./api-types.js').Whale[] }>} */
  const { data, exchange } = await api.get(
    'whale_transfers',
    { min_mon: MIN, blocks: BLOCKS, limit: LIMIT },
    signal,
  );
  if (data.transfers.length === 0) return { content: notice('None is in the index.'), exchanges: [exchange] };
  const list = table(
    'Large transfers',
    [
      { title: 'From', plain: true, cell: (row) => walletAnchor(row.from) },
      { title: 'To', plain: true, cell: (row) => ['→ ', walletAnchor(row.to)] },
      { title: 'Amount', plain: true, number: true, cell: (row) => amountView(row.amount, coin) },
      { title: 'When', plain: true, cell: (row) => timeAgo(row.timestamp) },
      { title: 'Block', number: true, cell: (row) => blockNumberAnchor(row.blockNumber) },
      { title: 'Transaction', plain: true, cell: (row) => transactionAnchor(row.txHash) },
    ],
    data.transfers,
  );
  return { content: list, exchanges: [exchange] };
}
