/** Scenarios of native transfers that are transactions themselves: payments, funding, creations with value. */
import { WEI_PER_COIN } from '../lib/units.ts';
import { vaultCode } from './contracts.ts';
import { DEPLOY_GAS, payment, type Scenario } from './planned-transaction.ts';

/** Wallets between the exchange and the end of a funding chain, the end included. */
export const CHAIN_HOPS = 5;
/** Fewest wallets one funder funds at the same time. */
export const COHORT_SIZE = 4;

/** Everyday payments, large ones back and forth, one to oneself and one of zero. */
export const payments: Scenario = ({ roles, random }) => [
  [
    payment(roles.exchange, roles.trader.address, random.amount(500, 5_000, WEI_PER_COIN)),
    payment(roles.trader, roles.collector.address, random.amount(10, 900, WEI_PER_COIN)),
    payment(roles.collector, roles.exchange.address, random.amount(10, 900, WEI_PER_COIN)),
    payment(roles.whale, roles.exchange.address, random.amount(10_001_000, 25_000_000, WEI_PER_COIN)),
    payment(roles.exchange, roles.whale.address, random.amount(10_001_000, 25_000_000, WEI_PER_COIN)),
    payment(roles.trader, roles.trader.address, random.amount(1, 100, WEI_PER_COIN)),
    payment(roles.trader, roles.whale.address, 0n),
  ],
];

/** One funder pays several fresh wallets, which all then pay the same one: wallets that act together. */
export const cohort: Scenario = ({ roles, random, fresh }) => {
  const size = random.between(COHORT_SIZE, COHORT_SIZE + 4);
  const wallets = Array.from({ length: size }, (_, index) => fresh(`cohort ${index}`));
  return [
    wallets.map((wallet) =>
      payment(roles.exchange, wallet.address, random.amount(2_000, 9_000, WEI_PER_COIN)),
    ),
    wallets.map((wallet) => payment(wallet, roles.collector.address, random.amount(100, 900, WEI_PER_COIN))),
  ];
};

/** From the exchange through several fresh wallets, each the only funder of the next. */
export const fundingChain: Scenario = ({ roles, random, fresh }) => {
  const start = random.amount(40_000, 60_000, WEI_PER_COIN);
  return Array.from({ length: CHAIN_HOPS }, (_, index) => {
    const funder = index === 0 ? roles.exchange : fresh(`chain ${index}`);
    const funded = fresh(`chain ${index + 1}`);
    return [payment(funder, funded.address, start - BigInt(index) * 2n * WEI_PER_COIN)];
  });
};

/** A contract created with value by a transaction, and one whose constructor refuses it. */
export const creations: Scenario = ({ roles, random }) => {
  const creation = { from: roles.operator, to: null, gas: DEPLOY_GAS };
  const value = random.amount(100, 900, WEI_PER_COIN);
  return [
    [
      { ...creation, data: vaultCode(false), value, yields: { native_direct: 1 } },
      { ...creation, data: vaultCode(true), value, reverts: true, yields: {} },
    ],
  ];
};
