/** Answers a call from a cache, by joining an equal call in flight, or from the node. */

import type { AnswerProof, FinalityWatch } from '../chain/finality-watch.ts';
import type { ByteBudget } from '../lib/byte-budget.ts';
import type { ByteSource } from '../lib/byte-stream.ts';
import { UpstreamError } from '../lib/errors.ts';
import { RepeatLimit, TurnBudget } from '../lib/limits.ts';
import type { Logger } from '../log/logger.ts';
import { hasFinal, isFinal, isProvenFinal } from '../model/finality.ts';
import type { NodeHttp } from '../node/http/streaming-client.ts';
import type { BlockHeader } from '../node/methods.ts';
import type { AnchorBlocks, AnchoredTail } from './anchored-call.ts';
import { AnswerCache, CacheDoorkeeper } from './answer-cache.ts';
import { mayCache } from './answer-checks.ts';
import { type BlockKey, blockKeyOf, blockNumberOf } from './cache-policy.ts';
import {
  type Call,
  type CallConsumer,
  type CallResult,
  callKey,
  createCall,
  type RequestFn,
  SETTLED,
} from './call.ts';
import { collectAnswer } from './collect-answer.ts';
import { CircuitBreaker, type Failover, headShown } from './failover.ts';
import { HEAD_TTL_MS, HeadCache, headMethodOf } from './head-cache.ts';
import { HoldOff } from './hold-off.ts';
import type { RpcMeter } from './meter.ts';
import { type MethodKind, methodKindOf, methodLabel } from './methods.ts';
import { BUFFERED_PER_TURN, NodeCall } from './node-call.ts';
import type { AnchorOptions, NodeCallDeps, NodeCallOptions, TailFacts } from './node-call-options.ts';
import { checkResponseTail, isResult } from './response-tail.ts';

/** The settings of the `[rpc]` table that concern single calls. */
export interface GatewaySettings {
  cache_mb: number;
  merge: boolean;
  cache: boolean;
  local: boolean;
}

interface GatewayOptions {
  node: Pick<NodeHttp, 'post'>;
  /** Absent for a single node. */
  failover: Failover | undefined;
  finality: FinalityWatch;
  settings: GatewaySettings;
  budget: ByteBudget;
  meter: Pick<RpcMeter, 'recordCacheHit' | 'recordMerged' | 'recordHeadCacheHit' | 'setCacheBytes'>;
  log: Logger;
}

/** Largest answer in the head cache, bytes. */
const MAX_HEAD_BYTES = 256 * 1024;

/** The client id of this server's own calls for all clients. Key ids start at 1. */
const INTERNAL_CLIENT = 0;

/** Shortest time between two log lines about failures that do not implicate the node, milliseconds. */
const REFUSAL_LOG_MS = 1_000;

/** How long to send no batches after the node refused one, milliseconds. */
const NO_BATCH_MS = 60_000;

/** Largest answer that must come with anchors, bytes. */
const MAX_ANCHORED_BYTES = 32 * 2 ** 20;

/** A result, with the anchor blocks of the answering node. */
interface AnchoredResult {
  answer: CallResult;
  /** Proven by the answering node's finalized block. */
  isFinal: boolean;
  /**
   * Headers of the requested anchors; null when the answer came without anchors, because the node accepts no batches.
   */
  headers: readonly (BlockHeader | null)[] | null;
}

/** Makes a call together with header requests for its anchors. Rejects only with the signal's reason. */
type AnchoredRequestFn = (
  method: string,
  params: readonly unknown[],
  anchors: AnchorBlocks & { newSocket?: boolean },
  signal?: AbortSignal,
) => Promise<AnchoredResult>;

/** A read, and how its answer may be shared and cached. */
interface Plan {
  call: Call;
  /** Id of the calling key. */
  client: number;
  key: string;
  /** Its name in the head cache, or null. */
  headName: string | null;
  /** The block that its answer depends on; null if the answer must not be cached. */
  block: BlockKey | null;
  /** The highest block known to be final at the time of the call; -1 for none. */
  finalized: number;
  /** Gateway.chain at the time of the call. */
  chain: number;
  now: number;
}

