/** Subscriptions to transfers: the filter of each kind, and the form of its notifications. */
import { ZERO_DIGITS } from '../../model/address.ts';
import { isNativeKind, TransferKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import { Notification } from '../notification.ts';
import type { Subscription } from '../subscription.ts';
import type { SignalFilter, WalletFilter } from './transfer-filter.ts';
import { type ChainInfo, type Direction, signalEvent, signalJson, transferJson } from './transfer-json.ts';

const NONE: readonly Direction[] = [];
const OUT: readonly Direction[] = ['out'];
const IN: readonly Direction[] = ['in'];
const BOTH: readonly Direction[] = ['out', 'in'];

/** A transfer to push. Each of its payloads is serialised once, on first use. */
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
 * One subscription to transfers. Addresses are hex digits without prefix. It is offered the transfers of `wallets`; if
 * that is empty, those of the token contracts `tokens`; if both are empty, all of them.
 */
export abstract class TransferSubscription {
  readonly subscription: Subscription;
  readonly wallets: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
  /** First block to replay from the index; null for live transfers only. */
  readonly fromBlock: number | null;
  /** First transfer id that was, or will be, offered to it. */
  firstId = 0;
  /** First transfer id that the replay has not offered to it yet. */
  nextId = 0;
  /** Highest block with a transfer that was pushed to it and since evicted from the reorg buffer. */
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

  /** Pushes its notifications for the transfer; false if it wants none. */
  notify(event: TransferEvent): boolean {
    const directions = this.wantedDirections(event.row);
    for (const direction of directions) this.subscription.push(this.notificationOf(event, direction));
    return directions.length > 0;
  }

  /** Whether `notify` will push anything. Serialises the payload now unless it contains the time of the push. */
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

  /** The directions that pass its filter. Depends only on the transfer, so a removal has the same ones. */
  protected abstract directionsOf(row: EventRow): readonly Direction[];

  protected abstract notificationOf(event: TransferEvent, direction: Direction): Notification;
}

/** `wallet_transfers`: each transfer of a wallet once. A self-transfer is `out` unless only incoming ones are wanted. */
export class WalletSubscription extends TransferSubscription {
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
 * Signals: one event for a transfer's sender and one for its receiver. A self-transfer is only `out`, since it funds
 * nobody; transfers of zero amount are skipped; the zero address counts only if the filter names it.
 */
export class SignalSubscription extends TransferSubscription {
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
