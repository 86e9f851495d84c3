import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClientBudget } from '../../../src/lib/byte-budget.ts';
import { Backlog } from '../../../src/server/ws/backlog.ts';
import { property } from '../../support/fuzz/property.ts';

const BUDGET_BYTES = 5_000;

type ShortKind = 'notification' | 'answer';
type Message = { kind: ShortKind; bytes: number };

/** A budget that shows how much is reserved. */
function budgetOf(bytes: number): ClientBudget & { reserved: number } {
  return {
    reserved: 0,
    reserve(more) {
      if (this.reserved + more > bytes) return false;
      this.reserved += more;
      return true;
    },
    release(less) {
      assert.ok(less >= 0 && less <= this.reserved, `${less} of ${this.reserved} bytes released`);
      this.reserved -= less;
    },
    hold: () => true,
    letGo: () => undefined,
  };
}

/**
 * The same account kept as lists of messages: those in the queue, and those that the library holds at least in part.
 */
class Model {
  readonly budget = budgetOf(BUDGET_BYTES);
  readonly backlog = new Backlog(this.budget);
  private queue: Message[] = [];
  private held: Message[] = [];
  private largeBytes = 0;

  check(): void {
    const { backlog, budget } = this;
    const queued = sum(this.queue);
    const answers = sum(this.queue, 'answer');
    const heldAnswers = sum(this.held, 'answer');
    assert.equal(backlog.queuedBytes, queued + this.largeBytes);
    assert.equal(backlog.unsentBytes, sum(this.held));
    assert.equal(backlog.bytes, backlog.queuedBytes + backlog.unsentBytes);
    const reservedUnsent = budget.reserved - answers;
    assert.ok(reservedUnsent >= heldAnswers, 'an answer that the client lacks has no reservation');
    assert.ok(reservedUnsent <= backlog.unsentBytes, 'an answer that the client has is still reserved');
    const waiting = backlog.notificationBytes(false);
    assert.equal(waiting, queued - answers + backlog.unsentBytes - reservedUnsent);
    assert.equal(backlog.notificationBytes(true), queued - answers);
    assert.ok(waiting >= 0 && waiting <= sum(this.queue, 'notification') + sum(this.held, 'notification'));
  }

  enqueue(message: Message): void {
    const fits = message.kind === 'notification' || this.budget.reserved + message.bytes <= BUDGET_BYTES;
    assert.equal(this.backlog.enqueue(message.kind, message.bytes), fits);
    if (fits) this.queue.push(message);
  }

  enqueueLarge(bytes: number): void {
    this.backlog.enqueue('large', bytes);
    this.largeBytes += bytes;
  }

  takeFragment(bytes: number): void {
    const taken = Math.min(bytes, this.largeBytes);
    this.backlog.fragmentTaken(taken);
    this.largeBytes -= taken;
  }

  /** Hands messages to the library, which gets rid of all but the last `left` bytes. */
  send(count: number, left: number): void {
    for (const message of this.queue.splice(0, count)) {
      this.backlog.dequeue(message.kind, message.bytes);
      this.held.push(message);
    }
    this.drain(left);
  }

  drain(left: number): void {
    for (let surplus = sum(this.held) - left; surplus > 0; ) {
      const [first, ...rest] = this.held;
      if (first === undefined) break;
      const sent = Math.min(first.bytes, surplus);
      surplus -= sent;
      this.held = sent === first.bytes ? rest : [{ ...first, bytes: first.bytes - sent }, ...rest];
    }
    this.backlog.handedOver(sum(this.held));
  }

  clear(): void {
    this.backlog.clear();
    this.queue = [];
    this.largeBytes = 0;
    assert.equal(this.budget.reserved, 0, 'a reservation outlives the connection');
    assert.equal(this.backlog.bytes, sum(this.held));
  }
}

function sum(messages: readonly Message[], kind?: ShortKind): number {
  return messages.reduce((all, one) => (kind === undefined || kind === one.kind ? all + one.bytes : all), 0);
}

const bytes = fc.integer({ min: 1, max: 2_000 });
const kind = fc.constantFrom<ShortKind>('notification', 'answer');
const left = fc.oneof(fc.constant(0), bytes);

const STEPS = fc.array(
  fc.oneof(
    fc.tuple(kind, bytes).map(
      ([of, n]) =>
        (model: Model) =>
          model.enqueue({ kind: of, bytes: n }),
    ),
    bytes.map((n) => (model: Model) => model.enqueueLarge(n)),
    bytes.map((n) => (model: Model) => model.takeFragment(n)),
    fc.tuple(fc.integer({ min: 1, max: 4 }), left).map(
      ([n, rest]) =>
        (model: Model) =>
          model.send(n, rest),
    ),
    left.map((rest) => (model: Model) => model.drain(rest)),
  ),
  { maxLength: 40 },
);

const ACCOUNT = property('messages queued, sent and drained', STEPS, (steps) => {
  const model = new Model();
  for (const step of steps) {
    step(model);
    model.check();
  }
  model.clear();
});

test('whatever is queued, sent and drained, the account agrees with the messages that wait', () => {
  ACCOUNT.check({ runs: 1_000, seed: 1 });
});
