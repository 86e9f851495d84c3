/** Subscriptions to transfers: which they want, and in what form. */
import { ZERO_DIGITS } from '../lib/address.ts';
import type { EventRow } from '../query/events.ts';
import { isNative, Kind } from '../types.ts';
import { Notice } from './notice.ts';
import type { Subscription } from './subscription.ts';
import type { SignalFilter, WalletFilter } from './transfer-filter.ts';
import { type ChainFacts, type Direction, signalEvent, signalJson, transferJson } from './transfer-json.ts';

const NONE: readonly Direction[] = [];
const OUT: readonly Direction[] = ['out'];
const IN: readonly Direction[] = ['in'];
const BOTH: readonly Direction[] = ['out', 'in'];

/** A transfer on its way to subscribers. Each form of it is serialised once, when the first of them wants it. */
export class TransferEvent {
  readonly row: EventRow;
  private readonly removed: boolean;
  private readonly facts: ChainFacts;
  private readonly transfers: Partial<Record<Direction, Notice>> = {};
  private readonly signals: Partial<Record<Direction, Notice>> = {};

  constructor(row: EventRow, removed: boolean, facts: ChainFacts) {
    this.row = row;
    this.removed = removed;
    this.facts = facts;
  }

  transfer(direction: Direction): Notice {
    this.transfers[direction] ??= new Notice(
      'eth_subscription',
      transferJson(this.row, direction, this.removed, this.facts),
    );
    return this.transfers[direction];
  }

  signal(direction: Direction): Notice {
    this.signals[direction] ??= new Notice(
      'atlas_subscription',
      signalJson(this.row, direction, this.removed, this.facts, Date.now()),
    );
    return this.signals[direction];
  }
}

/**
 * One subscription to transfers. Addresses are hex digits without prefix. It is handed transfers of `wallets`, or
 * when there are none transfers of the token contracts `tokens`, or when there are neither all.
 */
export abstract class Watcher {
  readonly subscription: Subscription;
  readonly wallets: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
  /** Transfers of blocks below are not wanted. */
  readonly fromBlock: number;
  /** First transfer id that was, or will be, handed to it. */
  first = 0;
  /** First one that a replay has not handed to it. */
  next = 0;
  /** Highest block of which it was told something that nobody remembers any more. */
  forgotten = -1;
  ended = false;

  constructor(
    subscription: Subscription,
    wallets: ReadonlySet<string>,
    tokens: ReadonlySet<string>,
    fromBlock: number | null,
  ) {
    this.subscription = subscription;
    this.wallets = wallets;
    this.tokens = tokens;
    this.fromBlock = fromBlock ?? 0;
  }

  /** Pushes what it wants of the transfer; false when that is nothing. */
  tell(event: TransferEvent): boolean {
    const sides = this.wantedSidesOf(event.row);
    for (const side of sides) this.subscription.push(this.noticeOf(event, side));
    return sides.length > 0;
  }

  /** Whether it is told of the transfer when that is handed to it. */
  wants(row: EventRow): boolean {
    return this.wantedSidesOf(row).length > 0;
  }

  private wantedSidesOf(row: EventRow): readonly Direction[] {
    return this.ended || row.blockNumber < this.fromBlock ? NONE : this.sidesOf(row);
  }

  /** The sides that pass its filter. It depends on the transfer alone, and so is the same when that is taken back. */
  protected abstract sidesOf(row: EventRow): readonly Direction[];

  protected abstract noticeOf(event: TransferEvent, side: Direction): Notice;
}

/** `wallet_transfers`: the transfers of one wallet, each once; one to itself goes out unless only incoming ones are wanted. */
export class WalletWatcher extends Watcher {
  private readonly filter: WalletFilter;

  constructor(subscription: Subscription, filter: WalletFilter) {
    super(subscription, new Set([filter.wallet]), new Set(), filter.fromBlock);
    this.filter = filter;
  }

  protected override sidesOf(row: EventRow): readonly Direction[] {
    const { wallet, direction, native, tokens } = this.filter;
    if (!(isNative(row.kind) ? native : tokens)) return NONE;
    if (row.from === wallet && direction !== 'in') return OUT;
    if (row.to === wallet && direction !== 'out') return IN;
    return NONE;
  }

  protected override noticeOf(event: TransferEvent, side: Direction): Notice {
    return event.transfer(side);
  }
}

/**
 * Signals: a transfer is an event to its sender and one to its receiver. One to itself is only an outgoing one, since
 * it funds nobody; one of no amount makes nobody a buyer; the zero address counts only when it is asked for.
 */
export class SignalWatcher extends Watcher {
  private readonly filter: SignalFilter;

  constructor(subscription: Subscription, filter: SignalFilter) {
    super(subscription, filter.wallets, filter.tokens, filter.fromBlock);
    this.filter = filter;
  }

  protected override sidesOf(row: EventRow): readonly Direction[] {
    const { tokens } = this.filter;
    if (tokens.size > 0 && !tokens.has(row.token)) return NONE;
    if (row.amount === '' && row.kind !== Kind.erc721) return NONE;
    const out = this.wantsSide(row, 'out');
    const isIn = row.to !== row.from && this.wantsSide(row, 'in');
    if (out) return isIn ? BOTH : OUT;
    return isIn ? IN : NONE;
  }

  protected override noticeOf(event: TransferEvent, side: Direction): Notice {
    return event.signal(side);
  }

  private wantsSide(row: EventRow, direction: Direction): boolean {
    const { wallets, events } = this.filter;
    const wallet = direction === 'out' ? row.from : row.to;
    const named = wallets.size === 0 ? wallet !== ZERO_DIGITS : wallets.has(wallet);
    return named && (events.size === 0 || events.has(signalEvent(row, direction)));
  }
}
