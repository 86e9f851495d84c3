/** A transaction, asked of the node through /rpc. */
import { ApiError } from '../ui/api-error.js';
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { grouped, NATIVE_DECIMALS, unitsToText } from '../ui/format.js';
import { table } from '../ui/table.js';
import { blockNumberAnchor, tokenAnchor, walletAnchor } from './address-view.js';
import { amountView, tokenAmount } from './amount-view.js';
import { more } from './more.js';
import { pageTitle } from './page-title.js';
import { notice, section } from './section.js';
import { isoTime, timeAgo } from './time-view.js';
import { decodeTransferLog, TRANSFER_TOPICS } from './token-logs.js';

/** @typedef {import('./api-types.js').Transaction} Transaction */
/** @typedef {import('./api-types.js').Receipt} Receipt */
/** @typedef {import('./api-types.js').Block} Block */
/** @typedef {import('./api-types.js').TokenStats} TokenStats */
/** @typedef {import('./token-logs.js').TokenEvent & { token: string }} TokenTransfer */

/** Most tokens that are asked for: each costs a request. */
const MAX_TOKENS = 8;

/** Token transfers that are listed at first. */
const LISTED = 200;

/**
 * @param {import('./section.js').ViewContext} view
 * @param {import('./route.js').Route} route
 * @returns {import('./main.js').MountedView}
 */
export function transactionView(view, { subject: hash }) {
  const part = section(view, {
    id: 'summary',
    title: 'Summary',
    note: 'As reported by the node. Internal transfers are in the views of the wallets.',
    load: (signal) => loadTransaction(view, hash, signal),
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
 * @param {AbortSignal} signal
 * @returns {Promise<import('./section.js').PartContent>}
 */
async function loadTransaction(view, hash, signal) {
  const { api, coin } = view;
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
  const transfers = tokenTransfersOf(receipt.data?.logs ?? []);
  /** @type {[import('./api.js').Answered<Block | null>, import('./api.js').Answered<TokenStats>[]]} */
  const [block, tokens] = await Promise.all([
    api.rpc('eth_getBlockByHash', [blockHash, false], signal),
    askTokens(view, transfers, signal),
  ]);
  return {
    content: [
      factsView(transaction.data, receipt.data, block.data, coin),
      transferTable(
        transfers,
        tokens.map(({ data }) => data),
      ),
    ],
    exchanges: [...exchanges, block.exchange, ...tokens.map(({ exchange }) => exchange)],
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
    fact('To', to === null ? 'none: it creates a contract' : walletAnchor(to)),
    made === null ? null : fact('Created contract', walletAnchor(made)),
    fact('Value', amountView(unitsToText(BigInt(value), NATIVE_DECIMALS), coin)),
    block === null
      ? null
      : fact('Block', blockNumberAnchor(Number(block.number)), timeAgo(isoTime(block.timestamp))),
  );
}

/** @param {Receipt | null} receipt of old chains without a status */
function statusText(receipt) {
  if (receipt?.status === undefined) return 'in a block';
  return receipt.status === '0x1' ? 'succeeded' : 'failed: no value moved';
}

/**
 * What is known of the first tokens among those that were moved; nothing of one that the index cannot tell of.
 * @param {import('./section.js').ViewContext} view
 * @param {readonly TokenTransfer[]} transfers
 * @param {AbortSignal} signal
 * @returns {Promise<import('./api.js').Answered<TokenStats>[]>}
 */
async function askTokens({ api }, transfers, signal) {
  const tokens = [...new Set(transfers.map(({ token }) => token))].slice(0, MAX_TOKENS);
  const answers = await Promise.all(
    tokens.map((token) =>
      /** @type {Promise<import('./api.js').Answered<TokenStats>>} */ (
        api.get('token_stats', { token }, signal)
      ).catch((error) => {
        if (error instanceof ApiError && error.code !== 'unauthorized') return null;
        throw error;
      }),
    ),
  );
  return answers.filter((answer) => answer !== null);
}

/**
 * @param {readonly import('./api-types.js').Log[]} logs
 * @returns {TokenTransfer[]}
 */
function tokenTransfersOf(logs) {
  return logs
    .filter(({ topics: [kind = ''] }) => TRANSFER_TOPICS.includes(kind))
    .flatMap((log) => {
      const event = decodeTransferLog(log);
      return event === null ? [] : [{ ...event, token: log.address }];
    });
}

/**
 * @param {readonly TokenTransfer[]} transfers
 * @param {readonly TokenStats[]} tokens those that are known
 */
function transferTable(transfers, tokens) {
  if (transfers.length === 0) return null;
  const known = new Map(tokens.map((stats) => [stats.token, stats]));
  /** @param {readonly TokenTransfer[]} rows */
  const list = (rows) =>
    table(
      'Token transfers',
      [
        { title: 'From', plain: true, cell: (row) => walletAnchor(row.from) },
        { title: 'To', plain: true, cell: (row) => ['→ ', walletAnchor(row.to)] },
        {
          title: 'Amount',
          plain: true,
          number: true,
          cell: (row) => tokenAmount(row, known.get(row.token)?.decimals ?? null),
        },
        {
          title: 'Of',
          plain: true,
          cell: ({ token }) => tokenAnchor(token, known.get(token)?.symbol ?? null),
        },
      ],
      rows,
    );
  const left = transfers.length - LISTED;
  return [
    list(transfers.slice(0, LISTED)),
    left > 0 ? more(`The other ${grouped(left)}`, () => list(transfers.slice(LISTED))) : null,
  ];
}
