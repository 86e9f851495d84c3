/** The part of the documentation about the WebSockets: what to send, and what comes. */
import { example } from '../api/examples.ts';
import { SIGNAL_EVENTS, signalJson, transferJson } from '../stream/transfer-json.ts';
import { TransferKind } from '../types.ts';
import { codeSample, type ParameterRow, parameterTable } from './docs-html.ts';

const FROM_BLOCK: ParameterRow = {
  name: 'fromBlock',
  values: 'block number',
  byDefault: '',
  meaning: 'What is indexed from this block on comes first; without it only what is new',
};

const WALLET_PARAMETERS: readonly ParameterRow[] = [
  { name: 'address', values: 'address', byDefault: 'required', meaning: 'The wallet' },
  {
    name: 'direction',
    values: 'in, out, both',
    byDefault: 'both',
    meaning: 'Transfers to the wallet, from it, or both',
  },
  {
    name: 'includeNative',
    values: 'boolean',
    byDefault: 'true',
    meaning: 'Transfers of the native coin, direct and internal',
  },
  { name: 'includeTokens', values: 'boolean', byDefault: 'true', meaning: 'ERC-20, ERC-721 and ERC-1155' },
  FROM_BLOCK,
];

const SIGNAL_PARAMETERS: readonly ParameterRow[] = [
  { name: 'wallets', values: 'list of addresses', byDefault: 'all', meaning: 'The wallets to be told of' },
  {
    name: 'tokens',
    values: 'list of addresses',
    byDefault: 'all',
    meaning: 'Only transfers of these contracts, hence none of the native coin',
  },
  {
    name: 'events',
    values: `list of ${SIGNAL_EVENTS.join(', ')}`,
    byDefault: 'all',
    meaning: 'What happened to the wallet',
  },
  FROM_BLOCK,
];

const CHAIN = { chainId: 143, nativeSymbol: 'MON' };

/** A transfer of 2.5 coins. */
const TRANSFER: Parameters<typeof transferJson>[0] = {
  id: 9021,
  kind: TransferKind.nativeDirect,
  amount: (25n * 10n ** 17n).toString(16),
  tokenNumber: '',
  logIndex: null,
  txHash: '5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060',
  blockNumber: 46147,
  timestamp: 1_760_000_000,
  from: 'a1e4380a3b1f749673e270229993ee55f35663b4',
  to: '5df9b87991262f6ba471f09758cde1c0fc1de734',
  token: '',
  symbol: null,
  decimals: null,
  eventIndex: 0,
  blockHash: '4e3a3754410177e6937ef1f84bba68ea139e8d1a2258c5f85db9f1cd715a1bdd',
};
const WALLET = `0x${TRANSFER.to}`;
const TOLD_AT_MS = (TRANSFER.timestamp + 1) * 1_000;

export const STREAMS_SECTION = `<section id="streams">
<h2>Streams</h2>
<p>The WebSockets <code>/ws</code> and <code>/ws/signals</code> take the key as REST does; a browser, which cannot set
headers there, puts it into the address: <code>/ws?api_key=YOUR_KEY</code>. What is sent is JSON-RPC. The answer to a
subscribe is an id, which its events name. To end the subscription give the id to <code>eth_unsubscribe</code> or
<code>atlas_unsubscribe</code>.</p>
<p>On <code>/ws</code>, as on a node, beside every method of <code>/rpc</code>:</p>
${codeSample(
  'Messages to /ws',
  [
    call('eth_subscribe', ['newHeads']),
    call('eth_subscribe', ['logs', { address: [example.token], topics: [] }]),
    call('eth_subscribe', ['chainLogs', { address: [example.token], topics: [], commitStates: false }]),
  ].join('\n'),
)}
<p><code>chainLogs</code> are the logs of proposed blocks, which may still be dropped. On Monad each log comes once, when
it is first seen, with its <code>blockId</code> and <code>commitState</code>, or with <code>commitStates</code> at every
change of state. Elsewhere they are the same as <code>logs</code>. <code>newPendingTransactions</code> can be had where
the operator has switched it on and the node offers it.</p>
<p>The transfers of a wallet, on <code>/ws</code> too:</p>
${parameterTable(WALLET_PARAMETERS)}
${codeSample(
  'Message to /ws',
  call('eth_subscribe', ['wallet_transfers', { address: WALLET, direction: 'in', fromBlock: 1000 }]),
)}
${codeSample('Event', event('eth_subscription', transferJson(TRANSFER, 'in', false, CHAIN)))}
<p>The <code>symbol</code> of a token that has told none, or none yet, is empty, and its <code>decimals</code> are null.</p>
<p>Signals, on <code>/ws/signals</code>: the same transfers as events of many wallets.</p>
${parameterTable(SIGNAL_PARAMETERS)}
${codeSample(
  'Message to /ws/signals',
  call('atlas_subscribe', { wallets: [WALLET], events: ['wallet_funded', 'wallet_token_buy'] }),
)}
${codeSample('Event', event('atlas_subscription', signalJson(TRANSFER, 'in', false, CHAIN, TOLD_AT_MS)))}
<p>An event that a reorganisation of the chain took back comes again with <code>"removed": true</code>.</p>
</section>`;

function call(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function event(method: string, result: string): string {
  const params = { subscription: '0x52dfcc3c5167ddae407a454d8c9a0823', result: JSON.parse(result) };
  return JSON.stringify({ jsonrpc: '2.0', method, params }, null, 2);
}