export class Gateway {
  private readonly settings: GatewaySettings;
  private readonly meter: GatewayOptions['meter'];
  private readonly deps: NodeCallDeps;
  private readonly headCache = new HeadCache();
  private readonly cache: AnswerCache;
  private readonly doorkeeper = new CacheDoorkeeper();
  private readonly finality: FinalityWatch;
  /** Reads in flight that others may join, by call key. */
  private readonly inFlight = new Map<string, NodeCall>();
  /** Counts chain changes: a call in flight may still answer about the previous chain. */
  private chain = 0;
  /**
   * When clients last learnt of a new head (performance.now(), like all times here). Calls sent earlier may not reflect
   * it.
   */
  private announcedAt = Number.NEGATIVE_INFINITY;
  /** The node has answered a batch, so a refusal concerns that batch only. */
  private takesBatches = false;
  private noBatchBefore = Number.NEGATIVE_INFINITY;

  constructor({ node, failover, finality, settings, budget, meter, log }: GatewayOptions) {
    this.settings = settings;
    this.meter = meter;
    this.cache = new AnswerCache(settings.cache_mb * 2 ** 20);
    this.finality = finality;
    finality.onReplaced(() => this.forgetChain());
    const breaker = new CircuitBreaker((isOpen) => {
      if (isOpen) log.error({}, 'the node keeps failing; sending only occasional probes');
      if (isOpen) failover?.noteErrors('calls keep failing');
      else log.info({}, 'the node answers again; sending all calls');
    });
    const refusals = new RepeatLimit(REFUSAL_LOG_MS);
    const onFailure = (call: Call, error: UpstreamError, ofNode: boolean) => {
      if (error.reason === 'connection') this.invalidate();
      if (!ofNode && !refusals.allows('refused')) return; // the breaker does not stop these
      log.warn({ err: error, method: methodLabel(call.method) }, 'a call to the node failed');
    };
    const onBatch = (answered: boolean) => {
      if (answered) this.takesBatches = true;
      else if (!this.takesBatches) this.noBatchBefore = performance.now() + NO_BATCH_MS;
    };
    const turns = new TurnBudget(BUFFERED_PER_TURN);
    this.deps = { node, failover, breaker, holdOff: new HoldOff(), budget, turns, onFailure, onBatch };
  }

  /** The highest block known to be final, or -1. */
  get finalized(): number {
    return this.finality.finalizedNumber(performance.now());
  }

  /** Position of the node in use, if there are several. */
  get node(): number | undefined {
    return this.deps.failover?.node;
  }

  /** Call before clients learn of a new head. Calls already in flight no longer answer new ones. */
  headChanged(): void {
    this.announcedAt = performance.now();
    this.headCache.invalidate(this.announcedAt);
  }

  /** Call when another node is in use. Forgets what the previous node supports. */
  nodeChanged(): void {
    this.deps.breaker.reset();
    this.invalidate();
  }

  /** Answers a permitted call of key `client`. */
  run(call: Call, consumer: CallConsumer, client: number): ByteSource {
    const kind = methodKindOf(call.method);
    if (!kind.isRead) return this.sendWrite(call, consumer, client);
    const plan = this.plan(call, client, kind);
    const known = this.lookUp(plan);
    if (known === undefined) return this.joinInFlight(plan, consumer) ?? this.sendRead(plan, consumer);
    consumer.send(known, 200, true);
    return SETTLED;
  }

  /** A function that makes this server's own calls on a client's account. */
  requestFor(client: number): RequestFn {
    return (method, params, signal) =>
      collectAnswer((consumer) => this.run(createCall(method, params), consumer, client), signal);
  }

  /** Makes a call on this server's own account. */
  readonly request = this.requestFor(INTERNAL_CLIENT);

  /** Like `request`, but always reaches the node: uses no cache and joins no call in flight. */
  readonly requestUncached: RequestFn = (method, params, signal) =>
    collectAnswer(
      (consumer) =>
        startCall(new NodeCall(createCall(method, params), INTERNAL_CLIENT, this.deps, UNSHARED), consumer),
      signal,
    );

