/**
 * Scenarios of trades. Prices and amounts are round, so that anyone can check a wallet's profit by hand: within a
 * round, each price doubles from 0.01 to 0.02 coins a token.
 */
import { encodeFunctionData, getContractAddress, type LocalAccount } from 'viem';
import type { Hex } from '../lib/hex.ts';
import { WEI_PER_COIN } from '../lib/units.ts';
import { ZERO_ADDRESS } from '../model/address.ts';
import { abis, poolCode, tokenCode } from './contracts.ts';
import {
  DEPLOY_GAS,
  type PlannedTransaction,
  payment,
  type Scenario,
  type ScenarioContext,
  type Stage,
  type TransferCounts,
} from './planned-transaction.ts';
import { mint } from './token-scenarios.ts';

/** Price of a whole token, in base units of the coin or the Demo Dollar. */
export const LOW_PRICE = WEI_PER_COIN / 100n;
const HIGH_PRICE = 2n * LOW_PRICE;
export const LOW_DOLLAR_PRICE = 10_000n;
const HIGH_DOLLAR_PRICE = 2n * LOW_DOLLAR_PRICE;
/** Most trades are of a lot, which costs 10 coins at first and 20 later. */
const LOT = 1_000n;
const HALF_LOT = LOT / 2n;
/** Tokens that the trader swaps for as many of a launched token. */
const SWAPPED = 100n;
/** Tokens and coins that a launch puts into its pool. */
const LAUNCH_SUPPLY = 100_000n;
const LAUNCH_COINS = 100n;
/** Wallets for which the payer of a bundle buys. */
export const BUNDLE_SIZE = 5;

const units = (tokens: bigint): bigint => tokens * WEI_PER_COIN;
const coins = units;

/**
 * At the pools of DEMO: the swing trader buys a lot through the router, which pays 2 coins back, and sells it for twice
 * as much. The trader sells half its position, and does the same for Demo Dollars. The whale sells a lot it never
 * bought, and buys one at the high price.
 */
export const marketSwing: Scenario = (context) => {
  const { contracts, roles, fresh } = context;
  const { pool, dollarPool, token } = contracts;
  const { deployer, exchange, trader, whale } = roles;
  const swinger = fresh('swing trader');
  const route = { abi: abis.DemoRouter, args: [pool, units(LOT)] } as const;
  const buyLot = encodeFunctionData({ ...route, functionName: 'buy' });
  const sellLot = encodeFunctionData({ ...route, functionName: 'sell' });
  return [
    [
      setPrice(deployer, pool, LOW_PRICE),
      setPrice(deployer, dollarPool, LOW_DOLLAR_PRICE),
      mint(deployer, token, pool, units(5n * LOT)),
      mint(deployer, token, dollarPool, units(LOT)),
      { ...payment(exchange, pool, coins(100n)), gas: 50_000n },
      payment(exchange, swinger.address, coins(100n)),
    ],
    [
      buy(trader, pool, LOT, LOW_PRICE),
      { ...buy(trader, dollarPool, LOT, 0n), yields: { erc20: 2 } },
      sell(whale, pool, LOT),
      call(swinger, contracts.router, buyLot, coins(12n), { native_direct: 1, native_internal: 3, erc20: 1 }),
      approve(swinger, token, contracts.router),
    ],
    [setPrice(deployer, pool, HIGH_PRICE), setPrice(deployer, dollarPool, HIGH_DOLLAR_PRICE)],
    [
      sell(trader, pool, HALF_LOT),
      { ...sell(trader, dollarPool, HALF_LOT), yields: { erc20: 2 } },
      call(swinger, contracts.router, sellLot, 0n, { native_internal: 2, erc20: 2 }),
      buy(whale, pool, LOT, HIGH_PRICE),
    ],
  ];
};

/**
 * Two wallets with the same funder buy a token in the block after its launch. One sells for twice as much; the trader
 * swaps DEMO for the token through both pools.
 */
