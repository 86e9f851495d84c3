/** Answers a call: from a cache, with the answer to an equal call in flight, or by asking the node. */
import type { UpstreamError } from '../errors.ts';
import type { ByteBudget } from '../lib/byte-budget.ts';
import type { Logger } from '../log.ts';
import type { WireTransport } from '../upstream/wire/transport.ts';
import { AnswerCache } from './answer-cache.ts';
import { type Dependence, dependenceOf, dependentBlock } from './block-dependence.ts';
import { CircuitBreaker } from './breaker.ts';
import {
  type AnswerSink,
  type Call,
  type CallHandle,
  callKey,
  createCall,
  type RequestFn,
  SETTLED_HANDLE,
} from './call.ts';
import { collectAnswer } from './collect-answer.ts';
import { Finality } from './finality.ts';
import { HEAD_TTL_MS, LocalAnswers, localName } from './local-answers.ts';
import type { RpcMeter } from './meter.ts';
import { type MethodKind, methodKindOf } from './method-kind.ts';
import { methodLabel } from './method-label.ts';
import { NodeCall, type NodeCallDeps, type NodeCallOptions } from './node-call.ts';
import { checkPayload, isResult } from './payload.ts';

/** The settings of the `[rpc]` table that concern single calls. */
export interface GatewaySettings {
  cache_mb: number;
  merge: boolean;
  cache: boolean;
  local: boolean;
}

export interface GatewayOptions {
  transport: Pick<WireTransport, 'post'>;
  settings: GatewaySettings;
  budget: ByteBudget;
  meter: Pick<RpcMeter, 'recordCacheHit' | 'recordMerged' | 'recordLocalAnswer' | 'setCacheBytes'>;
  log: Logger;
}

/** Most bytes of an answer about the head that is kept for a moment. */
const MAX_LOCAL_BYTES = 256 * 1024;

/** The client id of calls that this server makes for all clients; ids of keys begin at 1. */
const INTERNAL_CLIENT = 0;

/** Milliseconds between two log lines about failures that say nothing about the node. */
const REFUSAL_LOG_MS = 1_000;

/** A read, and how its answer may be shared and kept. */
interface Plan {
  call: Call;
  /** Who asks. */
  client: number;
  key: string;
  /** Its name in LocalAnswers, or null. */
  local: string | null;
  /** The block that its answer depends on; null when the answer may not be cached. */
  block: Dependence | null;
  /** The highest block known to be final when the call was made; -1 for none. */
  finalized: number;
  /** The chain on which it was asked, as Gateway.chain counts them. */
  chain: number;
  now: number;
}

export class Gateway {
  private readonly settings: GatewaySettings;
  private readonly meter: GatewayOptions['meter'];
  private readonly deps: NodeCallDeps;
  private readonly local = new LocalAnswers();
  private readonly cache: AnswerCache;
  private readonly finality: Finality;
  /** Reads in flight whose answer others may share, by the key of the call. */
  private readonly inFlight = new Map<string, NodeCall>();
  /** Counts the chains that the node has had: a call in flight may still answer about a former one. */
  private chain = 0;
  /** When clients were last told of a new head, which earlier calls may not know; by performance.now(), as all times. */
  private toldAt = Number.NEGATIVE_INFINITY;
  private nextRefusalLog = 0;

  constructor({ transport, settings, budget, meter, log }: GatewayOptions) {
    this.settings = settings;
    this.meter = meter;
    this.cache = new AnswerCache(settings.cache_mb * 2 ** 20);
    this.finality = new Finality(this.askUncached, () => this.forgetChain());
    const breaker = new CircuitBreaker((isOpen) => {
      if (isOpen) log.error({}, 'the node fails; calls to it are held back');
      else log.info({}, 'the node answers again');
    });
    const onFailure = (call: Call, error: UpstreamError, ofNode: boolean) => {
      if (error.reason === 'connection') this.invalidate();
      if (!ofNode && !this.mayLogRefusal(performance.now())) return;
      log.warn({ err: error, method: methodLabel(call.method) }, 'call to the node failed');
    };
    this.deps = { transport, breaker, budget, onFailure };
  }

  /** The highest block known to be final, or -1. */
  get finalized(): number {
    return this.finality.finalizedNumber(performance.now());
  }

  /** Clients are about to be told of a new head: what was asked before does not answer those who ask about it. */
  headChanged(): void {
    this.toldAt = performance.now();
    this.local.invalidate(this.toldAt);
  }

  /** The index was rolled back: the blocks above `to` are no longer on the chain. */
  rolledBack(to: number): void {
    this.finality.rolledBack(to);
  }

  /** Answers a call that is allowed; `client` is the key that asks. */
  run(call: Call, sink: AnswerSink, client: number): CallHandle {
    const kind = methodKindOf(call.method);
    if (!kind.isRead) return this.sendWrite(call, sink, client);
    const plan = this.plan(call, client, kind);
    const known = this.lookUp(plan);
    if (known === undefined) return this.joinInFlight(plan, sink) ?? this.sendRead(plan, sink);
    sink.send(known, 200, true);
    return SETTLED_HANDLE;
  }

