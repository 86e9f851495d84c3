/**
 * The launch of a token, written from the definitions in docs/api.md alone: sums by address over the transfers of whole
 * transactions, and nothing of the program but the names of the kinds.
 */
import type { IndexedTransfer } from '../index/index-rows.ts';
import { plainShare } from '../plain-share.ts';
import type { PlainLists, PlainTrades } from './plain-trades.ts';

const ZERO = `0x${'0'.repeat(40)}`;
const HUB = 1_000;

export interface PlainThresholds {
  snipers: number;
  bundle: number;
  fresh: number;
}

interface Got {
  how: 'bought' | 'bought_for' | 'received' | 'minted';
  payer: string | null;
  paid: [asset: string, amount: bigint] | null;
  amount: bigint;
  sellers: string[];
}

export interface PlainBuyer extends Got {
  address: string;
  block: number;
  hash: string;
  /** Of the transaction among all of the chain. */
  place: number;
  balance: bigint;
  sold: bigint;
  average: bigint;
  funder: string | null;
  age: number | null;
  counted: boolean;
  groups: (number | null)[];
}

export interface PlainLaunch {
  firstBlock: number;
  open: number | null;
  buyers: PlainBuyer[];
  summary: Record<string, number | null>;
}

/** All transactions of a chain, and who funded whom first. */
export class PlainLaunches {
  private readonly transactions: IndexedTransfer[][] = [];
  private readonly places = new Map<IndexedTransfer, number>();
  private readonly fundings = new Map<string, { from: string; block: number; place: number }>();
  private readonly funded = new Map<string, number>();
  private readonly transfers: readonly IndexedTransfer[];
  private readonly lists: PlainLists;
  private readonly trades: PlainTrades;

  constructor(transfers: readonly IndexedTransfer[], lists: PlainLists, trades: PlainTrades) {
    this.transfers = transfers;
    this.lists = lists;
    this.trades = trades;
    for (const transfer of transfers) {
      const last = this.transactions.at(-1);
      if (last?.[0]?.block === transfer.block && last[0].hash === transfer.hash) last.push(transfer);
      else this.transactions.push([transfer]);
      this.places.set(transfer, this.transactions.length - 1);
    }
    for (const kind of ['native_direct', 'native_internal'])
      for (const transfer of transfers) {
        const { from, to, kind: own, block, amount } = transfer;
        if (own === kind && from !== to && from !== ZERO && amount > 0n && !this.fundings.has(to))
          this.fundings.set(to, { from, block, place: this.places.get(transfer) ?? -1 });
      }
    for (const { from } of this.fundings.values()) this.funded.set(from, (this.funded.get(from) ?? 0) + 1);
  }

