/** Labels of a wallet by its numbers. The thresholds are those of the specification. */
import { WEI_PER_COIN } from '../lib/units.ts';

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

export const CONFIDENCES = ['high', 'medium', 'low', 'none'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

/** The numbers that decide the labels. */
export interface WalletStats {
  transactions: number;
  tokens: number;
  tokenTransfers: number;
  internalReceived: number;
  receivedWei: bigint;
  sentWei: bigint;
  firstBlock: number;
  lastBlock: number;
  /** Blocks from its first one to the head. */
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

/** All labels that apply, in the order of LABELS; `regular` when none does. */
export function labelsOf(wallet: WalletStats): Label[] {
  const labels = LABELS.filter((label) => label !== 'regular' && CRITERIA[label](wallet));
  return labels.length === 0 ? ['regular'] : labels;
}

/** The confidence of labels that rest on so many transactions. */
export function confidenceOf(transactions: number): Confidence {
  if (transactions >= 100) return 'high';
  return transactions >= 10 ? 'medium' : 'low';
}