  /** A function that makes anchored reads on a client's account. Cached answers are final; others are never shared. */
  requestAnchored(client: number): AnchoredRequestFn {
    return async (method, params, anchors, signal) => {
      const call = createCall(method, params);
      const plan = this.plan(call, client, methodKindOf(method));
      const known = this.lookUp(plan);
      if (known !== undefined) return { answer: { tail: known, status: 200 }, isFinal: true, headers: null };
      const { before, after, newSocket = false } = anchors;
      const mayBeFinal = typeof plan.block === 'number' && isFinal(plan.block, plan.finalized);
      const proof = mayBeFinal ? this.finality.answerProof() : NO_PROOF;
      const blocks = { before: [...proof.tags, ...before], after };
      let headers: AnchoredResult['headers'] = null;
      let isProven = false;
      const onAnswer = (answer: AnchoredTail) => {
        headers = answer.headers.slice(proof.tags.length);
        isProven = this.keepIfFinal(plan, answer.tail, proof.finalIn(answer.headers));
        return false;
      };
      const options: NodeCallOptions = { ...UNSHARED, bufferBytes: MAX_ANCHORED_BYTES };
      if (plan.now >= this.noBatchBefore) options.anchored = { blocks, newSocket, onAnswer };
      const answer = await collectAnswer(
        (consumer) => startCall(new NodeCall(call, client, this.deps, options), consumer),
        signal,
      );
      return { answer, isFinal: isProven, headers };
    };
  }

  private plan(call: Call, client: number, { readBlockKey, isHeadMethod }: MethodKind): Plan {
    const { local, cache } = this.settings;
    const now = performance.now();
    const block = cache && readBlockKey !== null ? blockKeyOf(call, readBlockKey) : null;
    return {
      call,
      client,
      key: callKey(call),
      headName: local && isHeadMethod ? headMethodOf(call) : null,
      block,
      finalized: block === null ? -1 : this.finality.finalizedNumber(now),
      chain: this.chain,
      now,
    };
  }

  private lookUp({ call, key, headName, finalized, now }: Plan): Buffer | undefined {
    if (headName !== null) {
      const tail = this.headCache.get(headName, now);
      if (tail !== undefined) this.meter.recordHeadCacheHit(call.method);
      return tail;
    }
    const tail = hasFinal(finalized) ? this.cache.get(key) : undefined;
    if (tail !== undefined) this.meter.recordCacheHit(call.method);
    return tail;
  }

  /**
   * Joins an equal call in flight if its answer will be as fresh as a new one and arrive no later. An older call
   * qualifies only if its answer will be proven final, because the node may have lagged when it received the call.
   */
  private joinInFlight(
    { call, client, key, block, finalized, now }: Plan,
    consumer: CallConsumer,
  ): ByteSource | null {
    const other = this.inFlight.get(key);
    if (other === undefined || (other.isQueued && other.client !== client)) return null;
    const lasts = other.isAnchored && typeof block === 'number' && isFinal(block, finalized);
    if (!lasts && (other.startedAt <= this.announcedAt || now - other.startedAt > HEAD_TTL_MS)) return null;
    this.meter.recordMerged(call.method);
    return other.join(consumer, client);
  }

  /** Whether to request proof that the answer is final. Only a repeated call does. */
  private shouldProve({ key, block, finalized, now }: Plan): boolean {
    if (block === null || !hasFinal(finalized) || now < this.noBatchBefore) return false;
    const isInFlight = typeof block === 'number' && isFinal(block, finalized) && this.inFlight.has(key);
    return isInFlight || this.doorkeeper.has(key);
  }

  private sendRead(plan: Plan, consumer: CallConsumer): ByteSource {
    const { call, client, key, headName, block } = plan;
    const nodeCall = new NodeCall(call, client, this.deps, {
      bufferBytes: headName !== null ? MAX_HEAD_BYTES : block !== null ? this.cache.maxEntryBytes : 0,
      onTail: (tail, facts) => this.onAnswer(plan, tail, facts),
      needsJson: typeof block === 'number' && isFinal(block, plan.finalized),
      onSealed: () => {
        if (this.inFlight.get(key) === nodeCall) this.inFlight.delete(key);
      },
      onEvicted: (waiters) => {
        for (const waiter of waiters) {
          const own = new NodeCall(call, waiter.client, this.deps, UNSHARED);
          own.adopt(waiter);
          own.start();
        }
      },
      anchored: this.shouldProve(plan) ? this.proofOf(plan) : undefined,
    });
    if (this.settings.merge) this.inFlight.set(key, nodeCall);
    return startCall(nodeCall, consumer);
  }

