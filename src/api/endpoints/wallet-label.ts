/** GET /api/wallet_label: labels that classify a wallet by its activity. */
import * as z from 'zod';
import { digitsToBigInt, type Hex } from '../../lib/hex.ts';
import { WEI_PER_COIN, weiToCoin } from '../../lib/units.ts';
import { prepareWalletFacts, type WalletFacts } from '../../query/wallets.ts';
import { addressField, blockField, coinField, countField, weiField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { address } from '../params.ts';

/** In the order of the answer. The thresholds below come from the specification. */
export const LABELS = [
  'fresh',
  'whale',
  'bot_likely',
  'trader',
  'contract_likely',
  'high_activity',
  'casual',
  'regular',
] as const;

export type Label = (typeof LABELS)[number];

const CONFIDENCES = ['high', 'medium', 'low', 'none'] as const;

type Confidence = (typeof CONFIDENCES)[number];

/** The statistics that decide the labels. */
export interface WalletStats {
  transactions: number;
  tokens: number;
  tokenTransfers: number;
  internalReceived: number;
  receivedWei: bigint;
  sentWei: bigint;
  firstBlock: number;
  lastBlock: number;
  /** Blocks from the first activity to the head. */
  ageBlocks: number;
}

const WHALE_WEI = 10_000n * WEI_PER_COIN;

const CRITERIA: Record<Exclude<Label, 'regular'>, (wallet: WalletStats) => boolean> = {
  fresh: ({ ageBlocks, transactions }) => ageBlocks < 1_000 && transactions < 20,
  whale: ({ receivedWei, sentWei }) => receivedWei > WHALE_WEI || sentWei > WHALE_WEI,
  bot_likely: ({ transactions, firstBlock, lastBlock }) =>
    transactions >= 500 && transactions / (lastBlock - firstBlock + 1) > 0.5,
  trader: ({ tokens }) => tokens >= 20,
  contract_likely: ({ internalReceived, tokenTransfers }) => internalReceived >= 10 && tokenTransfers === 0,
  high_activity: ({ transactions }) => transactions > 5_000,
  casual: ({ tokens, transactions }) => tokens >= 1 && tokens <= 3 && transactions < 50,
};

/** The criteria in words, for the documentation. */
export const CRITERIA_TEXTS: Record<Label, string> = {
  fresh: 'first activity less than 1,000 blocks ago, and fewer than 20 transactions',
  whale: 'received or sent more than 10,000 native coins in total',
  bot_likely:
    'at least 500 transactions, averaging more than one per two blocks from the first to the last activity',
  trader: 'transfers of at least 20 tokens',
  contract_likely: 'at least 10 internal transfers received, and no token transfer',
  high_activity: 'more than 5,000 transactions',
  casual: 'transfers of 1 to 3 tokens, and fewer than 50 transactions',
  regular: 'no other label applies',
};

/** All labels that apply, in the order of LABELS; `regular` if none does. */
export function labelsOf(wallet: WalletStats): Label[] {
  const labels = LABELS.filter((label) => label !== 'regular' && CRITERIA[label](wallet));
  return labels.length === 0 ? ['regular'] : labels;
}

/** The confidence in labels derived from this many transactions. */
export function confidenceOf(transactions: number): Confidence {
  if (transactions >= 100) return 'high';
  return transactions >= 10 ? 'medium' : 'low';
}

const statsSchema = z
  .object({
    txCount: countField(),
    uniqueTokens: countField(),
    nativeInMon: coinField(),
    nativeInWei: weiField(),
    nativeOutMon: coinField(),
    nativeOutWei: weiField(),
    ageBlocks: countField()
      .nullable()
      .describe('Blocks from the first activity of the wallet to the last indexed block'),
    firstBlock: blockField().nullable(),
    lastBlock: blockField().nullable(),
    firstFunder: addressField().nullable(),
  })
  .meta({ id: 'WalletStats' });

const NO_STATS: z.output<typeof statsSchema> = {
  txCount: 0,
  uniqueTokens: 0,
  nativeInMon: '0',
  nativeInWei: '0',
  nativeOutMon: '0',
  nativeOutWei: '0',
  ageBlocks: null,
  firstBlock: null,
  lastBlock: null,
  firstFunder: null,
};

export const walletLabel = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_label',
  tag: 'wallets',
  summary: 'Labels that classify a wallet by its activity, with the statistics behind them',
  params: { address: address() },
  response: {
    address: addressField(),
    labels: z.array(z.enum(LABELS)),
    confidence: z
      .enum(CONFIDENCES)
      .describe('high: at least 100 transactions; medium: at least 10; low: fewer; none: no activity'),
    stats: statsSchema,
  },
  example: {
    params: { address: example.wallet },
    response: {
      address: example.wallet,
      labels: ['trader'],
      confidence: 'high',
      stats: {
        txCount: 420,
        uniqueTokens: 23,
        nativeInMon: '12.5',
        nativeInWei: '12500000000000000000',
        nativeOutMon: '0.25',
        nativeOutWei: '250000000000000000',
        ageBlocks: 4591,
        firstBlock: 120,
        lastBlock: 4711,
        firstFunder: example.funder,
      },
    },
  },
  prepare({ db, walletIds }) {
    const factsOf = prepareWalletFacts(db);
    return ({ address }, { head }) => {
      const facts = walletIds.query(address, factsOf);
      return facts
        ? labelResponse(address, facts, walletIds.funderOf(facts), head.number)
        : emptyResponse(address);
    };
  },
});

function emptyResponse(address: string) {
  return { address, labels: [], confidence: 'none' as const, stats: { ...NO_STATS } };
}

function labelResponse(address: string, facts: WalletFacts, funder: Hex | null, head: number) {
  const receivedWei = digitsToBigInt(facts.nativeReceived);
  const sentWei = digitsToBigInt(facts.nativeSent);
  const ageBlocks = head - facts.firstBlock;
  return {
    address,
    labels: labelsOf({ ...facts, receivedWei, sentWei, ageBlocks }),
    confidence: confidenceOf(facts.transactions),
    stats: {
      txCount: facts.transactions,
      uniqueTokens: facts.tokens,
      nativeInMon: weiToCoin(receivedWei),
      nativeInWei: receivedWei.toString(),
      nativeOutMon: weiToCoin(sentWei),
      nativeOutWei: sentWei.toString(),
      ageBlocks,
      firstBlock: facts.firstBlock,
      lastBlock: facts.lastBlock,
      firstFunder: funder,
    },
  };
}