  /** A function that makes calls of this server on behalf of a client and resolves with the answer. */
  askOnBehalfOf(client: number): RequestFn {
    return (method, params, signal) =>
      collectAnswer((sink) => this.run(createCall(method, params), sink, client), signal);
  }

  /** Resolves with the answer to a call that this server makes for itself. */
  readonly ask = this.askOnBehalfOf(INTERNAL_CLIENT);

  /** `ask` that always reaches the node: no cached answer and no call in flight is used. */
  readonly askUncached: RequestFn = (method, params, signal) =>
    collectAnswer(
      (sink) =>
        startCall(new NodeCall(createCall(method, params), INTERNAL_CLIENT, this.deps, UNSHARED), sink),
      signal,
    );

  private plan(call: Call, client: number, { dependence, mayBeLocal }: MethodKind): Plan {
    const { local, cache } = this.settings;
    const now = performance.now();
    const block = cache && dependence !== null ? dependenceOf(call, dependence) : null;
    return {
      call,
      client,
      key: callKey(call),
      local: local && mayBeLocal ? localName(call) : null,
      block,
      finalized: block === null ? -1 : this.finality.finalizedNumber(now),
      chain: this.chain,
      now,
    };
  }

  private lookUp({ call, key, local, finalized, now }: Plan): Buffer | undefined {
    if (local !== null) {
      const payload = this.local.get(local, now);
      if (payload !== undefined) this.meter.recordLocalAnswer(call.method);
      return payload;
    }
    const payload = finalized < 0 ? undefined : this.cache.get(key);
    if (payload !== undefined) this.meter.recordCacheHit(call.method);
    return payload;
  }

  /** Joins an equal call in flight if its answer will be as fresh as that to a new call and come no later. */
  private joinInFlight(
    { call, client, key, block, finalized, now }: Plan,
    sink: AnswerSink,
  ): CallHandle | null {
    const other = this.inFlight.get(key);
    if (other === undefined || (other.isQueued && other.client !== client)) return null;
    const lasts = typeof block === 'number' && block <= finalized;
    if (!lasts && (other.startedAt <= this.toldAt || now - other.startedAt > HEAD_TTL_MS)) return null;
    this.meter.recordMerged(call.method);
    return other.join(sink, client);
  }

  private sendRead(plan: Plan, sink: AnswerSink): CallHandle {
    const { call, client, key, local, block } = plan;
    const nodeCall = new NodeCall(call, client, this.deps, {
      bufferBytes: local !== null ? MAX_LOCAL_BYTES : block !== null ? this.cache.maxEntryBytes : 0,
      onPayload: (payload) => this.cacheAnswer(plan, payload),
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
    });
    if (this.settings.merge) this.inFlight.set(key, nodeCall);
    return startCall(nodeCall, sink);
  }

  /** Caches an answer that is valid for a while or for ever. Throws UpstreamError `malformed` when it is not JSON. */
  private cacheAnswer({ call, key, local, block, finalized, chain, now }: Plan, payload: Buffer): void {
    if (local !== null) {
      if (!isResult(payload)) return;
      checkPayload(payload);
      return this.local.put(local, payload, now);
    }
    if (block === null || chain !== this.chain) return;
    const number = dependentBlock(call, block, payload);
    if (number === null) return;
    if (number > finalized) return this.finality.pollIfAbove(number, now);
    checkPayload(payload);
    this.cache.put(key, payload);
    this.meter.setCacheBytes(this.cache.bytes);
  }

  /** Sends a call that is not a read. Once it has taken effect, answers to earlier reads are no longer used. */
  private sendWrite(call: Call, sink: AnswerSink, client: number): CallHandle {
    const onSealed = () => {
      this.local.invalidate(performance.now());
      this.inFlight.clear();
      if (methodKindOf(call.method).mayRewriteChain) this.finality.reset();
    };
    return startCall(new NodeCall(call, client, this.deps, { ...UNSHARED, onSealed }), sink);
  }

  /** The node is on another chain: nothing that it said, or is about to say, of the former one is used again. */
  private forgetChain(): void {
    this.chain++;
    this.inFlight.clear();
    this.cache.clear();
    this.meter.setCacheBytes(0);
  }

  /** Rate-limits the log lines about failures that say nothing about the node, which the breaker cannot stop. */
  private mayLogRefusal(now: number): boolean {
    if (now < this.nextRefusalLog) return false;
    this.nextRefusalLog = now + REFUSAL_LOG_MS;
    return true;
  }

  private invalidate(): void {
    this.local.invalidate(performance.now());
    this.finality.invalidate();
  }
}

/** For an answer that is neither shared nor cached. */
const UNSHARED: NodeCallOptions = { bufferBytes: 0, onPayload() {}, onSealed() {}, onEvicted() {} };

function startCall(nodeCall: NodeCall, sink: AnswerSink): CallHandle {
  const handle = nodeCall.join(sink, nodeCall.client);
  nodeCall.start();
  return handle;
}
