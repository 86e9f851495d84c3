/** With whom the wallet exchanges most. */
import { grouped } from '../ui/format.js';
import { table } from '../ui/table.js';
import { walletAnchor } from './address-view.js';
import { exactAmountView } from './amount-view.js';
import { inOutBars } from './in-out-bars.js';
import { notice } from './section.js';
import { timeAgo } from './time-view.js';

const LIMIT = 20;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadCounterparties({ api, coin, signal }, address) {
  /** @type {import('./api.js').Answered<{ counterparties: import('./api-types.js').Counterparty[] }>} */
  const { data, exchange } = await api.get('wallet_counterparties', { address, limit: LIMIT }, signal);
  const rows = data.counterparties;
  if (rows.length === 0)
    return {
      content: notice('It has no transfers with another address in the indexed blocks.'),
      exchanges: [exchange],
    };
  const most = Math.max(...rows.map(({ inCount, outCount }) => Math.max(inCount, outCount)));
  const list = table(
    'Counterparties',
    [
      { title: 'Address', plain: true, cell: (row) => walletAnchor(row.address) },
      { title: 'Transfers', number: true, cell: (row) => grouped(row.transferCount) },
      { title: 'In and out', plain: true, cell: (row) => inOutBars(row.inCount, row.outCount, most) },
      { title: 'Last', plain: true, cell: (row) => timeAgo(row.lastSeenAt) },
      { title: `${coin} in`, number: true, cell: (row) => exactAmountView(row.nativeIn, coin) },
      { title: `${coin} out`, number: true, cell: (row) => exactAmountView(row.nativeOut, coin) },
    ],
    rows,
  );
  return { content: list, exchanges: [exchange] };
}
