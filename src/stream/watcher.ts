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

/** A transfer on its way to subscribers. Each of its payloads is serialised once, when first needed. */
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
 * One subscription to transfers. Addresses are hex digits without prefix. It is handed the transfers of `wallets`; if
 * that is empty, those of the token contracts `tokens`; if both are empty, all.
 */
export abstract class Watcher {
  readonly subscription: Subscription;
  readonly wallets: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
  /** Transfers of lower blocks are not wanted. */
  readonly fromBlock: number;
  /** First transfer id that was, or will be, handed to it. */
  first = 0;
  /** First transfer id that the replay has not handed to it. */
  next = 0;
  /** Highest block with a transfer that was pushed to it and since forgotten (PushedTransfers). */
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

  /** Pushes the notices it wants for the transfer; false when it wants none. */
  tell(event: TransferEvent): boolean {
    const sides = this.wantedSidesOf(event.row);
    for (const side of sides) this.subscription.push(this.noticeOf(event, side));
    return sides.length > 0;
  }

  /** Whether `tell` would push anything for the transfer. */
  wants(row: EventRow): boolean {
    return this.wantedSidesOf(row).length > 0;
  }

  private wantedSidesOf(row: EventRow): readonly Direction[] {
    return this.ended || row.blockNumber < this.fromBlock ? NONE : this.sidesOf(row);
  }

  /** The sides that pass its filter. Depends only on the transfer, so it is the same when that is removed. */
  protected abstract sidesOf(row: EventRow): readonly Direction[];

  protected abstract noticeOf(event: TransferEvent, side: Direction): Notice;
}

/** `wallet_transfers`: the transfers of one wallet, each once; one to itself is outgoing unless only incoming ones are wanted. */
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
 * Signals: a transfer is one event for its sender and one for its receiver. A transfer to oneself is only an outgoing
 * one, since it funds nobody; one of no amount makes nobody a buyer; the zero address counts only when it is named.
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