  of(token: string, limit: number, limits: PlainThresholds): PlainLaunch {
    const own = this.transfers.filter((transfer) => transfer.token === token);
    const form = own[0]?.kind;
    const moves = own.filter(({ kind, amount }) => kind === form && amount > 0n);
    const firsts: string[] = [];
    for (const { to } of moves) if (to !== ZERO && !firsts.includes(to)) firsts.push(to);
    const buyers = firsts.slice(0, limit).map((address): PlainBuyer => {
      const receipt = moves.find(({ to }) => to === address)!;
      const place = this.places.get(receipt) ?? -1;
      const funding = this.fundings.get(address);
      const balance = changeOf(moves, address);
      const isFunded = funding !== undefined && funding.place <= place;
      return {
        address,
        block: receipt.block,
        hash: receipt.hash,
        place,
        ...this.got(this.transactions[place]!, token, form, address),
        balance,
        ...this.sales(address, token),
        funder: funding?.from ?? null,
        age: isFunded ? receipt.block - funding.block : null,
        counted: false,
        groups: [],
      };
    });
    const sources = new Set(buyers.flatMap(({ sellers }) => sellers));
    for (const buyer of buyers)
      buyer.counted = buyer.amount > 0n && (isBuy(buyer) || !sources.has(buyer.address));
    const counted = buyers.filter(({ counted }) => counted);
    const keys = [
      ({ block }: PlainBuyer) => `${block}`,
      ({ how, address, payer }: PlainBuyer) => (how === 'bought' ? address : payer),
      ({ funder }: PlainBuyer) => this.common(funder),
    ];
    for (const keyOf of keys) {
      const names: string[] = [];
      for (const buyer of buyers) {
        const key = buyer.counted ? keyOf(buyer) : null;
        const size = counted.filter((other) => keyOf(other) === key).length;
        if (key !== null && size > 1 && !names.includes(key)) names.push(key);
        buyer.groups.push(key !== null && size > 1 ? names.indexOf(key) + 1 : null);
      }
    }
    const first = buyers.find((buyer) => isBuy(buyer) && buyer.amount > 0n);
    const firstBlock = own[0]?.block ?? -1;
    const blocks = buyers.filter(({ address }) => first?.sellers.includes(address)).map(({ block }) => block);
    const open = first === undefined ? null : blocks.length === 0 ? firstBlock : Math.min(...blocks);
    const supply = -changeOf(moves, ZERO);
    const held = counted.reduce((sum, { balance }) => sum + (balance > 0n ? balance : 0n), 0n);
    const got = counted.reduce((sum, { amount }) => sum + amount, 0n);
    const kept = counted.reduce((sum, { amount, balance }) => sum + least(amount, balance), 0n);
    return {
      firstBlock,
      open,
      buyers,
      summary: {
        counted: counted.length,
        snipers: counted.filter((buyer) => isBuy(buyer) && buyer.block <= (open ?? 0) + limits.snipers)
          .length,
        bundles: this.bundles(counted.filter(isBuy), limits.bundle),
        sameFunderGroups: Math.max(0, ...buyers.map(({ groups }) => groups[2] ?? 0)),
        insiders: counted.filter((buyer) => !isBuy(buyer) && buyer.place < (first?.place ?? 0)).length,
        fresh: counted.filter(({ age }) => age !== null && age <= limits.fresh).length,
        heldShare: got === 0n ? null : plainShare(kept, got),
        supplyShare:
          supply <= 0n || held > supply || heldByLargest(moves) > supply ? null : plainShare(held, supply),
      },
    };
  }

  private common(funder: string | null): string | null {
    return funder === null || (this.funded.get(funder) ?? 0) > HUB ? null : funder;
  }

  /** Sets of buyers that are reachable from one another by a common block and payer or funder. */
  private bundles(buyers: readonly PlainBuyer[], least: number): number {
    const payer = ({ how, address, payer }: PlainBuyer) => (how === 'bought' ? address : payer);
    const areLinked = (a: PlainBuyer, b: PlainBuyer) =>
      a.block === b.block &&
      ((payer(a) !== null && payer(a) === payer(b)) ||
        (this.common(a.funder) !== null && a.funder === b.funder));
    const left = new Set(buyers);
    let bundles = 0;
    for (const start of buyers) {
      if (!left.delete(start)) continue;
      const reached = [start];
      for (const at of reached)
        for (const other of [...left])
          if (areLinked(at, other)) {
            left.delete(other);
            reached.push(other);
          }
      if (reached.length >= least) bundles++;
    }
    return bundles;
  }

