/** Subscriptions to transfers: which they want, and in what form. */
import { ZERO_DIGITS } from '../lib/address.ts';
import type { EventRow } from '../query/events.ts';
import { isNativeKind, TransferKind } from '../types.ts';
import { Notification } from './notification.ts';
import type { Subscription } from './subscription.ts';
import type { SignalFilter, WalletFilter } from './transfer-filter.ts';
import { type ChainInfo, type Direction, signalEvent, signalJson, transferJson } from './transfer-json.ts';

const NONE: readonly Direction[] = [];
const OUT: readonly Direction[] = ['out'];
const IN: readonly Direction[] = ['in'];
const BOTH: readonly Direction[] = ['out', 'in'];

/** A transfer on its way to subscribers. Each of its payloads is serialised once, when first needed. */
export class TransferEvent {
  readonly row: EventRow;
  private readonly removed: boolean;
  private readonly chainInfo: ChainInfo;
  private readonly walletNotifications: Partial<Record<Direction, Notification>> = {};
  private readonly signalNotifications: Partial<Record<Direction, Notification>> = {};

  constructor(row: EventRow, removed: boolean, chainInfo: ChainInfo) {
    this.row = row;
    this.removed = removed;
    this.chainInfo = chainInfo;
  }

  walletNotification(direction: Direction): Notification {
    this.walletNotifications[direction] ??= new Notification(
      'eth_subscription',
      transferJson(this.row, direction, this.removed, this.chainInfo),
    );
    return this.walletNotifications[direction];
  }

  signalNotification(direction: Direction): Notification {
    this.signalNotifications[direction] ??= new Notification(
      'atlas_subscription',
      signalJson(this.row, direction, this.removed, this.chainInfo, Date.now()),
    );
    return this.signalNotifications[direction];
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
  /** Transfers of lower blocks are not wanted, those of the index from here on are. Null: only those to come. */
  readonly fromBlock: number | null;
  /** First transfer id that was, or will be, handed to it. */
  firstId = 0;
  /** First transfer id that the replay has not handed to it. */
  nextId = 0;
  /** Highest block with a transfer that was pushed to it and since evicted from PushedTransfers. */
  evictedBlock = -1;
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
    this.fromBlock = fromBlock;
  }

  /** Pushes the notifications it wants for the transfer; false when it wants none. */
  notify(event: TransferEvent): boolean {
    const directions = this.wantedDirections(event.row);
    for (const direction of directions) this.subscription.push(this.notificationOf(event, direction));
    return directions.length > 0;
  }

  /** Whether `notify` will push anything. Serialises it now, unless it depends on the time of the push. */
  prepare(event: TransferEvent): boolean {
    return this.wants(event.row);
  }

  /** Whether `notify` would push anything for the transfer. */
  wants(row: EventRow): boolean {
    return this.wantedDirections(row).length > 0;
  }

  protected wantedDirections(row: EventRow): readonly Direction[] {
    return this.ended || row.blockNumber < (this.fromBlock ?? 0) ? NONE : this.directionsOf(row);
  }

  /** The directions that pass its filter. Depends only on the transfer, so it is the same when that is removed. */
  protected abstract directionsOf(row: EventRow): readonly Direction[];

  protected abstract notificationOf(event: TransferEvent, direction: Direction): Notification;
}

/** `wallet_transfers`: the transfers of one wallet, each once; one to itself is outgoing unless only incoming ones are wanted. */
export class WalletWatcher extends Watcher {
  private readonly filter: WalletFilter;

  constructor(subscription: Subscription, filter: WalletFilter) {
    super(subscription, new Set([filter.wallet]), new Set(), filter.fromBlock);
    this.filter = filter;
  }

  override prepare(event: TransferEvent): boolean {
    const directions = this.wantedDirections(event.row);
    for (const direction of directions) event.walletNotification(direction);
    return directions.length > 0;
  }

  protected override directionsOf(row: EventRow): readonly Direction[] {
    const { wallet, direction, includeNative, includeTokens } = this.filter;
    if (!(isNativeKind(row.kind) ? includeNative : includeTokens)) return NONE;
    if (row.from === wallet && direction !== 'in') return OUT;
    if (row.to === wallet && direction !== 'out') return IN;
    return NONE;
  }

  protected override notificationOf(event: TransferEvent, direction: Direction): Notification {
    return event.walletNotification(direction);
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

  protected override directionsOf(row: EventRow): readonly Direction[] {
    const { tokens } = this.filter;
    if (tokens.size > 0 && !tokens.has(row.token)) return NONE;
    if (row.amount === '' && row.kind !== TransferKind.erc721) return NONE;
    const out = this.wantsDirection(row, 'out');
    const isIn = row.to !== row.from && this.wantsDirection(row, 'in');
    if (out) return isIn ? BOTH : OUT;
    return isIn ? IN : NONE;
  }

  protected override notificationOf(event: TransferEvent, direction: Direction): Notification {
    return event.signalNotification(direction);
  }

  private wantsDirection(row: EventRow, direction: Direction): boolean {
    const { wallets, events } = this.filter;
    const wallet = direction === 'out' ? row.from : row.to;
    const named = wallets.size === 0 ? wallet !== ZERO_DIGITS : wallets.has(wallet);
    return named && (events.size === 0 || events.has(signalEvent(row, direction)));
  }
}
