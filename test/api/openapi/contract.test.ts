/**
 * The members that the specification and the contract promise are documented. Copied from them by hand, so that a
 * member which is dropped, renamed or forgotten is noticed; other tests compare the documents with answers.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOOK_MEMBERS } from '../../../src/hooks/hook-spec.ts';
import { asyncDocument, document } from '../../support/clients/openapi.ts';

const MONEY = 'amount amountWei txHash blockNumber timestamp';
const FUNDING = `from ${MONEY} source`;
const PLAIN_TRANSFER =
  'id blockNumber blockHash txHash transferType from to tokenAddress tokenId symbol decimals amount timestamp ' +
  'logIndex eventIndex uncertain';
const LIST = 'nextCursor count';

/** Members of each answer, and of its records by the member that has them. */
const ANSWERS: Record<string, Record<string, string>> = {
  AddressTransfers: { '': `transfers ${LIST}`, transfers: `${PLAIN_TRANSFER} direction` },
  BalanceHistory: { '': 'address series', series: 'blockNumber timestamp balance' },
  BlockTransfers: { '': `transfers ${LIST}`, transfers: PLAIN_TRANSFER },
  ChainStats: { '': 'head headAgeSeconds perMinute topTokens topWallets' },
  CoordinatedWallets: {
    '': `address funder coordinated funderFundedCount hub ${LIST}`,
    coordinated: `address ${MONEY}`,
  },
  FundingChain: { '': 'address chain depth', chain: `hop funded funder ${MONEY} source` },
  FundingRecipients: {
    '': `address blocksWindow recipients ${LIST}`,
    recipients:
      'address amount amountWei transferCount firstBlock lastBlock txHash timestamp source firstFunding',
  },
  LatestNativeIn: { '': 'latestNativeIn', latestNativeIn: FUNDING },
  RecentTokenTransfersOut: {
    '': `address blocksWindow transfers ${LIST}`,
    transfers:
      'id blockNumber txHash transferType to tokenAddress tokenId symbol decimals amount timestamp logIndex eventIndex',
  },
  Search: { '': 'results', results: 'kind value name symbol detail' },
  TokenFirstBuyers: {
    '': `token buyers truncated ${LIST}`,
    buyers: 'address firstSeenBlock firstSeenAt transferCount txHash eventIndex',
  },
  TokenHolders: { '': `token holders ${LIST}`, holders: 'address balance share' },
  TokenLaunch: {
    '': 'token firstBlock buyers summary',
    buyers:
      'address rank blockNumber blocksAfterFirst txHash how payer amount paid balance heldShare sold ' +
      'averageCostProfit ' +
      'funder fundingAgeBlocks sameBlock samePayer sameFunder',
    summary: 'snipers bundles sameFunderGroups insiders fresh heldShare supplyShare',
  },
  TokenStats: {
    '':
      'token name symbol decimals type transferCount holderCount uniqueWallets firstSeenBlock firstSeenAt ' +
      'supply minted ' +
      'burned concentration',
    concentration: 'top1 top10 top50 top100 holdersForHalf',
  },
  TokenTraders: {
    '': `token quote order traders left_out ${LIST}`,
    traders:
      'address contract buys sells bought spent sold received averageCostProfit balance firstBuyerRank',
  },
  TokenTransfers: { '': `transfers ${LIST}`, transfers: PLAIN_TRANSFER },
  TransactionTransfers: { '': `transfers ${LIST}`, transfers: PLAIN_TRANSFER },
  WalletCounterparties: {
    '': `address counterparties ${LIST}`,
    counterparties:
      'address transferCount inCount outCount nativeIn nativeInWei nativeOut nativeOutWei lastBlock lastSeenAt',
  },
  WalletFundingSource: { '': `firstFunding ${FUNDING}`, firstFunding: FUNDING },
  WalletLabel: {
    '': 'address labels confidence stats',
    stats:
      'txCount uniqueTokens nativeInMon nativeInWei nativeOutMon nativeOutWei ageBlocks firstBlock ' +
      'lastBlock firstFunder',
  },
  WalletProfit: {
    '': `address quote tokens totals curve ${LIST}`,
    tokens:
      'tokenAddress symbol decimals buys sells bought spent sold received averageBuyPrice averageSellPrice ' +
      'realizedProfit soldWithoutCost receivedWithoutCost position cost balance netTransferred accuracy otherQuotes ' +
      'firstTradeBlock lastTradeBlock',
    totals: 'realizedProfit spent received tokens wins losses winRate unmatchedShare uncertainTrades',
    curve: 'blockNumber timestamp realizedProfit',
  },
  WalletSummary: {
    '':
      'address firstSeenBlock lastSeenBlock txCount uniqueTokens nativeReceived nativeReceivedWei nativeSent ' +
      'nativeSentWei firstFundingSource lastActivity',
  },
  WalletTokens: {
    '': `address tokens asOf ${LIST}`,
    tokens: 'tokenAddress name symbol decimals type balance transferCount lastBlock lastSeenAt accuracy',
  },
  WalletTrades: {
    '': `address trades ${LIST}`,
    trades:
      'txHash blockNumber timestamp kind given received fees tokenAddress quote price uncertain initiated',
  },
  TradeLeg: { '': 'tokenAddress amount symbol decimals tokenIds count' },
  TradeQuote: { '': 'tokenAddress symbol decimals' },
  WalletsBatch: { '': 'wallets count' },
  BatchEntry: {
    '': 'firstSeenBlock lastSeenBlock txCount lastActivity firstFunder firstFundingBlock summary funding labels tokens',
  },
  WhaleTransfers: {
    '': `minMon blocksWindow transfers ${LIST}`,
    transfers: `id from to ${MONEY} transferType source blockHash eventIndex`,
  },
};