export const snipedLaunch: Scenario = (context) => {
  const { contracts, roles, fresh } = context;
  const { launcher, token, pool, stages } = launchOf(context, 'Sniped');
  const [funder, sniper, second] = [fresh('sniper funder'), fresh('sniper'), fresh('second sniper')];
  const [funding = [], opening = []] = stages;
  const swap = encodeFunctionData({
    abi: abis.DemoRouter,
    functionName: 'swap',
    args: [contracts.pool, units(SWAPPED), pool, units(SWAPPED)],
  });
  return [
    [...funding, payment(roles.exchange, funder.address, coins(100n))],
    [...opening, ...[sniper, second].map((wallet) => payment(funder, wallet.address, coins(30n)))],
    [buy(sniper, pool, LOT, LOW_PRICE), buy(second, pool, LOT, LOW_PRICE)],
    [setPrice(launcher, pool, HIGH_PRICE), approve(sniper, token, pool)],
    [
      sell(sniper, pool, LOT),
      call(roles.trader, contracts.router, swap, 0n, { native_internal: 2, erc20: 3 }),
    ],
  ];
};

/** In the block after a launch, one wallet pays for the tokens of several others. The collector buys later. */
export const bundledLaunch: Scenario = (context) => {
  const { roles, fresh } = context;
  const { pool, stages } = launchOf(context, 'Bundled');
  const payer = fresh('bundle payer');
  const [funding = [], opening = []] = stages;
  const receivers = Array.from({ length: BUNDLE_SIZE }, (_, index) => fresh(`bundled ${index}`).address);
  const args = [units(LOT), receivers] as const;
  const bundle = encodeFunctionData({ abi: abis.DemoPool, functionName: 'buyForEach', args });
  const cost = LOT * LOW_PRICE * BigInt(BUNDLE_SIZE);
  return [
    [...funding, payment(roles.exchange, payer.address, coins(100n))],
    opening,
    [call(payer, pool, bundle, cost, { native_direct: 1, erc20: BUNDLE_SIZE })],
    [buy(roles.collector, pool, HALF_LOT, LOW_PRICE)],
  ];
};

/** The wallet and the contracts of the launch with this name, which is also that of its token. */
export function launchParties({ fresh }: Pick<ScenarioContext, 'fresh'>, name: 'Sniped' | 'Bundled') {
  const launcher = fresh(`${name} launcher`);
  const created = (nonce: bigint): Hex => getContractAddress({ from: launcher.address, nonce });
  return { launcher, token: created(0n), pool: created(1n) };
}

/** Two stages: the launcher is funded, then it creates a token and a pool that holds the whole supply and coins. */
function launchOf(context: ScenarioContext, name: 'Sniped' | 'Bundled') {
  const { launcher, token, pool } = launchParties(context, name);
  const creation = { from: launcher, to: null, gas: DEPLOY_GAS };
  const data = poolCode({ token, coin: ZERO_ADDRESS, price: LOW_PRICE, supply: units(LAUNCH_SUPPLY) });
  const stages: Stage[] = [
    [payment(context.roles.exchange, launcher.address, coins(2n * LAUNCH_COINS))],
    [
      { ...creation, data: tokenCode(`${name} Launch`, name.toUpperCase(), 18), yields: {} },
      { ...creation, data, value: coins(LAUNCH_COINS), yields: { native_direct: 1, erc20: 1 } },
    ],
  ];
  return { launcher, token, pool, stages };
}

function call(
  from: LocalAccount,
  to: Hex,
  data: Hex,
  value: bigint,
  yields: TransferCounts,
): PlannedTransaction {
  return { from, to, data, value, yields };
}

function setPrice(from: LocalAccount, pool: Hex, price: bigint): PlannedTransaction {
  const data = encodeFunctionData({ abi: abis.DemoPool, functionName: 'setPrice', args: [price] });
  return { from, to: pool, data, yields: {} };
}

/** Lets the spender take any amount of the owner's tokens. */
export function approve(from: LocalAccount, token: Hex, spender: Hex): PlannedTransaction {
  const args = [spender, 2n ** 256n - 1n] as const;
  const data = encodeFunctionData({ abi: abis.DemoToken, functionName: 'approve', args });
  return { from, to: token, data, yields: {} };
}

/** A buy of whole tokens for coins, without change. */
function buy(from: LocalAccount, pool: Hex, tokens: bigint, price: bigint): PlannedTransaction {
  const args = [units(tokens), from.address] as const;
  const data = encodeFunctionData({ abi: abis.DemoPool, functionName: 'buy', args });
  return call(from, pool, data, tokens * price, { native_direct: 1, erc20: 1 });
}

/** A sale of whole tokens for coins. The pool must be approved. */
function sell(from: LocalAccount, pool: Hex, tokens: bigint): PlannedTransaction {
  const data = encodeFunctionData({ abi: abis.DemoPool, functionName: 'sell', args: [units(tokens)] });
  return call(from, pool, data, 0n, { native_internal: 1, erc20: 1 });
}
