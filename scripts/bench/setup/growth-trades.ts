/**
 * The two-sided transactions of the growing chain: what wallets buy and sell, at pools, through routers and of each
 * other, in the order in which an index lists the transfers of a transaction. Pure.
 */
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import {
  ENTRY_POINT,
  FEE_TAKERS,
  formOf,
  knownWallet,
  MARKETS,
  ownToken,
  type Party,
  PoolKind,
  poolOf,
  popularToken,
  type Random,
  ROUTERS,
  rareWallet,
  recentOf,
  STABLE,
  STABLE_POOLS,
  tokenParty,
  WRAPPED,
  walletParty,
  withForm,
  ZERO,
} from './growth-parties.ts';

export interface Move {
  kind: TransferKind;
  from: Party;
  to: Party;
  /** Null for native. */
  token: Party | null;
  amount: bigint;
  /** Of NFTs. */
  tokenId?: bigint;
}

/** One transaction. */
type Moves = Move[];

/** What exists where a transaction is composed. */
export interface Scene {
  random: Random;
  wallets: number;
  tokens: number;
  /** A wallet without an earlier transfer. */
  newWallet(): number;
}

const { nativeDirect, nativeInternal, erc20, erc721 } = TransferKind;

/** The weight of each kind of transaction. */
const TRADES: readonly (readonly [weight: number, compose: (scene: Scene) => Moves])[] = [
  [20, (scene) => buyAtPool(scene, buyOrder(scene))],
  [15, buyThroughRouter],
  [15, sellThroughRouter],
  [14, (scene) => tradeForCoins(scene, WRAPPED, PoolKind.wrapped)],
  [10, (scene) => tradeForCoins(scene, STABLE, PoolKind.stable)],
  [4, swapThroughTwoPools],
  [7, tradeNativeForStable],
  [4, tradeOfSmartAccount],
  [9, sellNft],
  [5, buyForAnother],
  [2, addLiquidity],
];
const WEIGHTS = TRADES.reduce((sum, [weight]) => sum + weight, 0);

export function tradeMoves(scene: Scene): Moves {
  let rest = scene.random.next() * WEIGHTS;
  const chosen = TRADES.find(([weight]) => {
    rest -= weight;
    return rest < 0;
  });
  return (chosen?.[1] ?? buyThroughRouter)(scene);
}

const HOT_TRADERS = 0.2;
/** Shares of the buys of tokens that the wallet has traded before, and of new ones. The others are popular. */
const OWN_BUYS = 0.3;
const NEW_BUYS = 0.45;
/** Share of the sales of tokens that the wallet is likely to have bought. */
const OWN_SALES = 0.8;

/** Wallets that buy a token in the blocks of its launch and the two after it. */
const SNIPERS = [5, 4, 3];
const BUNDLED_WALLETS = 6;
const FIRST_MINTS = 5;

/** The transactions with which a block starts that is `age` blocks after the launch of the newest token. */
export function launchMoves(scene: Scene, age: number): Moves[] {
  const token = scene.tokens - 1;
  if (formOf(token) === TransferKind.erc721) {
    return age === 0 ? Array.from({ length: FIRST_MINTS }, () => mintNft(scene, token)) : [];
  }
  if (formOf(token) !== erc20) return [];
  const snipers = token % 3 === 1 ? (SNIPERS[age] ?? 0) : age === 0 ? 2 : 0;
  const buys = Array.from({ length: snipers }, () => {
    const sniper = scene.random.chance(0.4) ? scene.newWallet() : knownWallet(scene.random, scene.wallets);
    return buyAtPool(scene, { wallet: walletParty(sniper), token });
  });
  if (age > 0) return buys;
  return [...openPool(scene, token), ...(token % 3 === 0 ? [buyBundle(scene, token)] : []), ...buys];
}

const native = (kind: TransferKind, from: Party, to: Party, amount: bigint): Move => {
  return { kind, from, to, token: null, amount };
};
const units = (token: Party, from: Party, to: Party, amount: bigint): Move => {
  return { kind: erc20, from, to, token, amount };
};
const item = (token: number, from: Party, to: Party, id: bigint): Move => {
  return { kind: erc721, from, to, token: tokenParty(token), amount: 1n, tokenId: id };
};

/** Hot wallets trade less than they transfer: exchanges and bridges are among them. */
function traderOf({ random, wallets }: Scene): number {
  return random.chance(HOT_TRADERS) ? knownWallet(random, wallets) : rareWallet(random, wallets);
}

