/** Transactions in which wallets buy and sell: at pools, through a router, and NFTs of each other. */
import type { Hex } from '../../../../src/lib/hex.ts';
import { ZERO_ADDRESS } from '../../../../src/model/address.ts';
import { encode, SELECTOR } from '../abi.ts';
import { nativeAmount, randomPortion } from '../amounts.ts';
import { TRADE_CONTRACTS } from '../markets.ts';
import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';
import { balanceOf, moveErc20, pickHolder } from './erc20.ts';
import { passErc721 } from './erc721.ts';
import { passErc1155 } from './erc1155.ts';
import { launch, openStableMarket } from './launches.ts';
import {
  buyAt,
  buyFromPool,
  buyThroughRouter,
  mintStable,
  payInternally,
  payOut,
  takeIn,
  unwrap,
} from './pools.ts';

const { entryPoint, router, nftMarket, feeTaker } = TRADE_CONTRACTS;

/** The weight of each activity. The order is part of the definition of a chain with trades. */
const TRADES: readonly (readonly [weight: number, activity: (world: World) => Transaction])[] = [
  [38, buy],
  [13, sell],
  [4, swapThroughTwoPools],
  [5, tradeStable],
  [4, buyOfSmartAccount],
  [8, sellNft],
  [2, sellEdition],
  [5, buyForAnother],
  [2, addLiquidity],
  [4, launch],
  [5, mintStable],
];
const WEIGHTS = TRADES.reduce((sum, [weight]) => sum + weight, 0);
/** Markets that open before the first trade. */
const FIRST_MARKETS = 3;

/** Composes the next of a planned sequence, or any trade. */
export function trade(world: World): Transaction {
  const { markets, prng } = world;
  const planned = markets.planned.shift();
  if (planned !== undefined) return planned();
  if (markets.ofStable === null) return openStableMarket(world);
  if (markets.list.length < FIRST_MARKETS) return launch(world);
  let rest = prng.fraction() * WEIGHTS;
  const chosen = TRADES.find(([weight]) => {
    rest -= weight;
    return rest < 0;
  });
  return (chosen?.[1] ?? buy)(world);
}

function buy(world: World): Transaction {
  const market = world.markets.pick(world.prng);
  return market === null ? launch(world) : buyAt(world, market, buyer(world));
}

/** Most buyers are no busy wallets. */
function buyer({ prng, actors }: World): Hex {
  return prng.chance(0.85) ? prng.pick(actors.wallets) : actors.wallet();
}

/** A holder of the market's token sells some of it. */
function sell(world: World): Transaction {
  const { prng, markets } = world;
  const market = markets.pick(prng);
  const holder = market && pickHolder(world, market.token);
  if (market === null || holder === null) return buy(world);
  const { pool, token, coin } = market;
  const isUnwrapped = coin === 'wrapped' && prng.chance(0.7);
  const sold = randomPortion(prng, balanceOf(token, holder));
  const input = encode(SELECTOR.swap, sold, holder);
  const swap = world.begin(holder, isUnwrapped ? router : pool, 0n, input).pay();
  const received = takeIn(world, swap, market, sold, holder);
  if (received === 0n) return swap;
  if (coin === 'native') payInternally(swap, pool, holder, received);
  else if (isUnwrapped) {
    moveErc20(world, swap, markets.wrapped, pool, router, received);
    unwrap(world, swap, router, received);
    payInternally(swap, router, holder, received);
  } else {
    moveErc20(world, swap, coin === 'wrapped' ? markets.wrapped : markets.stable, pool, holder, received);
  }
  return swap;
}

/** Native against the stable coin, in either direction. */
function tradeStable(world: World): Transaction {
  const { prng, markets } = world;
  const market = markets.ofStable;
  const holder = pickHolder(world, markets.stable);
  if (market === null) return openStableMarket(world);
  if (holder === null || prng.chance(0.5)) return buyThroughRouter(world, market, buyer(world));
  const sold = randomPortion(prng, balanceOf(markets.stable, holder));
  const swap = world.begin(holder, router, 0n, encode(SELECTOR.swap, sold, holder)).pay();
  const received = takeIn(world, swap, market, sold, holder);
  if (received === 0n) return swap;
  moveErc20(world, swap, markets.wrapped, market.pool, router, received);
  unwrap(world, swap, router, received);
  payInternally(swap, router, holder, received);
  return swap;
}

