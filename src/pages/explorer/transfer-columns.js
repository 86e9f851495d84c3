/** The columns in which transfers stand. */
import { h } from '../ui/dom.js';
import { dateTime } from '../ui/format.js';
import { blockNumberAnchor, transactionAnchor, walletAnchor } from './address-view.js';
import { transferAmount, transferAsset } from './amount-view.js';

const KINDS = {
  native_direct: 'native',
  native_internal: 'internal',
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
};

/** @param {import('./api-types.js').Transfer} transfer */
function counterparty({ direction, from, to }) {
  if (from === to) return h('span', { class: 'soft' }, 'itself');
  return walletAnchor(direction === 'in' ? from : to);
}

/**
 * @param {string} coin
 * @returns {import('../ui/table.js').Column<import('./api-types.js').Transfer>[]}
 */
export function transferColumns(coin) {
  return [
    {
      title: 'Time, UTC',
      plain: true,
      cell: (row) => h('span', { class: 'nowrap date' }, dateTime(row.timestamp)),
    },
    {
      title: 'Direction',
      plain: true,
      cell: ({ direction }) => h('span', { class: direction }, direction === 'in' ? '← in' : '→ out'),
    },
    {
      title: 'With',
      plain: true,
      cell: counterparty,
    },
    { title: 'Amount', plain: true, number: true, cell: (row) => transferAmount(row, coin) },
    { title: 'Of', plain: true, cell: (row) => transferAsset(row, coin) },
    {
      title: 'Kind',
      plain: true,
      cell: ({ transferType }) => h('span', { class: 'nowrap' }, KINDS[transferType]),
    },
    { title: 'Block', number: true, cell: ({ blockNumber }) => blockNumberAnchor(blockNumber) },
    { title: 'Transaction', plain: true, cell: ({ txHash }) => transactionAnchor(txHash) },
  ];
}
