/** Addresses of a demo chain with interesting API answers. */

import type { LabelRow } from '../labels/labels-file.ts';
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import type { ExampleAddress } from '../model/address.ts';
import type { DemoContracts } from './contracts.ts';
import { CHAIN_HOPS, COHORT_SIZE } from './native-scenarios.ts';
import { launchParties } from './trade-scenarios.ts';
import { roundContext } from './traffic.ts';

/** Addresses in lower case. */
export interface SampleAddresses {
  /** Funds many wallets and receives from many. */
  hotWallet: Hex;
  /** Buys and sells every ERC-20 token. */
  trader: Hex;
  /** Moves more than 10,000 coins at a time. */
  whale: Hex;
  /** Holds ERC-721 and ERC-1155 tokens. */
  collector: Hex;
  /** From the first funded wallet to the last: the hot wallet funded the first, each wallet the next. */
  chain: Hex[];
  /** Funded by the hot wallet at the same time. */
  cohort: Hex[];
  /** Receives only internal native transfers. */
  payee: Hex;
  /** An ERC-20 token with many holders. */
  token: Hex;
  /** An ERC-721 collection. */
  nft: Hex;
  /** Bought 1,000 DEMO for 10 coins and sold them for 20. */
  swingTrader: Hex;
  /** Bought 1,000 of `snipedToken` for 10 coins in the block after its launch and sold them for 20. */
  sniper: Hex;
  snipedToken: Hex;
  /** Bought `bundledToken` for five wallets at once, in the block after its launch. */
  bundlePayer: Hex;
  bundledToken: Hex;
}

/** The addresses of the first round with `seed`. */
export function sampleAddresses(contracts: DemoContracts, seed: number): SampleAddresses {
  const { roles, fresh } = roundContext(contracts, seed, 0);
  const named = (name: string) => lowerCase(fresh(name).address);
  return {
    hotWallet: lowerCase(roles.exchange.address),
    trader: lowerCase(roles.trader.address),
    whale: lowerCase(roles.whale.address),
    collector: lowerCase(roles.collector.address),
    chain: Array.from({ length: CHAIN_HOPS }, (_, index) => named(`chain ${index + 1}`)),
    cohort: Array.from({ length: COHORT_SIZE }, (_, index) => named(`cohort ${index}`)),
    payee: named('payee'),
    token: contracts.token,
    nft: contracts.nft,
    swingTrader: named('swing trader'),
    sniper: named('sniper'),
    snipedToken: lowerCase(launchParties({ fresh }, 'Sniped').token),
    bundlePayer: named('bundle payer'),
    bundledToken: lowerCase(launchParties({ fresh }, 'Bundled').token),
  };
}

/** The addresses that the explorer's home page suggests. */
export function exampleAddresses({
  trader,
  swingTrader,
  hotWallet,
  chain,
}: SampleAddresses): ExampleAddress[] {
  const third = chain[2] ?? hotWallet;
  return [
    { name: 'Trader', about: 'buys and sells every token', address: trader },
    { name: 'Swing trader', about: 'bought for 10 coins, sold for 20', address: swingTrader },
    { name: 'Hot wallet', about: 'funds many wallets', address: hotWallet },
    { name: 'Third in a chain', about: 'its coins made three hops', address: third },
  ];
}

/** Names as an operator would import them. */
export function demoLabels(samples: SampleAddresses, contracts: DemoContracts): LabelRow[] {
  const label = (address: string, name: string, category: LabelRow['category']): LabelRow => ({
    address,
    name,
    category,
    source: 'demo',
  });
  return [
    label(samples.hotWallet, 'Demo Exchange', 'exchange'),
    label(samples.trader, 'Demo Trader', 'person'),
    label(samples.whale, 'Demo Whale', 'person'),
    label(samples.collector, 'Demo Collector', 'person'),
    label(samples.swingTrader, 'Demo Swing Trader', 'person'),
    label(samples.sniper, 'Demo Sniper', 'person'),
    label(samples.bundlePayer, 'Demo Bundler', 'person'),
    label(contracts.pool, 'Demo Pool', 'dex'),
    label(contracts.dollarPool, 'Demo Dollar Pool', 'dex'),
    label(contracts.router, 'Demo Router', 'dex'),
    label(contracts.sender, 'Demo Payout', 'contract'),
    label(contracts.wrapped, 'Wrapped Demo Coin', 'contract'),
  ];
}

/** viem writes addresses with mixed-case checksums; the API answers in lower case. */
function lowerCase(address: Hex): Hex {
  return bytesToHex(hexToBytes(address));
}
