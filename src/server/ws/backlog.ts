/**
 * Counts the bytes that wait for the client of one WebSocket. A message is queued, then handed to the library, which
 * may hold it until the system accepts it. Answers reserve their bytes in the budget of their key until then; large
 * answers reserve their own memory.
 */
import type { ClientBudget } from '../../lib/byte-budget.ts';

export type MessageKind = 'notification' | 'answer' | 'large';

export class Backlog {
  private readonly answerBudget: ClientBudget;
  /** Bytes in the queue. A fragment of a large answer counts until the client has it. */
  private readonly queued: Record<MessageKind, number> = { notification: 0, answer: 0, large: 0 };
  /** Bytes that the library holds, and at most how many of them are of answers. */
  private unsent = 0;
  private unsentAnswers = 0;

  constructor(answerBudget: ClientBudget) {
    this.answerBudget = answerBudget;
  }

  get queuedBytes(): number {
    return this.queued.notification + this.queued.answer + this.queued.large;
  }

  get unsentBytes(): number {
    return this.unsent;
  }

  /** Bytes waiting for the client. */
  get bytes(): number {
    return this.queuedBytes + this.unsent;
  }

  /** `isFragmentUnsent`: what the library holds is of a large answer. */
  notificationBytes(isFragmentUnsent: boolean): number {
    return this.queued.notification + (isFragmentUnsent ? 0 : this.unsent - this.unsentAnswers);
  }

  /** Returns false, and adds nothing, when the budget has no room for an answer. */
  enqueue(kind: MessageKind, bytes: number): boolean {
    if (kind === 'answer' && !this.answerBudget.reserve(bytes)) return false;
    this.queued[kind] += bytes;
    return true;
  }

  /** The client has a fragment of a large answer. */
  fragmentTaken(bytes: number): void {
    this.queued.large -= bytes;
  }

  /** The library gets a message. Call `handedOver` before the next look at the account. */
  dequeue(kind: Exclude<MessageKind, 'large'>, bytes: number): void {
    this.queued[kind] -= bytes;
    if (kind === 'answer') this.unsentAnswers += bytes;
  }

  /** The library now holds this many bytes. */
  handedOver(unsent: number): void {
    this.unsent = unsent;
    this.keepAnswers(Math.min(this.unsentAnswers, unsent));
  }

  /** Drops the queue and returns all reservations. Only what the library holds is left. */
  clear(): void {
    this.answerBudget.release(this.queued.answer);
    this.queued.notification = 0;
    this.queued.answer = 0;
    this.queued.large = 0;
    this.keepAnswers(0);
  }

  private keepAnswers(bytes: number): void {
    if (bytes < this.unsentAnswers) this.answerBudget.release(this.unsentAnswers - bytes);
    this.unsentAnswers = bytes;
  }
}
