/** The columns in which transfers stand. */
import { h } from '../ui/dom.js';
import { dateTime, grouped } from '../ui/format.js';
import { transactionName, walletName } from './address-view.js';
import { transferAmount, transferAsset } from './amount-view.js';

const KINDS = {
  native_direct: 'native',
  native_internal: 'internal',
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
};

/**
 * @param {string} coin
 * @returns {import('../ui/table.js').Column<import('./records.js').Transfer>[]}
 */
export function transferColumns(coin) {
  return [
    { title: 'Time, UTC', cell: (row) => h('span', { class: 'nowrap' }, dateTime(row.timestamp)) },
    {
      title: 'Direction',
      cell: ({ direction }) => h('span', { class: direction }, direction === 'in' ? '← in' : '→ out'),
    },
    { title: 'With', cell: ({ direction, from, to }) => walletName(direction === 'in' ? from : to) },
    { title: 'Amount', number: true, cell: (row) => transferAmount(row, coin) },
    { title: 'Of', cell: (row) => transferAsset(row, coin) },
    { title: 'Kind', cell: ({ transferType }) => KINDS[transferType] },
    { title: 'Block', number: true, cell: ({ blockNumber }) => grouped(blockNumber) },
    { title: 'Transaction', cell: ({ txHash }) => transactionName(txHash) },
  ];
}
