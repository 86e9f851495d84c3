/**
 * Delivers the events of one hook, in order, until it is paused or deleted. A slow receiver delays only its own hook.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '../follower/trail.ts';
import { backoffMs, pause } from '../lib/async.ts';
import type { Logger } from '../log/logger.ts';
import { isFinal } from '../model/finality.ts';
import { signalRecord } from '../streams/transfers/signal-json.ts';
import { passesInitiated } from '../streams/transfers/signals.ts';
import type { TransactionParties } from '../streams/transfers/transaction-parties.ts';
import type { SignalFilter } from '../streams/transfers/transfer-filter.ts';
import { bodyOf, type Delivery, deliveryOf, maxEvents, messageId } from './delivery.ts';
import { redactUrl } from './hook-json.ts';
import { type Hook, type HookStore, lastPassed, signingSecrets } from './hook-store.ts';
import type { CompiledFilter, Plan, PlannedEvent, Planner } from './planner.ts';
import type { RevocableEvents } from './revocable-parts.ts';
import type { Message, Sender, SendOutcome } from './sender.ts';
import type { Vanished } from './settled-events.ts';
import { nextWithdrawal } from './withdrawal.ts';

/** A hook and how far it is. */
type Followed = Omit<Hook, 'cursor'> & { cursor: Position };

/** How often the cursor is stored while there are no events, milliseconds. A restart scans again from there. */
const STORE_CURSOR_MS = 5_000;
const METADATA_CHECK_MS = 50;
/** Delay before a retry while too many transactions are requested from the node, milliseconds. */
const PARTIES_CHECK_MS = 1_000;

/** First and longest backoff after a failure, milliseconds. */
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 900_000;
/** A hook without success for this long is paused. */
const GIVE_UP_MS = 24 * 3_600_000;
/** Fewer failures, which take hours at least, are no 24 hours: the clock was set ahead. */
const GIVE_UP_FAILURES = 20;

interface RunnerContext {
  store: HookStore;
  planner: Planner;
  sender: Sender;
  parties: Pick<TransactionParties, 'nextSettled'>;
  /** The filter of a hook. Throws RequestError if its list is gone. */
  compile(hook: Pick<Hook, 'id' | 'filter'>): CompiledFilter;
  /** Resolves when the index or the hooks have changed, or after `ms`. */
  waitForChange(ms: number): Promise<void>;
  onOutcome(kind: SendOutcome['kind'], events: number): void;
  log: Pick<Logger, 'warn'>;
}

export class HookRunner {
  readonly id: number;
  private readonly context: RunnerContext;
  private readonly signal: AbortSignal;
  /** Ahead of the stored cursor by blocks without events. */
  private cursor: Position | null = null;
  private cursorStoredAt = 0;
  /** Blocks by which the hook lags the index. */
  lag = 0;

  constructor(id: number, context: RunnerContext, signal: AbortSignal) {
    this.id = id;
    this.context = context;
    this.signal = signal;
  }

  /** Resolves when the hook is no longer active or the signal aborts. */
  async run(): Promise<void> {
    const { store } = this.context;
    for (;;) {
      const hook = store.find(this.id);
      if (this.signal.aborted || hook?.state !== 'active') break;
      this.cursor ??= this.loadCursor();
      if (this.cursor === null) break;
      await this.step({ ...hook, cursor: this.cursor });
      await nextTurn(); // gives other hooks their turn
    }
    this.storeCursor();
  }

  private loadCursor(): Position | null {
    const { store, planner } = this.context;
    const stored = store.position(this.id);
    if (stored === undefined) return null;
    const position = planner.withTrail(stored);
    if (position !== stored) store.advance(this.id, position);
    return position;
  }

