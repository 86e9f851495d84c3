/** A transaction, asked of the node through /rpc. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { grouped, groupedText, NATIVE_DECIMALS, unitsToText } from '../ui/format.js';
import { table } from '../ui/table.js';
import { tokenAnchor, walletAnchor } from './address-view.js';
import { amountView } from './amount-view.js';
import { pageTitle } from './page-title.js';
import { blockLink } from './route.js';
import { notice, section } from './section.js';
import { isoTime, timeAgo } from './time-view.js';
import { decodeTransferLog, TRANSFER_TOPICS } from './token-logs.js';

/** @typedef {import('./api-types.js').Transaction} Transaction */
/** @typedef {import('./api-types.js').Receipt} Receipt */
/** @typedef {import('./api-types.js').Block} Block */

/**
 * @param {import('./section.js').ViewContext} view
 * @param {import('./route.js').Route} route
 * @returns {import('./main.js').MountedView}
 */
export function transactionView(view, { subject: hash }) {
  const part = section(view, {
    id: 'summary',
    title: 'Summary',
    note: 'As the node has it. Transfers between contracts stand in the views of the wallets.',
    load: () => loadTransaction(view, hash),
    eager: true,
  });
  return {
    title: `Transaction ${hash}`,
    content: [pageTitle('Transaction', hash), part.element],
    update: () => undefined,
  };
}

/**
 * @param {import('./section.js').ViewContext} view
 * @param {string} hash
 * @returns {Promise<import('./section.js').PartContent>}
 */
async function loadTransaction({ api, coin, signal }, hash) {
  /** @type {[import('./api.js').Answered<Transaction | null>, import('./api.js').Answered<Receipt | null>]} */
  const [transaction, receipt] = await Promise.all([
    api.rpc('eth_getTransactionByHash', [hash], signal),
    api.rpc('eth_getTransactionReceipt', [hash], signal),
  ]);
  const exchanges = [transaction.exchange, receipt.exchange];
  if (transaction.data === null) {
    return {
      content: notice(
        'The node has no transaction of this hash. It may be of another chain, not sent yet, or older than what the node keeps.',
      ),
      exchanges,
    };
  }
  const { blockHash } = transaction.data;
  if (blockHash === null) return { content: factsView(transaction.data, null, null, coin), exchanges };
  /** @type {import('./api.js').Answered<Block | null>} */
  const block = await api.rpc('eth_getBlockByHash', [blockHash, false], signal);
  return {
    content: [
      factsView(transaction.data, receipt.data, block.data, coin),
      tokenTransfers(receipt.data?.logs ?? []),
    ],
    exchanges: [...exchanges, block.exchange],
  };
}

/**
 * @param {Transaction} transaction
 * @param {Receipt | null} receipt
 * @param {Block | null} block
 * @param {string} coin
 */
function factsView({ from, to, value, blockHash }, receipt, block, coin) {
  const made = receipt?.status === '0x1' ? receipt.contractAddress : null;
  return h(
    'dl',
    { class: 'facts' },
    fact('Status', blockHash === null ? 'waits for a block' : statusText(receipt)),
    fact('From', walletAnchor(from)),
    fact('To', to === null ? 'nobody: it makes a contract' : walletAnchor(to)),
    made === null ? null : fact('Contract it made', walletAnchor(made)),
    fact('Value', amountView(unitsToText(BigInt(value), NATIVE_DECIMALS), coin)),
    block === null
      ? null
      : fact(
          'Block',
          h('a', { href: blockLink(Number(block.number)) }, grouped(Number(block.number))),
          timeAgo(isoTime(block.timestamp)),
        ),
  );
}

/** @param {Receipt | null} receipt of old chains without a status */
function statusText(receipt) {
  if (receipt?.status === undefined) return 'in a block';
  return receipt.status === '0x1' ? 'succeeded' : 'failed: it moved nothing';
}

/** @param {readonly import('./api-types.js').Log[]} logs */
function tokenTransfers(logs) {
  const rows = logs
    .filter(({ topics: [kind = ''] }) => TRANSFER_TOPICS.includes(kind))
    .flatMap((log) => {
      const event = decodeTransferLog(log, (units) => `${groupedText(String(units))} units`);
      return event === null ? [] : [{ ...event, token: log.address }];
    });
  if (rows.length === 0) return null;
  return table(
    'Token transfers',
    [
      { title: 'From', plain: true, cell: (row) => walletAnchor(row.from) },
      { title: 'To', plain: true, cell: (row) => ['→ ', walletAnchor(row.to)] },
      { title: 'Amount', plain: true, number: true, cell: (row) => row.amount },
      { title: 'Of', plain: true, cell: (row) => tokenAnchor(row.token, null) },
    ],
    rows,
  );
}