const SIGNAL =
  'id event direction wallet from to tokenAddress tokenId symbol decimals amount valueWei value_mon ' +
  'txHash blockNumber ' +
  'blockHash logIndex eventIndex timestamp transferType chainId received_at received_at_ms ' +
  'funding_age_ms funding_age ' +
  'txFrom txTo initiated leg legs removed';
const EXCHANGE = `${SIGNAL} paid received`;
const TRADE = ANSWERS.WalletTrades?.trades ?? '';

const EVENTS: Record<string, string> = {
  WalletTransfer:
    'blockNumber blockHash txHash assetType transferType tokenAddress tokenId symbol decimals from to ' +
    'amount direction ' +
    'timestamp logIndex eventIndex id removed',
  WalletFunded: SIGNAL,
  WalletNativeOut: SIGNAL,
  WalletTokenBuy: `${EXCHANGE} isMint`,
  WalletTokenSell: `${EXCHANGE} isBurn`,
  WhaleTransferEvent: SIGNAL,
  WalletCreated: `${SIGNAL} funder`,
  TokenCreated: `${SIGNAL} creator`,
  WalletTrade: `${SIGNAL} ${TRADE}`,
  SignalFilter:
    'wallets tokens events minMon minAmount excludeMints purchasesOnly kinds minQuote initiated fromBlock ' +
    'lastSeen progress',
  WalletFilter: 'address direction includeNative includeTokens fromBlock lastSeen progress',
};

interface Described {
  properties?: Record<string, Described>;
  $ref?: string;
  anyOf?: Described[];
  items?: Described;
}

type Schemas = Readonly<Record<string, Described>>;

/** The members of a record, or of the records of a list. */
function membersOf(schemas: Schemas, { $ref, anyOf, items, properties }: Described = {}): typeof properties {
  if ($ref !== undefined) return membersOf(schemas, schemas[$ref.slice($ref.lastIndexOf('/') + 1)]);
  const inner = items ?? anyOf?.[0];
  return inner === undefined ? properties : membersOf(schemas, inner);
}

function missing(schemas: Schemas, described: Described | undefined, promised: string): string[] {
  const members = Object.keys(membersOf(schemas, described) ?? {});
  assert.ok(members.length > 0);
  return promised.split(' ').filter((name) => !members.includes(name));
}

test('answers and their records', () => {
  const schemas: Schemas = { ...document.components.schemas };
  for (const [answer, records] of Object.entries(ANSWERS)) {
    const own = membersOf(schemas, schemas[answer]);
    for (const [member, promised] of Object.entries(records)) {
      const described = member === '' ? schemas[answer] : own?.[member];
      assert.deepEqual(missing(schemas, described, promised), [], `${answer}.${member}`);
    }
  }
  for (const [path, { get }] of Object.entries(document.paths)) {
    if (!path.startsWith('/api/') || get === undefined) continue;
    const { schema } = get.responses[200].content['application/json'];
    assert.deepEqual(missing(schemas, schema, 'historicalCoverageStartBlock'), [], path);
  }
});

test('events, their filters, and hooks', () => {
  const schemas: Schemas = { ...asyncDocument.components.schemas };
  for (const [name, promised] of Object.entries(EVENTS))
    assert.deepEqual(missing(schemas, schemas[name], promised), [], name);
  for (const name of ['url', 'filter', 'format', 'confirmations', 'finality'])
    assert.ok(HOOK_MEMBERS.some((member) => member === name));
});
