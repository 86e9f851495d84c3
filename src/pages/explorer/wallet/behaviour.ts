/** The labels of behaviour in words: what the wallet did, and from when on that earns the label. Pure functions. */
import type { Answers } from '../../client/answers.ts';
import { blocksAgo, countText, shortAmount } from '../../ui/format.ts';

type Behaviour = Pick<Answers['wallet_label'], 'labels' | 'stats'>;
type Label = Behaviour['labels'][number];
type Stats = Behaviour['stats'];

export interface LabelSentence {
  name: string;
  /** What the wallet did. */
  found: string;
  /** The criterion, as documented for wallet_label. */
  criterion: string;
}

const LABELS: Record<
  Label,
  { name: string; found: (stats: Stats, coin: string) => string; criterion: string }
> = {
  fresh: {
    name: 'Fresh',
    found: ({ ageBlocks, txCount }) =>
      `${countText(txCount, 'transaction')} since it was first seen ${blocksAgo(ageBlocks ?? 0)}`,
    criterion: 'less than 1,000 blocks and 20 transactions',
  },
  whale: {
    name: 'Whale',
    found: ({ nativeInMon, nativeOutMon }, coin) =>
      `received ${shortAmount(nativeInMon)} ${coin} and sent ${shortAmount(nativeOutMon)} ${coin}`,
    criterion: 'more than 10,000 either way',
  },
  bot_likely: {
    name: 'Bot, likely',
    found: ({ txCount, firstBlock, lastBlock }) =>
      `${(txCount / ((lastBlock ?? 0) - (firstBlock ?? 0) + 1)).toFixed(2)} transactions per block, ` +
      `${countText(txCount, 'transaction')} in all`,
    criterion: 'at least 500, and more than one per two blocks',
  },
  trader: {
    name: 'Trader',
    found: ({ uniqueTokens }) => `moved ${countText(uniqueTokens, 'token')}`,
    criterion: 'at least 20',
  },
  contract_likely: {
    name: 'Contract, likely',
    found: () => 'is paid by other contracts and moved no token',
    criterion: 'at least 10 internal transfers received',
  },
  high_activity: {
    name: 'High activity',
    found: ({ txCount }) => countText(txCount, 'transaction'),
    criterion: 'more than 5,000',
  },
  casual: {
    name: 'Casual',
    found: ({ uniqueTokens, txCount }) =>
      `moved ${countText(uniqueTokens, 'token')} in ${countText(txCount, 'transaction')}`,
    criterion: '1 to 3 tokens, fewer than 50 transactions',
  },
  regular: {
    name: 'Regular',
    found: ({ uniqueTokens, txCount }) =>
      `${countText(uniqueTokens, 'token')} in ${countText(txCount, 'transaction')}`,
    criterion: 'no other label applies',
  },
};

export function labelSentences({ labels, stats }: Behaviour, coin: string): LabelSentence[] {
  return labels.map((label) => {
    const { name, found, criterion } = LABELS[label];
    return { name, found: found(stats, coin), criterion };
  });
}
