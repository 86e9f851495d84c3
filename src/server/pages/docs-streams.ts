/** The section of the documentation about the WebSocket streams. */
import { EXAMPLE_COIN, example, sampleTokenTransfer, sampleTransfer } from '../../api/fields.ts';
import {
  FILTER_TYPES,
  type FilterMembers,
  SIGNAL_FILTER,
  WALLET_FILTER,
} from '../../model/stream-filters.ts';
import { amountOf } from '../../query/transfers.ts';
import { transferJson } from '../../streams/transfers/event-json.ts';
import { signalJson } from '../../streams/transfers/signal-json.ts';
import { sideSignal } from '../../streams/transfers/signals.ts';
import type { TradeFacts } from '../../streams/transfers/trade-facts.ts';
import { type EventSource, TransferEvent } from '../../streams/transfers/transfer-event.ts';
import { codeSample, type ParameterRow, parameterTable } from './docs-html.ts';

/** The rows of a filter's members. */
function memberRows(members: FilterMembers): ParameterRow[] {
  return Object.entries(members).map(([name, { type, byDefault = '', description }]) => ({
    name,
    values: FILTER_TYPES[type],
    byDefault: String(byDefault),
    meaning: description,
  }));
}

const CHAIN = { chainId: 143, nativeSymbol: EXAMPLE_COIN };

/** A coin for the token of the sample. */
const PURCHASE: TradeFacts = {
  kind: 'buy',
  given: [legOf('', 10n ** 18n)],
  received: [legOf(sampleTokenTransfer.token, amountOf(sampleTokenTransfer))],
  fees: [],
  asset: sampleTokenTransfer.token,
  quote: '',
  givenCount: 1,
  receivedCount: 1,
  assets: ['', sampleTokenTransfer.token],
  traded: { amount: amountOf(sampleTokenTransfer), isCollection: false, tokenNumber: null },
  quoteAmount: 10n ** 18n,
  equivalents: [],
};

/** The receiver of the token pays a coin for it. */
const SOURCE: EventSource = {
  chainInfo: CHAIN,
  tokenFacts: () => sampleTokenTransfer,
  isLarge: () => false,
  sideOf: () => ({
    place: { leg: 2, legs: 2 },
    exchange: {
      paid: [{ token: '', tokenNumber: null, amount: 10n ** 18n }],
      received: [
        { token: sampleTokenTransfer.token, tokenNumber: null, amount: amountOf(sampleTokenTransfer) },
      ],
      paidCount: 1,
      receivedCount: 1,
    },
    reason: null,
    isPurchase: true,
    trade: PURCHASE,
  }),
  isFirst: () => false,
  isFirstOfToken: () => false,
  partiesOf: () => ({ parties: { from: sampleTransfer.to, to: sampleTransfer.from }, reason: null }),
};
const PURCHASED = TransferEvent.from(SOURCE, sampleTokenTransfer);
const WALLET = `0x${sampleTransfer.to}`;
const DETECTED_AT_MS = (sampleTransfer.timestamp + 1) * 1_000;

