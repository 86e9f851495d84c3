/** The options of a call to the node, and what becomes of its answer. */
import type { ByteBudget } from '../lib/byte-budget.ts';
import type { UpstreamError } from '../lib/errors.ts';
import type { TurnBudget } from '../lib/limits.ts';
import type { NodeHttp } from '../node/http/streaming-client.ts';
import type { AnchorBlocks, AnchoredTail } from './anchored-call.ts';
import type { Call, Waiter } from './call.ts';
import type { CircuitBreaker, Failover } from './failover.ts';
import type { HoldOff } from './hold-off.ts';

export interface NodeCallDeps {
  node: Pick<NodeHttp, 'post'>;
  /** Absent for a single node. */
  failover: Failover | undefined;
  breaker: CircuitBreaker;
  holdOff: HoldOff;
  budget: ByteBudget;
  /** Limits the bytes of long answers per turn to BUFFERED_PER_TURN. */
  turns: TurnBudget;
  /** Called for each failed attempt; `ofNode`: the node is at fault, not the request. */
  onFailure(call: Call, error: UpstreamError, ofNode: boolean): void;
  /** Called after a batch, with whether the node answered its calls. If not, the node may not accept batches. */
  onBatch(answered: boolean): void;
}

export interface NodeCallOptions {
  /** An answer up to this size is buffered even if its only consumer accepts pieces, because it may be cached. */
  bufferBytes: number;
  /** Called with the complete answer before the consumers get it. Throws UpstreamError `malformed` for invalid JSON. */
  onTail(tail: Buffer, facts: TailFacts): void;
  /** Whether `onTail` will probably require valid JSON. */
  needsJson: boolean;
  /** No more consumers may join. Called once, before any consumer is served. */
  onSealed(): void;
  /** The budget has no room to buffer the answer for all consumers: these need calls of their own. */
  onEvicted(waiters: readonly Waiter[]): void;
  /** Sends the call with anchors. If the batch fails in any way, the call is sent alone. */
  anchored?: AnchorOptions | undefined;
}

export interface AnchorOptions {
  blocks: AnchorBlocks;
  /** Called in place of `onTail`. Returns whether the answer also holds for those that joined in flight. */
  onAnswer(answer: AnchoredTail): boolean;
  /** Use a new socket: behind a load balancer, a used one may lead to the same node again. */
  newSocket?: boolean;
}

export interface TailFacts {
  /** Known to be valid JSON. */
  isJson: boolean;
  /** The memory is not reused after the call. */
  mayRetain: boolean;
}
