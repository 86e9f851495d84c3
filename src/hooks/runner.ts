/**
 * Delivers the events of one hook, in order, until it is paused or deleted. A slow receiver delays only its own hook.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { backoffMs, pause } from '../lib/async.ts';
import type { Logger } from '../log/logger.ts';
import { signalRecord } from '../streams/transfers/event-json.ts';
import type { TransactionParties } from '../streams/transfers/transaction-parties.ts';
import { bodyOf, type Delivery, deliveryOf, maxEvents, messageId, withdrawalOf } from './delivery.ts';
import {
  type Hook,
  type HookCursor,
  type HookStore,
  type RevocableEvents,
  type RevocablePart,
  redactUrl,
} from './hook-store.ts';
import type { CompiledFilter, Plan, PlannedEvent, Planner } from './planner.ts';
import type { Outcome, Sender } from './sender.ts';

/** How often the cursor is stored while there are no events, milliseconds. A restart scans again from there. */
const STORE_CURSOR_MS = 5_000;
/** How long to wait for the node to name the senders of the transactions, milliseconds. */
const PARTIES_MS = 1_500;
const METADATA_CHECK_MS = 50;

/** First and longest backoff after a failure, milliseconds. */
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 900_000;
/** A hook without success for this long is paused. */
const GIVE_UP_MS = 24 * 3_600_000;

interface RunnerContext {
  store: HookStore;
  planner: Planner;
  sender: Sender;
  parties: Pick<TransactionParties, 'settled'>;
  /** The filter of a hook. Throws RequestError if its list is gone. */
  compile(hook: Hook): CompiledFilter;
  /** Resolves when the index or the hooks have changed, or after `ms`. */
  waitForChange(ms: number): Promise<void>;
  onOutcome(kind: Outcome['kind'], events: number): void;
  log: Pick<Logger, 'warn'>;
}

export class HookRunner {
  readonly id: number;
  private readonly context: RunnerContext;
  private readonly signal: AbortSignal;
  /** Ahead of the stored cursor by blocks without events. */
  private cursor: HookCursor | null = null;
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
      this.cursor ??= hook.cursor;
      await this.step({ ...hook, cursor: this.cursor });
      await nextTurn(); // gives other hooks their turn
    }
    this.storeCursor();
  }

  private async step(hook: Hook): Promise<void> {
    if (hook.testRequestedAt !== null) return this.test(hook);
    const wait = (hook.nextAttemptAt ?? 0) - Date.now();
    if (wait > 0) return this.context.waitForChange(wait);
    const { planner, store } = this.context;
    if (store.isWithdrawing(hook.id) || this.wasAttemptReverted(hook)) return this.withdraw(hook);
    const plan = planner.plan(hook, this.context.compile(hook), maxEvents(hook.format));
    if (plan.kind === 'events') this.lag = plan.lag;
    switch (plan.kind) {
      case 'idle':
        return this.context.waitForChange(STORE_CURSOR_MS);
      case 'wait':
        return pause(METADATA_CHECK_MS, this.signal);
      case 'reorg':
        return this.withdraw(hook);
      case 'events':
        return plan.events.length === 0 ? this.advance(plan.cursor) : this.deliver(hook, plan);
    }
  }

  private advance(cursor: HookCursor): void {
    this.cursor = cursor;
    if (performance.now() - this.cursorStoredAt > STORE_CURSOR_MS) this.storeCursor();
  }

  private storeCursor(): void {
    this.cursorStoredAt = performance.now();
    const { store } = this.context;
    if (this.cursor !== null && store.find(this.id) !== undefined) store.advance(this.id, this.cursor);
  }

  private async deliver(
    hook: Hook,
    { events, cursor, finalUpTo }: Extract<Plan, { kind: 'events' }>,
  ): Promise<void> {
    if (events.some(({ event }) => event.awaitsParties()))
      await Promise.race([this.context.parties.settled(), pause(PARTIES_MS, this.signal)]);
    const deliveries = events.map(({ event, signal }) =>
      deliveryOf(hook.id, { ...signalRecord(event, signal, Date.now()) }),
    );
    const { store } = this.context;
    const revocable = revocableEvents(events, deliveries, finalUpTo);
    if (revocable.length > 0) store.saveAttempt(hook.id, hook.cursor, revocable);
    if (!(await this.send(hook, deliveries))) return;
    store.saveAccepted(hook.id, { cursor, count: deliveries.length, finalUpTo });
    this.cursor = cursor;
  }

  /** Whether a reorg removed a block from which a delivery was sent whose acceptance is unknown. */
  private wasAttemptReverted({ id, cursor }: Hook): boolean {
    const { planner, store } = this.context;
    const attempted = store.attemptedParts(id, cursor);
    if (attempted.length === 0) return false;
    return planner.read(() => attempted.some(({ block, hash }) => planner.hashAt(block) !== hash));
  }

  private async withdraw(hook: Hook): Promise<void> {
    const { planner, store } = this.context;
    const { deliveries, parts, cursor } = planner.read(() =>
      planWithdrawal(store, hook, planner, maxEvents(hook.format)),
    );
    if (deliveries.length > 0 && !(await this.send(hook, deliveries))) return;
    store.saveWithdrawn(hook.id, deliveries.length, parts, cursor);
    if (cursor !== null) this.cursor = cursor;
  }

  /** Returns whether the receiver accepted; handles every other outcome. */
  private async send(hook: Hook, deliveries: readonly Delivery[]): Promise<boolean> {
    const { store, sender, log, onOutcome } = this.context;
    const message = {
      id: messageId(deliveries),
      hook: hook.id,
      url: hook.url,
      secrets: [hook.secret],
      body: bodyOf(hook, deliveries),
    };
    const outcome = await sender.send(message, this.signal);
    if (this.signal.aborted) return outcome.kind === 'accepted';
    onOutcome(outcome.kind, deliveries.length);
    if (outcome.kind === 'accepted') return true;
    if (outcome.kind === 'gone') {
      log.warn({ hook: hook.id, name: hook.name }, 'the receiver answered 410; deleted its hook');
      store.delete(hook.id);
    } else this.recordFailure(hook, outcome);
    return false;
  }

  private recordFailure(hook: Hook, { error, retryAfterMs }: Extract<Outcome, { kind: 'failed' }>): void {
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
    store.pause(hook.id, `not accepted for 24 hours: ${error}`);
    log.warn(
      { hook: hook.id, name: hook.name, target, error },
      'paused a webhook whose deliveries were not accepted for 24 hours',
    );
  }

  private async test(hook: Hook): Promise<void> {
    const { store, sender } = this.context;
    const outcome = await sender.send(testMessage(hook), this.signal);
    const result = outcome.kind === 'failed' ? outcome.error : outcome.kind;
    store.saveTestResult(hook.id, `${new Date().toISOString()} ${result}`);
  }
}

