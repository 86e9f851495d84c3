/** Subscriptions to transfers: which they want, and in what form. */
import { ZERO_DIGITS } from '../lib/address.ts';
import type { EventRow } from '../query/events.ts';
import { isNative, Kind } from '../types.ts';
import { Notice } from './notice.ts';
import type { Subscription } from './subscription.ts';
import type { SignalFilter, WalletFilter } from './transfer-filter.ts';
import { type ChainFacts, type Direction, signalEvent, signalJson, transferJson } from './transfer-json.ts';

const NONE: readonly Notice[] = [];

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
  /** First transfer id that was not handed to it yet. */
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
    if (this.ended || event.row.blockNumber < this.fromBlock) return false;
    const notices = this.noticesOf(event);
    for (const notice of notices) this.subscription.push(notice);
    return notices.length > 0;
  }

  protected abstract noticesOf(event: TransferEvent): readonly Notice[];
}

/** `wallet_transfers`: the transfers of one wallet, each once; one to itself goes out unless only incoming ones are wanted. */
export class WalletWatcher extends Watcher {
  private readonly filter: WalletFilter;

  constructor(subscription: Subscription, filter: WalletFilter) {
    super(subscription, new Set([filter.wallet]), new Set(), filter.fromBlock);
    this.filter = filter;
  }

  protected override noticesOf(event: TransferEvent): readonly Notice[] {
    const { wallet, direction, native, tokens } = this.filter;
    const { row } = event;
    if (!(isNative(row.kind) ? native : tokens)) return NONE;
    if (row.from === wallet && direction !== 'in') return [event.transfer('out')];
    if (row.to === wallet && direction !== 'out') return [event.transfer('in')];
    return NONE;
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

  protected override noticesOf(event: TransferEvent): readonly Notice[] {
    const { row } = event;
    const { tokens } = this.filter;
    if (tokens.size > 0 && !tokens.has(row.token)) return NONE;
    if (row.amount === '' && row.kind !== Kind.erc721) return NONE;
    const notices: Notice[] = [];
    if (this.wants(row, 'out')) notices.push(event.signal('out'));
    if (row.to !== row.from && this.wants(row, 'in')) notices.push(event.signal('in'));
    return notices;
  }

  private wants(row: EventRow, direction: Direction): boolean {
    const { wallets, events } = this.filter;
    const wallet = direction === 'out' ? row.from : row.to;
    const named = wallets.size === 0 ? wallet !== ZERO_DIGITS : wallets.has(wallet);
    return named && (events.size === 0 || events.has(signalEvent(row, direction)));
  }
}
