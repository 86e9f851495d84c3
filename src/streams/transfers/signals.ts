/** Signals: the events that a transfer means for the wallets on its two sides, and which of them a filter selects. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { ZERO_DIGITS } from '../../model/address.ts';
import type { SignalEvent } from '../../model/stream-filters.ts';
import { isNativeKind, movesOne } from '../../model/transfer-kind.ts';
import { amountOf, type TransferRow } from '../../query/transfers.ts';
import { namesOf, type TradeFacts } from './trade-facts.ts';
import type { SideFacts } from './transaction-part.ts';
import type { SignalFilter } from './transfer-filter.ts';

export type Direction = 'in' | 'out';

/** An event of the wallet that is the receiver (`in`) or the sender (`out`) of a transfer. */
export interface Signal {
  event: SignalEvent;
  direction: Direction;
}

const FUNDED: Signal = { event: 'wallet_funded', direction: 'in' };
const NATIVE_OUT: Signal = { event: 'wallet_native_out', direction: 'out' };
const BUY: Signal = { event: 'wallet_token_buy', direction: 'in' };
const SELL: Signal = { event: 'wallet_token_sell', direction: 'out' };
/** Reported for the sender. */
const WHALE: Signal = { event: 'whale_transfer', direction: 'out' };
const CREATED: Record<Direction, Signal> = {
  in: { event: 'wallet_created', direction: 'in' },
  out: { event: 'wallet_created', direction: 'out' },
};

/** Reported for the receiver. */
const TOKEN_CREATED: Signal = { event: 'token_created', direction: 'in' };

/** Reported at the last event of the wallet in the transaction. */
const TRADE: Record<Direction, Signal> = {
  in: { event: 'wallet_trade', direction: 'in' },
  out: { event: 'wallet_trade', direction: 'out' },
};

/** Facts beyond its row that deciding about a transfer may need. */
export interface SignalFacts {
  row: TransferRow;
  /** Whether this is the first transfer of the wallet on that side. */
  isFirst(direction: Direction): boolean;
  /** Whether this is the first transfer of its token; never for the native coin. */
  isFirstOfToken(): boolean;
  /** The part of the wallet on that side in the transaction. */
  side(direction: Direction): SideFacts;
  /** The trade of that wallet, at its last event in the transaction; else null. */
  trade(direction: Direction): TradeFacts | null;
}

/** The event of a transfer for the wallet on one side of it. */
export function sideSignal({ kind }: Pick<TransferRow, 'kind'>, direction: Direction): Signal {
  if (isNativeKind(kind)) return direction === 'in' ? FUNDED : NATIVE_OUT;
  return direction === 'in' ? BUY : SELL;
}

const NONE: readonly Signal[] = [];

/**
 * The signals of a transfer that pass a filter, but for `initiated`. A native self-transfer is only `out`, because it
 * funds no other wallet; a token's is neither a buy nor a sell. A zero transfer can only create a wallet or a token.
 * The zero address counts only if the filter names it.
 */
export function signalsOf(filter: SignalFilter, facts: SignalFacts): readonly Signal[] {
  const candidates = candidatesOf(filter, facts);
  if (!filter.purchasesOnly && !wantsTrades(filter)) return candidates;
  return candidates.filter((signal) => {
    if (signal === BUY && filter.purchasesOnly) return facts.side('in').isPurchase;
    return signal.event !== 'wallet_trade' || passesTrade(filter, facts.trade(signal.direction));
  });
}

/**
 * The signals that pass a filter as far as the transfer alone tells: without `purchasesOnly`, and any may be a trade.
 */
export function candidatesOf(
  filter: SignalFilter,
  facts: Pick<SignalFacts, 'row' | 'isFirst' | 'isFirstOfToken'>,
): readonly Signal[] {
  const { row } = facts;
  const isNamed = filter.tokens.size === 0 || filter.tokens.has(row.token);
  const mayTrade = wantsTrades(filter) && movesSomething(row);
  if (!isNamed && !mayTrade) return NONE;
  const out = namesWallet(filter, row.from);
  const isIn = row.to !== row.from && namesWallet(filter, row.to);
  if (!out && !isIn) return NONE;
  const signals: Signal[] = [];
  const isEvent = movesSomething(row) && reachesMinimum(filter, row);
  if (isNamed) {
    if (out) addSide('out');
    if (isIn) addSide('in');
    if (isEvent && isWhale(filter, row)) signals.push(WHALE);
    if (filter.events.has('token_created') && facts.isFirstOfToken()) signals.push(TOKEN_CREATED);
  }
  if (out && mayTrade) signals.push(TRADE.out);
  if (isIn && mayTrade) signals.push(TRADE.in);
  return signals;

  function addSide(direction: Direction): void {
    if (filter.events.has('wallet_created') && facts.isFirst(direction)) signals.push(CREATED[direction]);
    const signal = sideSignal(row, direction);
    if (isEvent && wantsEvent(filter, signal.event) && !isExcludedMint(filter, signal, row))
      signals.push(signal);
  }
}

/** Whether a filter selects trades. Only those name them. */
export function wantsTrades({ events }: SignalFilter): boolean {
  return events.has('wallet_trade');
}

/** Whether an event passes `initiated`: of a transaction that its wallet sent, as far as known. */
export function passesInitiated(
  { initiated }: SignalFilter,
  event: { isInitiated(direction: Direction): boolean | null },
  { direction }: Signal,
): boolean {
  return !initiated || event.isInitiated(direction) !== false;
}

/** Whether a trade passes the members about trades. */
function passesTrade(
  { tokens, kinds, minAmount, minQuote }: SignalFilter,
  trade: TradeFacts | null,
): boolean {
  if (trade === null || (kinds.size > 0 && !kinds.has(trade.kind))) return false;
  const { assets, asset, traded, quote, quoteAmount } = trade;
  const isNamed = (token: string) => namesOf(token, trade).some((name) => tokens.has(name));
  if (tokens.size > 0 && !assets.some(isNamed)) return false;
  const least = (minimums: ReadonlyMap<string, bigint>, token: string) =>
    namesOf(token, trade)
      .map((name) => minimums.get(name))
      .find((minimum) => minimum !== undefined) ?? 0n;
  if (asset !== null && traded !== null && traded.amount < least(minAmount, asset)) return false;
  return quote === null || quoteAmount === null || quoteAmount >= least(minQuote, quote);
}

/** Whether a transfer is an event: it has an amount, and a token leaves its wallet. */
function movesSomething({ amount, kind, from, to }: TransferRow): boolean {
  if (isNativeKind(kind)) return amount !== '';
  return (amount !== '' || movesOne(kind)) && from !== to;
}

function namesWallet({ wallets }: SignalFilter, wallet: string): boolean {
  return wallets.size === 0 ? wallet !== ZERO_DIGITS : wallets.has(wallet);
}

function wantsEvent({ events }: SignalFilter, event: SignalEvent): boolean {
  return events.size === 0 || events.has(event);
}

function isExcludedMint({ excludeMints }: SignalFilter, signal: Signal, { from }: TransferRow): boolean {
  return excludeMints && signal === BUY && from === ZERO_DIGITS;
}

function reachesMinimum({ minMon, minAmount }: SignalFilter, row: TransferRow): boolean {
  if (row.token === '') return minMon === null || digitsToBigInt(row.amount) >= minMon;
  const least = minAmount.get(row.token);
  return least === undefined || amountOf(row) >= least;
}

/** `parseSignalFilter` requires `minMon` with this event. */
function isWhale({ events }: SignalFilter, { token }: TransferRow): boolean {
  return token === '' && events.has('whale_transfer');
}