/** One token for another: the first pool pays the second, the router passes through its hands nothing. */
function swapThroughTwoPools(world: World): Transaction {
  const { prng, markets } = world;
  const [first, second] = [markets.pick(prng, 'wrapped'), markets.pick(prng, 'wrapped')];
  const holder = first && pickHolder(world, first.token);
  if (first === null || second === null || holder === null || first === second) return buy(world);
  const sold = randomPortion(prng, balanceOf(first.token, holder));
  const swap = world.begin(holder, router, 0n, encode(SELECTOR.swap, sold, holder)).pay();
  const between = takeIn(world, swap, first, sold, holder);
  if (between === 0n) return swap;
  moveErc20(world, swap, markets.wrapped, first.pool, second.pool, between);
  payOut(world, swap, second, between, holder);
  return swap;
}

/** A smart account buys. It pays the EntryPoint, which pays the wallet that sent the transaction. */
function buyOfSmartAccount(world: World): Transaction {
  const { prng, actors, markets } = world;
  const market = markets.pick(prng, 'stable');
  const account = pickHolder(world, markets.stable);
  if (market === null || account === null) return mintStable(world);
  const sender = actors.wallet();
  const paid = randomPortion(prng, balanceOf(markets.stable, account));
  const swap = world.begin(sender, entryPoint, 0n, encode(SELECTOR.swap, paid, account)).pay();
  const fee = nativeAmount(prng) / 1000n + 1n;
  payInternally(swap, account, entryPoint, fee);
  moveErc20(world, swap, markets.stable, account, market.pool, paid);
  payOut(world, swap, market, paid, account);
  payInternally(swap, entryPoint, sender, fee);
  return swap;
}

/** One wallet sells an NFT to another for native, through a market that passes on a fee. */
function sellNft(world: World): Transaction {
  const { prng, actors } = world;
  const token = prng.pickZipf(actors.erc721);
  if (token.ids.length === 0) return buy(world);
  const id = prng.pick(token.ids);
  const seller = token.owners.get(id);
  const to = buyer(world);
  if (seller === undefined || seller === to) return buy(world);
  const sale = sellThroughMarket(world, to, seller);
  passErc721(world, sale, token, id, seller, to);
  return sale;
}

/** The same of some units of an ERC-1155. */
function sellEdition(world: World): Transaction {
  const { prng, actors } = world;
  const token = prng.pickZipf(actors.erc1155);
  const to = buyer(world);
  const position = token.positions.length === 0 ? undefined : prng.pick(token.positions);
  if (position === undefined || position.balance === 0n || position.holder === to) return buy(world);
  const { holder, id, balance } = position;
  const amount = randomPortion(prng, balance);
  const sale = sellThroughMarket(world, to, holder);
  passErc1155(world, sale, token, { operator: nftMarket, from: holder, to, id, amount });
  return sale;
}

function sellThroughMarket(world: World, buyer: Hex, seller: Hex): Transaction {
  const price = nativeAmount(world.prng);
  const fee = price / 40n;
  const sale = world.begin(buyer, nftMarket, price, encode(SELECTOR.swap, price)).pay();
  payInternally(sale, nftMarket, seller, price - fee);
  if (fee > 0n) payInternally(sale, nftMarket, feeTaker, fee);
  return sale;
}

/** The payer gives, another wallet receives. */
function buyForAnother(world: World): Transaction {
  const market = world.markets.pick(world.prng, 'native');
  if (market === null) return launch(world);
  return buyFromPool(world, market, world.actors.wallet(), world.actors.freshWallet());
}

/** A holder gives the token and the stable coin, and receives the pool's own token. */
function addLiquidity(world: World): Transaction {
  const { prng, markets } = world;
  const market = markets.pick(prng, 'stable');
  const holder = market && pickHolder(world, market.token);
  if (market === null || holder === null || balanceOf(markets.stable, holder) === 0n)
    return mintStable(world);
  const { pool, token } = market;
  const coins = randomPortion(prng, balanceOf(markets.stable, holder));
  const deposit = world.begin(holder, pool, 0n, encode(SELECTOR.mint, holder, coins)).pay();
  moveErc20(world, deposit, markets.stable, holder, pool, coins);
  moveErc20(world, deposit, token, holder, pool, randomPortion(prng, balanceOf(token, holder)));
  moveErc20(world, deposit, market.shares, ZERO_ADDRESS, holder, coins);
  market.coins += coins;
  return deposit;
}