  private async step(hook: Followed): Promise<void> {
    if (hook.testRequestedAt !== null) return this.test(hook);
    const wait = (hook.nextAttemptAt ?? 0) - Date.now();
    // A longer wait was planned by a clock that has been set back since.
    if (wait > 0 && wait <= RETRY_MAX_MS) return this.context.waitForChange(wait);
    const { planner, store } = this.context;
    const compiled = () => this.context.compile(hook);
    const plan = planner.plan(hook, store.parts, compiled, maxEvents(hook.format));
    switch (plan.kind) {
      case 'idle':
        return this.context.waitForChange(STORE_CURSOR_MS);
      case 'wait':
        return pause(METADATA_CHECK_MS, this.signal);
      case 'withdraw':
        return this.withdraw(hook, plan);
      case 'events':
        this.lag = plan.lag;
        return this.deliver(hook, plan, compiled().filter);
    }
  }

  private advance(cursor: Position): void {
    this.cursor = cursor;
    if (performance.now() - this.cursorStoredAt > STORE_CURSOR_MS) this.storeCursor();
  }

  private storeCursor(): void {
    this.cursorStoredAt = performance.now();
    const { store } = this.context;
    if (this.cursor !== null && store.find(this.id) !== undefined) store.advance(this.id, this.cursor);
  }

  private async deliver(
    hook: Followed,
    { events: planned, cursor, finalUpTo }: Extract<Plan, { kind: 'events' }>,
    filter: SignalFilter,
  ): Promise<void> {
    await this.nameParties(planned);
    if (this.signal.aborted) return;
    const events = planned.filter(({ event, signal }) => passesInitiated(filter, event, signal));
    const deliveries = events.map(({ event, signal }) =>
      deliveryOf(hook.id, signalRecord(event, signal, Date.now())),
    );
    const { store } = this.context;
    const vanished = this.vanished(hook, cursor, deliveries);
    if (vanished.deliveries.length > 0) {
      if (await this.send(hook, vanished.deliveries)) store.saveVanished(hook.id, vanished);
      return; // the events follow, once nothing is left to be withdrawn
    }
    if (events.length === 0) return this.advance(cursor);
    const keepsFinal = hook.format === 'json'; // a chat gets no final event again
    const sent = eventsByBlock(events, deliveries).filter(
      ({ number }) => keepsFinal || !isFinal(number, finalUpTo),
    );
    if (sent.length > 0) store.saveAttempt(hook.id, hook.cursor, sent);
    if (!(await this.send(hook, deliveries))) return;
    this.cursor = cursor; // first: while the disk is full, the receiver does not get the same events again and again
    store.saveAccepted(hook.id, { cursor, count: deliveries.length, finalUpTo, keepsFinal });
  }

  /** What a repair has removed of the blocks up to `next`, while nothing else of them is left to be sent. */
  private vanished(hook: Followed, next: Position, deliveries: readonly Delivery[]): Vanished {
    const { parts, settled } = this.context.store;
    const passed = { first: lastPassed(hook.cursor) + 1, last: lastPassed(next) };
    const sending = new Set(deliveries.map(({ deliveryId }) => deliveryId));
    const isSent = (id: string, block: number) =>
      parts.list(hook.id, block).some((part) => part.number === block && hasEvent(parts.events(part.id), id));
    const isAgain = (id: string, block: number) => sending.has(id) || isSent(id, block);
    return settled.vanished(hook.id, passed, isAgain, maxEvents(hook.format));
  }

  /** Resolves when the node has named the sender and receiver of every transaction, or cannot. */
  private async nameParties(events: readonly PlannedEvent[]): Promise<void> {
    const awaitsParties = ({ event }: PlannedEvent) => event.awaitsParties();
    while (!this.signal.aborted && events.filter(awaitsParties).length > 0)
      await Promise.race([this.context.parties.nextSettled(), pause(PARTIES_CHECK_MS, this.signal)]);
  }

  private async withdraw(
    hook: Followed,
    { gone, from, resume }: Extract<Plan, { kind: 'withdraw' }>,
  ): Promise<void> {
    const { store } = this.context;
    store.beginWithdrawal(gone.filter(({ withdrawn }) => !withdrawn));
    const { deliveries, parts, isLast } = nextWithdrawal(hook.id, gone, store.parts, maxEvents(hook.format));
    if (deliveries.length > 0 && !(await this.send(hook, deliveries))) return;
    store.saveWithdrawn(hook.id, deliveries.length, parts, isLast ? { cursor: resume, from } : null);
    if (isLast) this.cursor = resume;
  }

