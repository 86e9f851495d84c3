/** One call to the node for one or more consumers, in as many attempts as it takes. */

import { UpstreamError } from '../lib/errors.ts';
import { guarded, reportFailure } from '../lib/guard.ts';
import { GATEWAY_STATUSES, REFUSAL_STATUSES } from '../node/node-errors.ts';
import { isBatchAnswer, readAnchored } from './anchored-call.ts';
import { type Call, type CallConsumer, type CallResult, Waiter } from './call.ts';
import { errorResult, failureResult, NO_ROOM, type RpcError, throttledResult } from './errors.ts';
import { isUnsent, mayMoveRead } from './failover.ts';
import { type Throttle, throttleError, WAIT_MS } from './hold-off.ts';
import { methodKindOf } from './methods.ts';
import { type AttemptKind, type AttemptOwner, NodeAttempt } from './node-attempt.ts';
import type { AnchorOptions, NodeCallDeps, NodeCallOptions, TailFacts } from './node-call-options.ts';
import { rateLimitIn, UNTIMED } from './rate-limit.ts';
import { errorOf, readNodeAnswer } from './response-tail.ts';

/** Bytes of long answers buffered per turn of the event loop, over all calls. */
export const BUFFERED_PER_TURN = 256 * 1024;

/** Statuses that do not show whether the node accepts batches. */
const UNAVAILABLE: ReadonlySet<number> = new Set([...GATEWAY_STATUSES, ...REFUSAL_STATUSES]);

const TOO_LARGE = failureResult(new UpstreamError('too-large', 'an answer beyond the buffer limit'));

/** The call waits until a node is usable, or until the node in use may be called again. */
interface WaitForNode {
  cancel(): void;
}

/**
 * The state of a call: `new -> NodeAttempt -> settled`. An attempt may be followed by another, with or without a wait
 * for a node between them. `settled`: the consumers are served, or have all left.
 */
type CallState = 'new' | NodeAttempt | WaitForNode | 'settled';

export class NodeCall implements AttemptOwner {
  readonly call: Call;
  /** Id of the key that called first. The call counts against that key's share of sockets and memory. */
  readonly client: number;
  /** By performance.now(). */
  readonly startedAt = performance.now();
  readonly isRead: boolean;
  private readonly deps: NodeCallDeps;
  private readonly options: NodeCallOptions;
  private readonly waiters: Waiter[] = [];
  private state: CallState = 'new';

  constructor(call: Call, client: number, deps: NodeCallDeps, options: NodeCallOptions) {
    this.call = call;
    this.client = client;
    this.isRead = methodKindOf(call.method).isRead;
    this.deps = deps;
    this.options = options;
  }

  /** Whether the answer is expected to come with anchors. */
  get isAnchored(): boolean {
    return this.state instanceof NodeAttempt && this.state.isAnchored;
  }

  /** Whether the call is still queued and so not sent to the node. */
  get isQueued(): boolean {
    return this.state instanceof NodeAttempt && this.state.isQueued;
  }

  get bufferBytes(): number {
    return this.options.bufferBytes;
  }

  get needsJson(): boolean {
    return this.options.needsJson || this.consumersRequireJson;
  }

  private get consumersRequireJson(): boolean {
    return this.waiters.some(({ consumer }) => consumer.requiresValidJson);
  }

  join(consumer: CallConsumer, client: number): Waiter {
    const waiter = new Waiter(consumer, client, this);
    this.waiters.push(waiter);
    return waiter;
  }

  adopt(waiter: Waiter): void {
    waiter.call = this;
    this.waiters.push(waiter);
  }

