/** Subscriptions to transfers: the filter of each kind, and the form of its notifications. */
import { isNativeKind } from '../../model/transfer-kind.ts';
import type { NotificationMethod, Subscription } from '../subscription.ts';
import type { HeldEvents, Holder } from './held-events.ts';
import { candidatesOf, type Direction, passesInitiated, signalsOf, wantsTrades } from './signals.ts';
import type { Form, TransferEvent } from './transfer-event.ts';
import type { DeliveryOptions, LastSeen, SignalFilter, WalletFilter } from './transfer-filter.ts';

const NONE: readonly Form[] = [];
const OUT: readonly Form[] = ['out'];
const IN: readonly Form[] = ['in'];
const BOTH: readonly Form[] = ['out', 'in'];
const NO_SIDES: readonly Direction[] = [];

/**
 * One subscription to transfers. Addresses are hex digits without prefix. It is offered the transfers of `wallets`; if
 * that is empty, those of the token contracts `tokens`, and if it asks for trades, those that end a trade of one of
 * these tokens; if both are empty, all transfers.
 */
export abstract class TransferSubscription implements Holder {
  readonly subscription: Subscription;
  readonly wallets: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
  /** First block to replay from the index; null for live transfers only. */
  fromBlock: number | null;
  /** The last block that the client saw before it reconnected. */
  readonly lastSeen: LastSeen | null;
  /** Whether to report how far the subscription is (progress.ts), and the last report: `at` by performance.now(). */
  readonly wantsProgress: boolean;
  reported: { hash: string; live: boolean; at: number } | null = null;
  abstract readonly method: NotificationMethod;
  /** Id of the first transfer offered, or to be offered, to the subscription. */
  firstId = 0;
  /** Id of the next transfer that the replay will offer. */
  nextId = 0;
  /** Highest block with a transfer that was pushed to the subscription and has since left the reorg buffer. */
  evictedBlock = -1;
  ended = false;
  /** Where events wait until complete. */
  held: HeldEvents<TransferSubscription> | null = null;

  constructor(
    subscription: Subscription,
    wallets: ReadonlySet<string>,
    tokens: ReadonlySet<string>,
    { fromBlock, lastSeen, progress }: DeliveryOptions,
  ) {
    this.subscription = subscription;
    this.wallets = wallets;
    this.tokens = tokens;
    this.fromBlock = fromBlock;
    this.lastSeen = lastSeen;
    this.wantsProgress = progress;
  }

  /** The number of events that wait until complete. */
  get heldCount(): number {
    return this.held?.countOf(this) ?? 0;
  }

  /** Pushes the notifications for a transfer, once complete. Returns false if there are none. */
  notify(event: TransferEvent): boolean {
    const forms = this.wantedForms(event);
    if (forms.length === 0) return false;
    event.learn(forms);
    if (this.held?.passes(this, event, forms) ?? true) this.pushNow(event, forms);
    return true;
  }

  /** Removals come in the opposite order. */
  pushNow(event: TransferEvent, forms: readonly Form[]): void {
    for (const form of event.removed ? forms.toReversed() : forms)
      this.subscription.push(event.notification(form));
  }

  /** Runs `push` behind the events that wait until complete. */
  inOrder(push: () => void): void {
    if (this.held === null) push();
    else this.held.inOrder(this, push);
  }

  /** Whether `notify` will push anything. Serialises the payload now unless it contains the time of the push. */
  prepare(event: TransferEvent): boolean {
    return this.wants(event);
  }

  /** Whether `notify` would push anything for the transfer. */
  wants(event: TransferEvent): boolean {
    return this.wantedForms(event).length > 0;
  }

  /** Whether notifications report the wallet's part in the transaction. */
  readonly examines: boolean = false;
  readonly examinesTrades: boolean = false;

  /** The sides of a transaction that must be examined before `notify`. */
  sidesOf(_event: TransferEvent): readonly Direction[] {
    return NO_SIDES;
  }

  protected wantedForms(event: TransferEvent): readonly Form[] {
    return this.ended || event.row.blockNumber < (this.fromBlock ?? 0) ? NONE : this.formsOf(event);
  }

  /**
   * The forms that pass the filter. They depend only on the transfer and its transaction, so a removal has the same
   * forms.
   */
  protected abstract formsOf(event: TransferEvent): readonly Form[];
}

/**
 * `wallet_transfers`: each transfer of a wallet once, and a transfer between two of the wallets once for each. A
 * self-transfer is `out` unless only incoming ones are wanted.
 */
export class WalletSubscription extends TransferSubscription {
  override readonly method = 'eth_subscription';
  private readonly filter: WalletFilter;

  constructor(subscription: Subscription, filter: WalletFilter) {
    super(subscription, filter.wallets, new Set(), filter);
    this.filter = filter;
  }

  override prepare(event: TransferEvent): boolean {
    const forms = this.wantedForms(event);
    for (const form of forms) event.notification(form);
    return forms.length > 0;
  }

  protected override formsOf({ row }: TransferEvent): readonly Form[] {
    const { direction, includeNative, includeTokens } = this.filter;
    if (!(isNativeKind(row.kind) ? includeNative : includeTokens)) return NONE;
    const out = direction !== 'in' && this.wallets.has(row.from);
    const isIn = direction !== 'out' && this.wallets.has(row.to) && !(out && row.from === row.to);
    if (out) return isIn ? BOTH : OUT;
    return isIn ? IN : NONE;
  }
}

/** Signals: events of the sender and the receiver of each transfer (signals.ts). */
export class SignalSubscription extends TransferSubscription {
  override readonly method = 'atlas_subscription';
  override readonly examines = true;
  override readonly examinesTrades: boolean;
  private readonly filter: SignalFilter;

  constructor(subscription: Subscription, filter: SignalFilter & DeliveryOptions) {
    super(subscription, filter.wallets, filter.tokens, filter);
    this.filter = filter;
    this.examinesTrades = wantsTrades(filter);
  }

  /** The sender of the transaction is known only now. */
  override pushNow(event: TransferEvent, forms: readonly Form[]): void {
    if (!this.filter.initiated) return super.pushNow(event, forms);
    event.settleParties();
    const passes = (form: Form) => typeof form !== 'object' || passesInitiated(this.filter, event, form);
    super.pushNow(event, forms.filter(passes));
  }

  override sidesOf(event: TransferEvent): readonly Direction[] {
    return candidatesOf(this.filter, event).map(({ direction }) => direction);
  }

  protected override formsOf(event: TransferEvent): readonly Form[] {
    return signalsOf(this.filter, event);
  }
}