/** Who trades, and what. */
interface Order {
  wallet: Party;
  token: number;
}

/** A wallet buys a new or popular token, or one of its own once more. */
function buyOrder(scene: Scene): Order {
  const buyer = traderOf(scene);
  return { wallet: walletParty(buyer), token: boughtToken(scene.random, buyer, scene.tokens) };
}

function boughtToken(random: Random, buyer: number, tokens: number): number {
  const choice = random.next();
  if (choice < OWN_BUYS) return ownToken(random, erc20, buyer, tokens);
  if (choice < OWN_BUYS + NEW_BUYS) return withForm(recentOf(random, tokens), erc20, tokens);
  return popularToken(random, erc20, tokens);
}

/** A wallet sells one of its own tokens in most cases. */
function sellOrder(scene: Scene): Order {
  const { random, tokens } = scene;
  const seller = traderOf(scene);
  const token = random.chance(OWN_SALES)
    ? ownToken(random, erc20, seller, tokens)
    : boughtToken(random, seller, tokens);
  return { wallet: walletParty(seller), token };
}

/** Native for a token at its pool. Some pools pass on a fee. */
function buyAtPool({ random }: Scene, { wallet, token }: Order): Moves {
  const pool = poolOf(token, PoolKind.native);
  const paid = random.amount();
  const fee = paid / 100n;
  return [
    native(nativeDirect, wallet, pool, paid),
    ...(fee > 0n && random.chance(0.4) ? [native(nativeInternal, pool, random.pick(FEE_TAKERS), fee)] : []),
    units(tokenParty(token), pool, wallet, random.amount()),
  ];
}

/** Native for a token at a pool of wrapped native. A router wraps, and pays back what was too much. */
function buyThroughRouter(scene: Scene): Moves {
  const { random } = scene;
  const { wallet, token } = buyOrder(scene);
  return wrapAndSwap(random, wallet, token, poolOf(token, PoolKind.wrapped), tokenParty(token));
}

function wrapAndSwap(random: Random, wallet: Party, at: number, pool: Party, bought: Party): Moves {
  const router = ROUTERS[at % ROUTERS.length] ?? ROUTERS[0];
  const paid = random.amount();
  const refund = random.chance(0.3) ? paid / 20n : 0n;
  return [
    native(nativeDirect, wallet, router, paid),
    native(nativeInternal, router, WRAPPED, paid - refund),
    ...(refund > 0n ? [native(nativeInternal, router, wallet, refund)] : []),
    units(WRAPPED, ZERO, router, paid - refund),
    units(WRAPPED, router, pool, paid - refund),
    units(bought, pool, wallet, random.amount()),
  ];
}

/** The other way round: the router unwraps what the pool pays. */
function sellThroughRouter(scene: Scene): Moves {
  const { random } = scene;
  const { wallet, token } = sellOrder(scene);
  return swapAndUnwrap(random, wallet, token, poolOf(token, PoolKind.wrapped), tokenParty(token));
}

function swapAndUnwrap(random: Random, wallet: Party, at: number, pool: Party, sold: Party): Moves {
  const router = ROUTERS[at % ROUTERS.length] ?? ROUTERS[0];
  const received = random.amount();
  return [
    native(nativeInternal, WRAPPED, router, received),
    native(nativeInternal, router, wallet, received),
    units(sold, wallet, pool, random.amount()),
    units(WRAPPED, pool, router, received),
    units(WRAPPED, router, ZERO, received),
  ];
}

/** A buy or a sale without a router, for coins that are tokens themselves. */
function tradeForCoins(scene: Scene, coin: Party, kind: PoolKind): Moves {
  const { random } = scene;
  const isBuy = random.chance(0.5);
  const { wallet, token } = isBuy ? buyOrder(scene) : sellOrder(scene);
  return swap(
    random,
    wallet,
    poolOf(token, kind),
    isBuy ? [coin, tokenParty(token)] : [tokenParty(token), coin],
  );
}

function swap(random: Random, wallet: Party, pool: Party, [sold, bought]: [Party, Party]): Moves {
  return [units(sold, wallet, pool, random.amount()), units(bought, pool, wallet, random.amount())];
}