  /**
   * Sends the call unless the node is held off or the breaker is open. A write uses a new socket: on a reused one it
   * could be lost without a trace, and a write is never sent twice.
   */
  start(): void {
    const { anchored } = this.options;
    const { holdOff, failover } = this.deps;
    const now = performance.now();
    const throttle = holdOff.at(failover?.node, now);
    if (throttle !== null && !this.hasOtherNode(failover?.node)) {
      if (this.state !== 'new' || throttle.leftMs > WAIT_MS)
        return this.failWaiters(throttledResult(throttle));
      const resume = guarded('call to a held-off node', () => this.start());
      const timer = setTimeout(resume, Math.ceil(throttle.leftMs) + 1); // timers may fire up to 1 ms early
      return this.enter({ cancel: () => clearTimeout(timer) });
    }
    if (this.deps.breaker.admits(now)) {
      this.send(anchored ?? 'alone', !this.isRead || anchored?.newSocket === true);
    } else {
      const error = new UpstreamError('connection', 'the node has failed repeatedly');
      if (!this.waitForNode(error, false)) this.failWaiters(failureResult(error));
    }
  }

  /** Removes a consumer. Without consumers a read is aborted; a write continues, because it takes effect either way. */
  leave(waiter: Waiter): void {
    const at = this.waiters.indexOf(waiter);
    if (at < 0) return;
    this.waiters.splice(at, 1);
    if (this.waiters.length > 0 || !this.isRead) return;
    const { state } = this;
    const wasSealed = state instanceof NodeAttempt && state.isStreaming;
    if (typeof state === 'object' && !(state instanceof NodeAttempt)) state.cancel();
    this.enter('settled');
    if (!wasSealed) this.options.onSealed();
  }

  resume(): void {
    if (this.state instanceof NodeAttempt) this.state.resume();
  }

  streamingConsumer(): CallConsumer | null {
    const [only, another] = this.waiters;
    return only !== undefined && another === undefined && only.consumer.canStream ? only.consumer : null;
  }

  onStream(): void {
    this.options.onSealed();
  }

  onStreamEnd(last: Buffer | null): void {
    this.enter('settled');
    if (last !== null) this.deps.breaker.succeeded();
    this.settle((consumer) => (last === null ? consumer.abort() : consumer.end(last)));
  }

  onAnswer(attempt: NodeAttempt, body: Buffer, facts: TailFacts): void {
    const { kind, status, throttle } = attempt;
    if (throttle !== null) return this.handleThrottle(attempt, throttle, this.errorIn(body, status));
    if (typeof kind === 'object' && !UNAVAILABLE.has(status)) return this.serveAnchored(attempt, body, kind);
    let tail: Buffer;
    try {
      const mustBeJson = attempt.isOpenEnded || this.consumersRequireJson;
      tail = readNodeAnswer(body, { method: this.call.method, status, isJson: facts.isJson, mustBeJson });
      this.options.onTail(tail, facts);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return this.handleFailure(attempt, error, error.reason !== 'http' || GATEWAY_STATUSES.has(status));
    }
    this.serve(tail, facts.mayRetain, status);
  }

  onFailure(attempt: NodeAttempt, error: UpstreamError): void {
    this.handleFailure(attempt, error, error.reason !== 'timeout' && error.reason !== 'queue-full');
  }

  keepOneConsumer(): void {
    const others = this.waiters.splice(1);
    if (others.length > 0) this.options.onEvicted(others);
  }

  onOverflow(why: 'too-large' | 'no-room'): void {
    this.failWaiters(why === 'too-large' ? TOO_LARGE : errorResult(NO_ROOM));
  }

  sendAlone(): void {
    this.send('alone', false);
  }

  private send(kind: AttemptKind, newSocket: boolean): void {
    if (this.state instanceof NodeAttempt) this.state.close(); // first, so that the next one can have its connection
    this.state = new NodeAttempt(this, this.deps, kind, newSocket);
  }

  private enter(state: WaitForNode | 'settled'): void {
    if (this.state instanceof NodeAttempt) this.state.close();
    this.state = state;
  }

