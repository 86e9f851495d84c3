/** Transfers of the trades in chains made by hand; see `NamedBlock`. Coins and tokens are bought from a `pool`. */
import type { NamedTransfer } from '../index/index-fixture.ts';

export const coin = (from: string, to: string, amount: bigint): NamedTransfer => ({ from, to, amount });

/** Of a coin, sent by a contract. */
export const internal = (from: string, to: string, amount: bigint): NamedTransfer => ({
  kind: 'native_internal',
  ...coin(from, to, amount),
});

export const token = (from: string, to: string, amount: bigint, name = 'meme'): NamedTransfer => ({
  kind: 'erc20',
  token: name,
  ...coin(from, to, amount),
});

export const nft = (from: string, to: string, tokenId: bigint): NamedTransfer => ({
  kind: 'erc721',
  token: 'art',
  from,
  to,
  tokenId,
});

/** A wallet buys the token `meme` for coins. */
export const buy = (wallet: string, amount: bigint, cost: bigint): NamedTransfer[] => [
  coin(wallet, 'pool', cost),
  token('pool', wallet, amount),
];

/** A wallet sells the token `meme` for coins. */
export const sell = (wallet: string, amount: bigint, brought: bigint): NamedTransfer[] => [
  token(wallet, 'pool', amount),
  internal('pool', wallet, brought),
];
