/** Random chains whose transactions are often trades. */
import { type PlainBlock, randomBlocks, randomSource } from './random-chain.ts';

/** Gives native coins and few tokens between few wallets, so that many transactions are trades. */
export function tradingBlocks(
  count: number,
  seed: number,
  first = 1,
  parent = `0x${'00'.repeat(32)}`,
): PlainBlock[] {
  const random = randomSource(seed);
  const int = (n: number) => Math.floor(random() * n);
  return randomBlocks(first, count, parent, seed).map((block) => ({
    ...block,
    transactions: block.transactions.map((transaction) => {
      const wallets = transaction.transfers.slice(0, 2).flatMap(({ from, to }) => [from, to]);
      const pick = () => wallets[int(wallets.length)] ?? '';
      return {
        ...transaction,
        transfers: transaction.transfers.slice(0, 2 + int(6)).map((transfer) => ({
          ...transfer,
          from: pick(),
          to: pick(),
          amount: transfer.kind === 3 ? 1n : transfer.amount === 0n ? 0n : BigInt(1 + int(50)),
        })),
      };
    }),
  }));
}