/** One token for another; the first pool pays the second. */
function swapThroughTwoPools(scene: Scene): Moves {
  const { random } = scene;
  const { wallet, token: sold } = sellOrder(scene);
  const { token: bought } = buyOrder(scene);
  const [first, second] = [poolOf(sold, PoolKind.wrapped), poolOf(bought, PoolKind.wrapped)];
  if (first === second) return buyThroughRouter(scene);
  return [
    units(tokenParty(sold), wallet, first, random.amount()),
    units(WRAPPED, first, second, random.amount()),
    units(tokenParty(bought), second, wallet, random.amount()),
  ];
}

/** One quote against the other. */
function tradeNativeForStable(scene: Scene): Moves {
  const { random } = scene;
  const wallet = walletParty(traderOf(scene));
  const pool = random.pick(STABLE_POOLS);
  const trade = random.chance(0.5) ? wrapAndSwap : swapAndUnwrap;
  return trade(random, wallet, -pool, pool, STABLE);
}

/** A smart account pays the EntryPoint, which pays the sender of the transaction. */
function tradeOfSmartAccount(scene: Scene): Moves {
  const { random, wallets } = scene;
  const { wallet, token } = buyOrder(scene);
  const fee = random.amount();
  return [
    native(nativeInternal, wallet, ENTRY_POINT, fee),
    native(nativeInternal, ENTRY_POINT, walletParty(knownWallet(random, wallets)), fee),
    ...swap(random, wallet, poolOf(token, PoolKind.stable), [STABLE, tokenParty(token)]),
  ];
}

/** One wallet sells an NFT to another for native. The market keeps nothing. */
function sellNft(scene: Scene): Moves {
  const { random, tokens } = scene;
  const [buyer, seller] = [traderOf(scene), traderOf(scene)];
  const collection = random.chance(0.6)
    ? ownToken(random, erc721, buyer, tokens)
    : withForm(recentOf(random, tokens), erc721, tokens);
  const market = random.pick(MARKETS);
  const price = random.amount();
  const fee = random.chance(0.5) ? price / 40n : 0n;
  return [
    native(nativeDirect, walletParty(buyer), market, price),
    native(nativeInternal, market, walletParty(seller), price - fee),
    ...(fee > 0n ? [native(nativeInternal, market, random.pick(FEE_TAKERS), fee)] : []),
    item(collection, walletParty(seller), walletParty(buyer), BigInt(random.below(10_000))),
  ];
}

/** The payer gives, another wallet receives: a part of the pool alone has both sides. */
function buyForAnother(scene: Scene): Moves {
  const { random, wallets } = scene;
  const { wallet, token } = buyOrder(scene);
  const pool = poolOf(token, PoolKind.native);
  return [
    native(nativeDirect, walletParty(knownWallet(random, wallets)), pool, random.amount()),
    units(tokenParty(token), pool, wallet, random.amount()),
  ];
}

/** Two assets for the pool's own token. */
function addLiquidity(scene: Scene): Moves {
  const { random } = scene;
  const { wallet, token } = buyOrder(scene);
  const pool = poolOf(token, PoolKind.wrapped);
  return [
    units(WRAPPED, wallet, pool, random.amount()),
    units(tokenParty(token), wallet, pool, random.amount()),
    units(pool, ZERO, wallet, random.amount()),
  ];
}

/** A new wallet makes the token and fills its pool. */
function openPool({ random, newWallet }: Scene, token: number): Moves[] {
  const launcher = walletParty(newWallet());
  const pool = poolOf(token, PoolKind.native);
  const supply = random.amount();
  return [
    [units(tokenParty(token), ZERO, launcher, supply)],
    [native(nativeDirect, launcher, pool, random.amount()), units(tokenParty(token), launcher, pool, supply)],
  ];
}

/** One wallet buys for several new ones. */
function buyBundle({ random, wallets, newWallet }: Scene, token: number): Moves {
  const pool = poolOf(token, PoolKind.native);
  const payer = walletParty(knownWallet(random, wallets));
  return [
    native(nativeDirect, payer, pool, random.amount()),
    ...Array.from({ length: BUNDLED_WALLETS }, () =>
      units(tokenParty(token), pool, walletParty(newWallet()), random.amount()),
    ),
  ];
}

/** A first sale: the collection is paid, and the NFT comes into being. */
function mintNft({ random, wallets }: Scene, collection: number): Moves {
  const buyer = walletParty(knownWallet(random, wallets));
  return [
    native(nativeDirect, buyer, tokenParty(collection), random.amount()),
    item(collection, ZERO, buyer, BigInt(random.below(10_000))),
  ];
}
