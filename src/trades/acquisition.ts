/** How wallets got a token in a transaction: for something, for what another wallet gave, or for nothing. */
import {
  type Asset,
  type AssetAmount,
  balanceChange,
  NATIVE,
  type PartTransfer,
} from '../model/wallet-part.ts';
import { type TradeIds, TradePart } from './trade-part.ts';

/** In the order in which people read them. */
export const ACQUISITIONS = ['bought', 'bought_for', 'received', 'minted'] as const;
export type AcquisitionKind = (typeof ACQUISITIONS)[number];

export interface Acquisition {
  how: AcquisitionKind;
  /** By how much the balance of the token grew; 0 where all of it was passed on. */
  amount: bigint;
  /** Of `bought_for`: the wallet that paid; null where several did. */
  payer: number | null;
  /** The one asset that was given for it, and for nobody else's tokens; else null. */
  paid: AssetAmount | null;
  /** Of `bought` and `bought_for`: the wallets that gave the token and got something. None where it was minted. */
  sellers: readonly number[];
}

/** A token by tokens.id, and the only kind of its transfers that moves balances; undefined where all do. */
export interface AcquiredToken {
  token: number;
  form: number | undefined;
}

interface Sides {
  wallet: number;
  given: AssetAmount[];
  received: AssetAmount[];
}

/** How the wallets of a transaction got a token there. `transfers` are all of the transaction. */
export function acquisitionsIn(
  transfers: readonly PartTransfer[],
  { token, form }: AcquiredToken,
  ids: TradeIds,
): (wallet: number) => Acquisition {
  const isToken = isAssetOf(token, ids);
  const sides = sidesOf(transfers, ids);
  const sellers = sides.filter(({ given, received }) => given.some(isToken) && received.length > 0);
  const mints = transfers.filter((transfer) => transfer.from === ids.zero && moves(transfer, token, form));
  const isSale = sellers.length > 0 || mints.length > 0;
  // A contract of wrapped coins gives what a seller unwraps, which was not its own.
  const isNoPayer = (wallet: number) => ids.feeSinks.has(wallet) || ids.equivalentContracts.has(wallet);
  const payers = sides.filter(
    ({ wallet, given, received }) =>
      given.length > 0 && received.length === 0 && !given.some(isToken) && !isNoPayer(wallet),
  );
  const paidFor = sides.filter(
    ({ given, received }) => given.length === 0 && received.length > 0 && received.every(isToken),
  );
  const sold = { sellers: sellers.map(({ wallet }) => wallet) };
  const byWallet = new Map(sides.map((side) => [side.wallet, side]));

  return (wallet) => {
    const { given = [], received = [] } = byWallet.get(wallet) ?? {};
    const change = balanceChange(transfers, wallet, token, form);
    const amount = change > 0n ? change : 0n;
    if (given.length > 0 && received.some(isToken))
      return { how: 'bought', amount, payer: null, paid: onlyOf(given), ...sold };
    // A pool that also gets coins was given liquidity.
    const isPaidFor = given.length === 0 && received.every(isToken) && amount > 0n;
    if (isPaidFor && isSale && payers.length > 0) {
      const payer = onlyOf(payers);
      const paid = payer !== null && paidFor.length === 1 ? onlyOf(payer.given) : null;
      return { how: 'bought_for', amount, payer: payer?.wallet ?? null, paid, ...sold };
    }
    const isMinted = mints.some(({ to }) => to === wallet);
    return { how: isMinted ? 'minted' : 'received', amount, payer: null, paid: null, sellers: [] };
  };
}

/** Whether an asset of a part is the token, or one of its ids. Equivalents of the native coin are that coin. */
function isAssetOf(token: number, { nativeEquivalents }: TradeIds): (asset: Asset) => boolean {
  const asset = nativeEquivalents.has(token) ? NATIVE : token;
  return (candidate) => candidate.token === asset;
}

function moves(
  { from, to, token: moved, kind, amount }: PartTransfer,
  token: number,
  form: number | undefined,
) {
  return moved === token && from !== to && amount > 0n && (form === undefined || kind === form);
}

function sidesOf(transfers: readonly PartTransfer[], ids: TradeIds): Sides[] {
  const parts = new Map<number, TradePart>();
  for (const transfer of transfers) {
    if (transfer.from === transfer.to) continue;
    for (const wallet of [transfer.from, transfer.to]) {
      if (wallet === ids.zero) continue;
      const part = parts.get(wallet) ?? new TradePart(wallet, ids);
      parts.set(wallet, part);
      part.add(transfer);
    }
  }
  return [...parts].map(([wallet, part]) => ({ wallet, given: part.given(), received: part.received() }));
}

function onlyOf<T>(list: readonly T[]): T | null {
  return list.length === 1 ? (list[0] ?? null) : null;
}