  private got(
    transaction: readonly IndexedTransfer[],
    token: string,
    form: string | undefined,
    address: string,
  ): Got {
    const parts = new Map<string, Map<string, bigint>>();
    const { equivalents, sinks } = this.lists;
    for (const transfer of transaction) {
      const { from, to, amount, token: moved, kind, tokenId } = transfer;
      if (from === to || amount === 0n || (moved === null && from === ZERO)) continue;
      if (kind === 'erc721' && this.trades.isUnits(moved)) continue;
      const asset =
        moved === null || (kind === 'erc20' && equivalents.includes(moved))
          ? 'native'
          : kind === 'erc1155'
            ? `${moved}#${tokenId}`
            : kind === 'erc721'
              ? `${moved}!`
              : moved;
      for (const [wallet, other, change] of [
        [from, to, -amount],
        [to, from, amount],
      ] as const) {
        if (wallet === ZERO || sinks.includes(other)) continue;
        const part = parts.get(wallet) ?? new Map<string, bigint>();
        parts.set(wallet, part);
        part.set(asset, (part.get(asset) ?? 0n) + change);
      }
    }
    const withoutMirrors = (part: Map<string, bigint>) =>
      [...part].filter(
        ([asset, sum]) => sum !== 0n && !(asset.endsWith('!') && part.has(asset.slice(0, -1))),
      );
    const sides = new Map(
      [...parts].map(([wallet, part]) => {
        const legs = withoutMirrors(part);
        return [
          wallet,
          { gave: legs.filter(([, sum]) => sum < 0n), took: legs.filter(([, sum]) => sum > 0n) },
        ];
      }),
    );
    const isToken = ([asset]: [string, bigint]) =>
      equivalents.includes(token) ? asset === 'native' : asset.split(/[#!]/)[0] === token;
    const sellers = [...sides].filter(([, { gave, took }]) => gave.some(isToken) && took.length > 0);
    const moves = transaction.filter(
      (transfer) => transfer.token === token && transfer.kind === form && transfer.amount > 0n,
    );
    const mints = moves.filter(({ from, to }) => from === ZERO && to !== ZERO);
    const payers = [...sides].filter(
      ([wallet, { gave, took }]) =>
        gave.length > 0 &&
        took.length === 0 &&
        !gave.some(isToken) &&
        ![...sinks, ...equivalents].includes(wallet),
    );
    const served = [...sides].filter(
      ([, { gave, took }]) => gave.length === 0 && took.length > 0 && took.every(isToken),
    ).length;
    const change = changeOf(moves, address);
    const amount = change > 0n ? change : 0n;
    const { gave, took } = sides.get(address) ?? { gave: [], took: [] };
    const names = sellers.map(([wallet]) => wallet);
    const only = (legs: [string, bigint][]): Got['paid'] =>
      legs.length === 1 ? [legs[0]![0], -legs[0]![1]] : null;
    if (gave.length > 0 && took.some(isToken))
      return { how: 'bought', payer: null, paid: only(gave), amount, sellers: names };
    const isSale = sellers.length > 0 || mints.length > 0;
    if (gave.length === 0 && took.every(isToken) && amount > 0n && payers.length > 0 && isSale) {
      const payer = payers.length === 1 ? payers[0]! : null;
      const paid = payer !== null && served === 1 ? only(payer[1].gave) : null;
      return { how: 'bought_for', payer: payer?.[0] ?? null, paid, amount, sellers: names };
    }
    const isMint = mints.some(({ to }) => to === address);
    return { how: isMint ? 'minted' : 'received', payer: null, paid: null, amount, sellers: [] };
  }

  private sales(address: string, token: string): { sold: bigint; average: bigint } {
    const {
      bought = 0n,
      spent = 0n,
      sold = 0n,
      received = 0n,
    } = this.trades.profits(address, 'native').get(token) ?? {};
    const matched = least(bought, sold);
    const average = matched === 0n ? 0n : (received * matched) / sold - (spent * matched) / bought;
    return { sold: this.trades.soldInAll(address, token), average };
  }
}

function isBuy({ how }: Got): boolean {
  return how === 'bought' || how === 'bought_for';
}

function changeOf(moves: readonly IndexedTransfer[], address: string): bigint {
  let sum = 0n;
  for (const { from, to, amount } of moves) {
    if (to === address) sum += amount;
    if (from === address) sum -= amount;
  }
  return sum;
}

/** What the 100 largest holders have. */
function heldByLargest(moves: readonly IndexedTransfer[]): bigint {
  const balances = new Map<string, bigint>();
  for (const { from, to, amount } of moves) {
    balances.set(from, (balances.get(from) ?? 0n) - amount);
    balances.set(to, (balances.get(to) ?? 0n) + amount);
  }
  balances.delete(ZERO);
  const held = [...balances.values()].filter((balance) => balance > 0n).sort((a, b) => (a > b ? -1 : 1));
  return held.slice(0, 100).reduce((sum, balance) => sum + balance, 0n);
}

export function least(a: bigint, b: bigint): bigint {
  if (b < 0n) return 0n;
  return a < b ? a : b;
}
