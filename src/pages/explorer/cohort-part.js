/** Other wallets whose first funding came from the same funder. */
import { h } from '../ui/dom.js';
import { grouped } from '../ui/format.js';
import { table } from '../ui/table.js';
import { blockNumberAnchor, transactionAnchor, walletAnchor } from './address-view.js';
import { amountView } from './amount-view.js';
import { cohortGraph } from './cohort-graph.js';
import { notice } from './section.js';
import { timeAgo } from './time-view.js';

const LIMIT = 50;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadCohort({ api, coin, signal }, address) {
  const [cohort, funding] = await Promise.all([
    /** @type {Promise<import('./api.js').Answered<import('./api-types.js').Cohort>>} */ (
      api.get('coordinated_wallets', { address, limit: LIMIT }, signal)
    ),
    /** @type {Promise<import('./api.js').Answered<{ firstFunding: { amount: string, blockNumber: number } | null }>>} */ (
      api.get('wallet_funding_source', { address }, signal)
    ),
  ]);
  const exchanges = [cohort.exchange, funding.exchange];
  const { funder, coordinated, funderFundedCount, hub } = cohort.data;
  if (funder === null) return { content: notice('Nobody funded this wallet within the index.'), exchanges };
  if (coordinated.length === 0) {
    return {
      content: notice('This is the only wallet in the index that its funder funded first.'),
      exchanges,
    };
  }
  const own = funding.data.firstFunding;
  const members = [...coordinated, ...(own === null ? [] : [{ address, ...own }])].sort(
    (a, b) => a.blockNumber - b.blockNumber,
  );
  return {
    content: [
      h('p', { class: 'lead' }, sentence(funder, coordinated.length, funderFundedCount, hub)),
      cohortGraph(funder, members, address, coin),
      h(
        'details',
        { class: 'list' },
        h('summary', {}, `The ${grouped(coordinated.length)} wallets as a table`),
        table(
          'Coordinated wallets',
          [
            { title: 'Wallet', plain: true, cell: (row) => walletAnchor(row.address) },
            { title: 'Amount', number: true, cell: (row) => amountView(row.amount, coin) },
            { title: 'Block', number: true, cell: (row) => blockNumberAnchor(row.blockNumber) },
            { title: 'When', plain: true, cell: (row) => timeAgo(row.timestamp) },
            { title: 'Transaction', plain: true, cell: (row) => transactionAnchor(row.txHash) },
          ],
          coordinated,
        ),
      ),
    ],
    exchanges,
  };
}

/**
 * @param {string} funder
 * @param {number} shown
 * @param {number} all
 * @param {boolean} hub
 */
function sentence(funder, shown, all, hub) {
  const near = all - 1 > shown ? `; the ${grouped(shown)} nearest in time are shown` : '';
  return [
    walletAnchor(funder),
    ` funded ${grouped(all)} wallets first${near}.`,
    hub ? ' So many are typical of an exchange or a faucet, and say little about these wallets.' : '',
  ];
}