export const STREAMS_SECTION = `<section id="streams">
<h2>Streams</h2>
<p>The WebSockets <code>/ws</code> and <code>/ws/signals</code> take the key as REST does; a browser, which cannot set
headers there, puts it into the URL: <code>/ws?api_key=YOUR_KEY</code>. Messages are JSON-RPC. A subscribe returns an
id, which its events carry. To end the subscription, pass the id to <code>eth_unsubscribe</code> or
<code>atlas_unsubscribe</code>. A filter with an unknown member is refused with -32602; the message names the member and
the closest valid one.</p>
<p>On <code>/ws</code>, as on a node, in addition to every method of <code>/rpc</code>:</p>
${codeSample(
  'Messages to /ws',
  [
    call('eth_subscribe', ['newHeads']),
    call('eth_subscribe', ['logs', { address: [example.token], topics: [] }]),
    call('eth_subscribe', ['chainLogs', { address: [example.token], topics: [], commitStates: false }]),
  ].join('\n'),
)}
<p><code>chainLogs</code> are the logs of proposed blocks, which may still be dropped. On Monad each log comes once,
when it is first seen, with its <code>blockId</code> and <code>commitState</code>, or with <code>commitStates</code> at
every change of state. On other chains they are the same as <code>logs</code>. <code>monadNewHeads</code>,
<code>monadLogs</code> and <code>syncing</code> are passed on as the node sends them.
<code>newPendingTransactions</code> is available if the operator has enabled it and the node offers it;
<code>eth_newPendingTransactionFilter</code> then works too.</p>
<p>The transfers of a wallet, also on <code>/ws</code>:</p>
${parameterTable(memberRows(WALLET_FILTER))}
${codeSample(
  'Message to /ws',
  call('eth_subscribe', ['wallet_transfers', { address: WALLET, direction: 'in', fromBlock: 1000 }]),
)}
${codeSample('Event', event('eth_subscription', transferJson(sampleTransfer, 'in', false, CHAIN)))}
<p>The <code>symbol</code> and <code>decimals</code> of a token are null while unknown, or if its contract has none.</p>
<p>Signals, on <code>/ws/signals</code>: the same transfers as events of many wallets.</p>
${parameterTable(memberRows(SIGNAL_FILTER))}
${codeSample(
  'Message to /ws/signals',
  call('atlas_subscribe', { wallets: [WALLET], events: ['wallet_funded', 'wallet_token_buy'] }),
)}
${codeSample(
  'Event',
  event('atlas_subscription', signalJson(PURCHASED, sideSignal(sampleTokenTransfer, 'in'), DETECTED_AT_MS)),
)}
<p><code>leg</code> and <code>legs</code> are this event's place among the events that the wallet has in the
transaction, before the filter: with <code>leg</code> equal to <code>legs</code> it is the last one.</p>
<p>Every <code>wallet_token_buy</code> and <code>wallet_token_sell</code> has <code>paid</code> and
<code>received</code>: what the wallet gave and got on balance in the whole transaction, per asset. A refund or change
is subtracted. All events of the wallet in the transaction repeat the same two lists, so act once per transaction and
wallet. The native coin has no <code>tokenAddress</code>, only ERC-1155 has a <code>tokenId</code>, and NFTs of a
collection are counted. At most 100 assets are listed on each side; <code>paidCount</code> and
<code>receivedCount</code> count all. Where the block was indexed without traces, native transfers may be missing: the
four members are null and <code>paidReason</code> says so. With <code>purchasesOnly</code> such a buy passes if the
wallet gained the asset. A wallet's transfer of a token to itself is neither a buy nor a sell.</p>
<p><code>txFrom</code> and <code>txTo</code> are sender and receiver of the transaction. The index has those of all
blocks that this release indexed; for others the node is asked. They are null only if it lacks the transaction or has
not answered for 15 seconds; <code>txFromReason</code> says which. A <code>wallet_created</code> is the first indexed
transfer of a wallet, with its <code>funder</code> if that is a native one. A <code>token_created</code> is the first
indexed transfer of a token, for its receiver; <code>creator</code> is <code>txFrom</code>.</p>
<p><code>initiated</code> says whether the wallet itself sent the transaction: anyone can log transfers in its name.
Smart accounts and relayed transactions are sent by others.</p>
<h3>Trades</h3>
<p>A <code>wallet_trade</code> is one event for everything that a wallet bought, sold or swapped in a transaction, with
the members of <code>/api/wallet_trades</code>. It comes with the wallet's last transfer there: <code>id</code>,
<code>eventIndex</code>, <code>logIndex</code>, <code>transferType</code>, <code>from</code>, <code>to</code> and
<code>direction</code> are those of that transfer. <code>tokenAddress</code>, <code>symbol</code>,
<code>decimals</code> and the amounts describe the asset bought or sold; they are null for a trade without a single such
asset, such as a swap. Each side lists at most 100 assets; <code>givenCount</code> and <code>receivedCount</code> count
all of them. To receive buys and sells worth at least one coin that the wallets sent themselves:</p>
${codeSample(
  'Message to /ws/signals',
  call('atlas_subscribe', {
    wallets: [WALLET],
    events: ['wallet_trade'],
    kinds: ['buy', 'sell'],
    minQuote: { native: '1000000000000000000' },
    initiated: true,
  }),
)}
${codeSample(
  'Event',
  event(
    'atlas_subscription',
    signalJson(PURCHASED, { event: 'wallet_trade', direction: 'in' }, DETECTED_AT_MS),
  ),
)}
<h3>Deduplicating events</h3>
<p>After a reconnect or a replay an event may come more than once. Deduplicate by <code>txHash</code> and
<code>eventIndex</code>, with <code>blockHash</code> across reorgs. <code>eventIndex</code> is the index of the
transfer within its transaction, from 0, in chain order; internal transfers count even where they are not listed. REST
returns the same <code>eventIndex</code>. For signals add <code>event</code> and <code>direction</code> to the key: a
transfer is one event for each side. A wallet has one <code>wallet_trade</code> in a transaction.</p>
<p>When a reorg removes an event, it is sent again with <code>"removed": true</code> and the same key, newest first.
Delete the key then: if its block becomes canonical again, its events are sent again.</p>
<p><code>id</code> is a page cursor, not a key: after a reorg another transfer may get it. <code>txHash</code> and
<code>logIndex</code> are not enough: native transfers have no <code>logIndex</code>, and the items of one ERC-1155
batch share one. Where the node did not give all traces or logs of a block, its records have <code>uncertain</code>,
which is <code>true</code>: transfers may be missing, and <code>eventIndex</code> may change when the block is indexed
again.</p>
</section>`;

function legOf(token: string, amount: bigint) {
  return { token, isCollection: false, amount, ids: null, count: null };
}

function call(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function event(method: string, result: string): string {
  const params = { subscription: '0x52dfcc3c5167ddae407a454d8c9a0823', result: JSON.parse(result) };
  return JSON.stringify({ jsonrpc: '2.0', method, params }, null, 2);
}