  /** Requests proof that an answer is final, and caches the answer if the proof holds. */
  private proofOf(plan: Plan): AnchorOptions {
    const { tags, finalIn } = this.finality.answerProof();
    return {
      blocks: { before: tags, after: [] },
      onAnswer: ({ tail, headers }) => this.keepIfFinal(plan, tail, finalIn(headers)),
    };
  }

  /**
   * Puts an answer about the head into the head cache, and records a call whose answer could be cached with a proof.
   * Throws UpstreamError `malformed` for invalid JSON.
   */
  private onAnswer(
    { call, key, headName, block, finalized, chain, now }: Plan,
    tail: Buffer,
    { isJson }: TailFacts,
  ): void {
    if (headName !== null) {
      if (!isResult(tail)) return;
      if (!isJson) checkResponseTail(tail);
      this.keepHeadsRising(call, tail);
      return this.headCache.put(headName, tail, now);
    }
    if (block === null || chain !== this.chain) return;
    const number = blockNumberOf(call, block, tail);
    if (number === null) return;
    if (!isFinal(number, finalized)) return this.finality.pollIfAbove(number, now);
    if (!isJson) checkResponseTail(tail);
    this.doorkeeper.add(key);
  }

  /** Throws UpstreamError when an answer shows a lower head than clients saw from the previous node. */
  private keepHeadsRising({ method }: Call, tail: Buffer): void {
    const { failover } = this.deps;
    const head = failover === undefined ? null : headShown(method, tail);
    if (failover === undefined || head === null) return;
    const { floor } = failover;
    if (head < floor)
      throw new UpstreamError('inconsistent', `the node in use is at ${head}, clients saw ${floor}`);
    failover.noteHead(head);
  }

  /** Caches an answer if it is proven final. `shown`: the highest final block by the answering node. */
  private keepIfFinal(plan: Plan, tail: Buffer, shown: number): boolean {
    const { call, key, block, finalized, chain } = plan;
    if (block === null || chain !== this.chain) return false;
    const number = blockNumberOf(call, block, tail);
    if (number === null || !isProvenFinal(number, finalized, shown)) return false;
    if (!mayCache(call.method, number, tail)) return true;
    this.doorkeeper.delete(key);
    this.cache.put(key, tail, true);
    this.meter.setCacheBytes(this.cache.bytes);
    return true;
  }

  /** Sends a call that is not a read. Once the call has taken effect, answers to earlier reads are stale. */
  private sendWrite(call: Call, consumer: CallConsumer, client: number): ByteSource {
    const onSealed = () => {
      this.headCache.invalidate(performance.now());
      this.inFlight.clear();
      if (methodKindOf(call.method).mayRewriteChain) this.finality.reset();
    };
    return startCall(new NodeCall(call, client, this.deps, { ...UNSHARED, onSealed }), consumer);
  }

  /** The node is on another chain: drops all answers about the previous chain, including those in flight. */
  private forgetChain(): void {
    this.chain++;
    this.inFlight.clear();
    this.cache.clear();
    this.doorkeeper.clear();
    this.meter.setCacheBytes(0);
  }

  private invalidate(): void {
    this.takesBatches = false;
    this.headCache.invalidate(performance.now());
    this.finality.invalidate();
  }
}

/** The answer proves nothing final. */
const NO_PROOF: AnswerProof = { tags: [], finalIn: () => -1 };

/** The answer is neither shared nor cached. */
const UNSHARED: NodeCallOptions = {
  bufferBytes: 0,
  onTail() {},
  needsJson: false,
  onSealed() {},
  onEvicted() {},
};

function startCall(nodeCall: NodeCall, consumer: CallConsumer): ByteSource {
  const handle = nodeCall.join(consumer, nodeCall.client);
  nodeCall.start();
  return handle;
}
