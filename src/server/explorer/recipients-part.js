/** Whom the wallet funded lately. */
import { grouped } from '../ui/format.js';
import { table } from '../ui/table.js';
import { walletName } from './address-view.js';
import { amountText } from './amount-view.js';
import { nothing } from './section.js';
import { moment } from './time-view.js';

const LIMIT = 20;

/** The look-back window, blocks. */
const BLOCKS = 10_000;

/**
 * @param {import('./section.js').View} view
 * @param {string} address
 * @returns {Promise<import('./section.js').Shown>}
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
      content: nothing(`It sent no native coin to another wallet in the last ${grouped(BLOCKS)} blocks.`),
      exchanges: [exchange],
    };
  }
  const list = table(
    'Wallets it funded',
    [
      { title: 'Wallet', plain: true, cell: (row) => walletName(row.address) },
      { title: 'Amount', number: true, cell: (row) => amountText(row.amount, coin) },
      { title: 'Transfers', number: true, cell: (row) => grouped(row.transferCount) },
      { title: 'First funding', cell: (row) => (row.firstFunding ? 'yes' : 'no') },
      { title: 'Last', plain: true, cell: (row) => moment(row.timestamp) },
    ],
    data.recipients,
  );
  return { content: list, exchanges: [exchange] };
}
