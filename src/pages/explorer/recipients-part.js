/** Whom the wallet funded lately. */
import { grouped } from '../ui/format.js';
import { table } from '../ui/table.js';
import { walletAnchor } from './address-view.js';
import { amountView } from './amount-view.js';
import { notice } from './section.js';
import { timeAgo } from './time-view.js';

const LIMIT = 20;

/** The look-back window, blocks. */
const BLOCKS = 10_000;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} address
 * @returns {Promise<import('./section.js').PartContent>}
 */
export async function loadRecipients({ api, coin, signal }, address) {
  /** @type {import('./api.js').Answered<{ recipients: import('./api-types.js').Recipient[] }>} */
  const { data, exchange } = await api.get(
    'funding_recipients',
    { address, blocks: BLOCKS, limit: LIMIT },
    signal,
  );
  if (data.recipients.length === 0) {
    return {
      content: notice(`It sent no native coin to another wallet in the last ${grouped(BLOCKS)} blocks.`),
      exchanges: [exchange],
    };
  }
  const list = table(
    'Wallets it funded',
    [
      { title: 'Wallet', plain: true, cell: (row) => walletAnchor(row.address) },
      { title: 'Amount', number: true, cell: (row) => amountView(row.amount, coin) },
      { title: 'Transfers', number: true, cell: (row) => grouped(row.transferCount) },
      { title: 'First funding', cell: (row) => (row.firstFunding ? 'yes' : 'no') },
      { title: 'Last', plain: true, cell: (row) => timeAgo(row.timestamp) },
    ],
    data.recipients,
  );
  return { content: list, exchanges: [exchange] };
}