  /** Returns whether the receiver accepted; handles every other outcome. */
  private async send(hook: Followed, deliveries: readonly Delivery[]): Promise<boolean> {
    const { store, sender, log, onOutcome } = this.context;
    const message = { ...addressOf(hook), id: messageId(deliveries), body: bodyOf(hook, deliveries) };
    const outcome = await sender.send(message, this.signal);
    if (this.signal.aborted) return outcome.kind === 'accepted';
    onOutcome(outcome.kind, deliveries.length);
    if (outcome.kind === 'accepted') return true;
    if (store.find(hook.id)?.url !== hook.url) return false; // the hook has another receiver by now
    if (outcome.kind === 'gone') {
      log.warn({ hook: hook.id, name: hook.name }, 'the receiver answered 410; deleted its hook');
      store.delete(hook.id);
    } else this.recordFailure(hook, outcome);
    return false;
  }

  private recordFailure(
    hook: Followed,
    { error, retryAfterMs }: Extract<SendOutcome, { kind: 'failed' }>,
  ): void {
    const { store, log } = this.context;
    const now = Date.now();
    const delay = Math.max(retryAfterMs, backoffMs(hook.failures + 1, RETRY_MIN_MS, RETRY_MAX_MS));
    store.saveFailure(hook.id, error, now + delay);
    const target = redactUrl(hook.url);
    if (hook.failures === 0)
      log.warn(
        { hook: hook.id, name: hook.name, target, error },
        'a webhook delivery was not accepted; retrying',
      );
    if (hook.failingSince === null || now - hook.failingSince < GIVE_UP_MS) return;
    if (hook.failures < GIVE_UP_FAILURES) return;
    store.pause(hook.id, `not accepted for 24 hours: ${error}`);
    log.warn(
      { hook: hook.id, name: hook.name, target, error },
      'paused a webhook whose deliveries were not accepted for 24 hours',
    );
  }

  private async test(hook: Followed): Promise<void> {
    const { store, sender } = this.context;
    const outcome = await sender.send(testMessage(hook), this.signal);
    const result = outcome.kind === 'failed' ? outcome.error : outcome.kind;
    store.saveTestResult(hook.id, `${new Date().toISOString()} ${result}`);
  }
}

function addressOf(hook: Pick<Hook, 'id' | 'url' | 'secret' | 'oldSecrets'>) {
  return { hook: hook.id, url: hook.url, secrets: signingSecrets(hook) };
}

/** A message that tests whether a receiver accepts: a delivery without events. */
export function testMessage(
  hook: Pick<Hook, 'id' | 'format' | 'chat' | 'url' | 'secret' | 'oldSecrets'>,
): Message {
  const text = `atlas-node: test of hook ${hook.id}`;
  const body =
    hook.format === 'json'
      ? JSON.stringify({ hook: hook.id, test: true, deliveries: [] })
      : JSON.stringify(
          { slack: { text }, discord: { content: text }, telegram: { chat_id: hook.chat, text } }[
            hook.format
          ],
        );
  return { ...addressOf(hook), id: `test_${hook.id}_${Date.now()}`, body };
}

function hasEvent(events: readonly Record<string, unknown>[], id: string): boolean {
  return events.some(({ deliveryId }) => deliveryId === id);
}

/** The events of each block. */
function eventsByBlock(events: readonly PlannedEvent[], deliveries: readonly Delivery[]): RevocableEvents[] {
  const blocks = new Map<number, { hash: string; events: Delivery[] }>();
  for (const [i, { event }] of events.entries()) {
    const { blockNumber, blockHash } = event.row;
    const block = blocks.get(blockNumber) ?? { hash: blockHash, events: [] };
    block.events.push(deliveries[i]!);
    blocks.set(blockNumber, block);
  }
  return [...blocks].map(([number, { hash, events }]) => ({ number, hash: `0x${hash}`, events }));
}