/** A message that tests whether a receiver accepts: a delivery without events. */
export function testMessage(hook: Pick<Hook, 'id' | 'format' | 'chat' | 'url' | 'secret'>) {
  const text = `atlas-node: test of hook ${hook.id}`;
  const body =
    hook.format === 'json'
      ? JSON.stringify({ hook: hook.id, test: true, deliveries: [] })
      : JSON.stringify(
          { slack: { text }, discord: { content: text }, telegram: { chat_id: hook.chat, text } }[
            hook.format
          ],
        );
  const id = `test_${hook.id}_${Date.now()}`;
  return { hook: hook.id, id, url: hook.url, secrets: [hook.secret], body };
}

/** The events of each block that a reorg may still remove. */
function revocableEvents(
  events: readonly PlannedEvent[],
  deliveries: readonly Delivery[],
  finalUpTo: number,
): RevocableEvents[] {
  const blocks = new Map<number, { hash: string; events: Delivery[] }>();
  for (const [i, { event }] of events.entries()) {
    const { blockNumber, blockHash } = event.row;
    if (blockNumber <= finalUpTo) continue;
    const block = blocks.get(blockNumber) ?? { hash: blockHash, events: [] };
    block.events.push(deliveries[i]!);
    blocks.set(blockNumber, block);
  }
  return [...blocks].map(([block, { hash, events }]) => ({ block, hash: `0x${hash}`, events }));
}

interface Withdrawal {
  deliveries: Delivery[];
  /** The remaining events of the parts that the deliveries come from. */
  parts: { id: number; left: readonly object[] }[];
  /** The hook's position once this is accepted; null while more events are to be withdrawn. */
  cursor: HookCursor | null;
}

/** The next withdrawals of a hook, at most `limit`. Without deliveries, only the cursor remains to be set. */
function planWithdrawal(
  store: HookStore,
  hook: Pick<Hook, 'id' | 'cursor'>,
  chain: Pick<Planner, 'hashAt' | 'finalBlock'>,
  limit: number,
): Withdrawal {
  const parts = store.revocableParts(hook.id);
  const isGone = (part: RevocablePart) => part.withdrawn || chain.hashAt(part.block) !== part.hash;
  const gone = parts.filter(isGone);
  store.beginWithdrawal(gone.filter(({ withdrawn }) => !withdrawn)); // the block may be back before everything is withdrawn
  const deliveries: Delivery[] = [];
  const taken: Withdrawal['parts'] = [];
  for (const { id } of gone) {
    if (deliveries.length >= limit) break;
    const events = store.readRevocable(id);
    const kept = Math.max(0, events.length - (limit - deliveries.length));
    deliveries.push(
      ...events
        .slice(kept)
        .toReversed()
        .map((event) => withdrawalOf(hook.id, event)),
    );
    taken.push({ id, left: events.slice(0, kept) });
  }
  const isLast = taken.length === gone.length && taken.every(({ left }) => left.length === 0);
  return { deliveries, parts: taken, cursor: isLast ? cursorAfter(hook.cursor, parts, gone, chain) : null };
}

/**
 * The position from which the hook continues: its cursor, if only events after it were withdrawn; otherwise the highest
 * block that is certainly on both branches and whose events the hook all has.
 */
function cursorAfter(
  cursor: HookCursor,
  parts: readonly RevocablePart[],
  gone: readonly RevocablePart[],
  chain: Pick<Planner, 'hashAt' | 'finalBlock'>,
): HookCursor {
  const isOnChain = cursor.hash === null || chain.hashAt(cursor.block) === cursor.hash;
  if (isOnChain && gone.every(({ block }) => block > cursor.block)) return cursor;
  const last = parts.find((part) => part.block < cursor.block && !gone.includes(part));
  const floor = Math.min(chain.finalBlock(cursor.block), cursor.block - 1);
  const block = last === undefined ? floor : Math.max(floor, last.block);
  return { block, hash: chain.hashAt(block), position: null };
}