  private serveAnchored(attempt: NodeAttempt, body: Buffer, { blocks, onAnswer }: AnchorOptions): void {
    const answer = attempt.status === 200 ? readAnchored(body, blocks) : null;
    this.deps.onBatch(answer !== null || isBatchAnswer(body));
    if (answer === null) return this.sendAlone();
    const limited = rateLimitIn(answer.tail); // asked alone, the node would have answered 429
    if (limited !== null) return this.handleThrottle(attempt, UNTIMED, limited);
    if (!onAnswer(answer)) this.keepOneConsumer();
    this.serve(answer.tail, true, attempt.status);
  }

  /** The node's error in an answer with another status than 200. */
  private errorIn(body: Buffer, status: number): RpcError | null {
    try {
      return errorOf(
        readNodeAnswer(body, { method: this.call.method, status, isJson: false, mustBeJson: true }),
      );
    } catch (error) {
      if (error instanceof UpstreamError) return null;
      throw error;
    }
  }

  /** The node refused the call unexecuted, so another node may get even a write. */
  private handleThrottle(attempt: NodeAttempt, throttle: Throttle, ofNode: RpcError | null): void {
    const { breaker, holdOff, onFailure } = this.deps;
    onFailure(this.call, throttleError(this.call.method, throttle), false);
    breaker.succeeded();
    holdOff.begin(attempt.node, throttle.status, attempt.retryAfter, performance.now());
    if (attempt.kind !== 'repeated' && this.hasOtherNode(attempt.node)) this.send('repeated', true);
    else this.failWaiters(throttledResult(throttle, ofNode));
  }

  /** Whether another node than this one, which limits its calls, is in use or takes over now. */
  private hasOtherNode(node: number | undefined): boolean {
    const { failover, holdOff } = this.deps;
    if (failover === undefined) return false;
    if (failover.node === node) failover.noteErrors('it limits its calls');
    return failover.node !== node && holdOff.at(failover.node, performance.now()) === null;
  }

  private serve(tail: Buffer, mayRetain: boolean, httpStatus: number): void {
    this.enter('settled');
    this.deps.breaker.succeeded();
    this.options.onSealed();
    this.settle((consumer) => consumer.send(tail, 200, mayRetain, undefined, httpStatus));
  }

  private handleFailure(attempt: NodeAttempt, error: UpstreamError, mayRetry: boolean): void {
    const { breaker, onFailure } = this.deps;
    const ofNode = attempt.isOfNode(error);
    onFailure(this.call, error, ofNode);
    if (ofNode) breaker.failed(performance.now());
    else if (error.reason === 'http') breaker.succeeded();
    if (attempt.isStreaming) {
      this.enter('settled');
      this.settle((consumer) => consumer.abort());
    } else if (mayRetry && attempt.kind !== 'repeated' && !breaker.isOpen && this.isRead) {
      this.send('repeated', true);
    } else if (!this.waitForNode(error, attempt.wasSent)) {
      this.failWaiters(failureResult(error));
    }
  }

  /** With several nodes: waits for a usable node, unless the call's time is up or it may have taken effect. */
  private waitForNode(error: UpstreamError, wasSent: boolean): boolean {
    const { failover } = this.deps;
    if (failover === undefined || !(this.isRead ? mayMoveRead(error) : isUnsent(error, wasSent)))
      return false;
    const cancel = failover.awaitNode(this.startedAt, () => this.send('repeated', true));
    if (cancel === null) return false;
    this.enter({ cancel });
    return true;
  }

  private failWaiters({ tail, status, retryAfter }: CallResult): void {
    this.enter('settled');
    this.options.onSealed();
    this.settle((consumer) => consumer.send(tail, status, true, retryAfter));
  }

  /** Ends the wait of all clients. A failure of one must not leave the others without an answer. */
  private settle(answer: (consumer: CallConsumer) => void): void {
    for (const { consumer } of this.waiters.splice(0)) {
      try {
        answer(consumer);
      } catch (error) {
        reportFailure('answer to a call', error);
      }
    }
  }
}
