/** Answers a call: from a cache, with the answer to an equal call in flight, or by asking the node. */
import type { UpstreamError } from '../errors.ts';
import type { ByteBudget } from '../lib/byte-budget.ts';
import type { Logger } from '../log.ts';
import type { WireTransport } from '../upstream/wire/transport.ts';
import { AnswerCache } from './answer-cache.ts';
import { CircuitBreaker } from './breaker.ts';
import { type Ask, type Call, callKey, ownCall, type Pending, SETTLED, type Taker } from './call.ts';
import { Finality } from './finality.ts';
import { gather } from './gathering.ts';
import { blockOfAnswer, type Dependence, dependenceOf } from './lasting.ts';
import { FRESH_MS, LocalAnswers, localName } from './local-answers.ts';
import type { RpcMeter } from './meter.ts';
import { kindOf, type MethodKind } from './method-kind.ts';
import { NodeCall, type NodeCallDeps, type NodeCallOptions } from './node-call.ts';
import { checkTail, isResult } from './tail.ts';

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
  meter: Pick<RpcMeter, 'hit' | 'merged' | 'local' | 'cacheBytes'>;
  log: Logger;
}

/** Most bytes of an answer about the head that is kept for a moment. */
const MAX_LOCAL_BYTES = 256 * 1024;

/** The client id of calls that this server makes for all clients; ids of keys begin at 1. */
const OWN = 0;

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
  /** By performance.now(). */
  private nextRefusalLog = 0;

  constructor({ transport, settings, budget, meter, log }: GatewayOptions) {
    this.settings = settings;
    this.meter = meter;
    this.cache = new AnswerCache(settings.cache_mb * 2 ** 20);
    this.finality = new Finality(this.askNode, () => this.emptyCache());
    const breaker = new CircuitBreaker((open) => {
      if (open) log.error({}, 'the node fails; calls to it are held back');
      else log.info({}, 'the node answers again');
    });
    const onFailure = (call: Call, error: UpstreamError, ofNode: boolean) => {
      if (error.reason === 'connection') this.doubt();
      if (!ofNode && !this.mayLogRefusal(performance.now())) return;
      log.warn({ err: error, method: kindOf(call.method).label }, 'call to the node failed');
    };
    this.deps = { transport, breaker, budget, onFailure };
  }

  /** The highest block known to be final, or -1. */
  get finalized(): number {
    return this.finality.height(performance.now());
  }

  /** The node has announced a new head. */
  headChanged(): void {
    this.local.doubt(performance.now());
  }

  /** Answers a call that is allowed; `client` is the key that asks. */
  run(call: Call, taker: Taker, client: number): Pending {
    const kind = kindOf(call.method);
    if (!kind.isRead) return this.change(call, taker, client);
    const plan = this.plan(call, client, kind);
    const known = this.known(plan);
    if (known === undefined) return this.join(plan, taker) ?? this.send(plan, taker);
    taker.take(known, 200, true);
    return SETTLED;
  }

  /** A function that makes calls of this server on behalf of a client and resolves with the answer. */
  askFor(client: number): Ask {
    return (method, params, signal) =>
      gather((taker) => this.run(ownCall(method, params), taker, client), signal);
  }

  /** Resolves with the answer to a call that this server makes for itself. */
  readonly ask = this.askFor(OWN);

  /** The same, but always asks the node: no cached answer and no call in flight is used. */
  readonly askNode: Ask = (method, params, signal) =>
    gather((taker) => begin(new NodeCall(ownCall(method, params), OWN, this.deps, UNKEPT), taker), signal);

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
      finalized: block === null ? -1 : this.finality.height(now),
      now,
    };
  }

  private known({ call, key, local, finalized, now }: Plan): Buffer | undefined {
    if (local !== null) {
      const tail = this.local.get(local, now);
      if (tail !== undefined) this.meter.local(call.method);
      return tail;
    }
    const tail = finalized < 0 ? undefined : this.cache.get(key);
    if (tail !== undefined) this.meter.hit(call.method);
    return tail;
  }

  /** Joins an equal call in flight if its answer will be as fresh as that to a new call and come no later. */
  private join({ call, client, key, block, finalized, now }: Plan, taker: Taker): Pending | null {
    const other = this.inFlight.get(key);
    if (other === undefined || (other.waits && other.client !== client)) return null;
    const lasts = typeof block === 'number' && block <= finalized;
    if (!lasts && now - other.began > FRESH_MS) return null;
    this.meter.merged(call.method);
    return other.join(taker);
  }

  private send(plan: Plan, taker: Taker): Pending {
    const { call, client, key, local, block } = plan;
    const nodeCall = new NodeCall(call, client, this.deps, {
      gatherBytes: local !== null ? MAX_LOCAL_BYTES : block !== null ? this.cache.maxEntry : 0,
      onTail: (tail) => this.keep(plan, tail),
      onFull: () => {
        if (this.inFlight.get(key) === nodeCall) this.inFlight.delete(key);
      },
      onTooMany: (waiting) => {
        for (const one of waiting) {
          const own = new NodeCall(call, client, this.deps, UNKEPT);
          own.adopt(one);
          own.start();
        }
      },
    });
    if (this.settings.merge) this.inFlight.set(key, nodeCall);
    return begin(nodeCall, taker);
  }

  /** Caches an answer that is valid for a while or for ever. Throws UpstreamError `malformed` when it is not JSON. */
  private keep({ call, key, local, block, finalized, now }: Plan, tail: Buffer): void {
    if (local !== null) {
      if (!isResult(tail)) return;
      checkTail(tail);
      return this.local.put(local, tail, now);
    }
    if (block === null) return;
    const number = blockOfAnswer(call, block, tail);
    if (number === null) return;
    if (number > finalized) return this.finality.wish(number, now);
    checkTail(tail);
    this.cache.put(key, tail);
    this.meter.cacheBytes(this.cache.bytes);
  }

  /** Sends a call that is not a read. Once it has taken effect, answers to earlier reads are no longer used. */
  private change(call: Call, taker: Taker, client: number): Pending {
    const onFull = () => {
      this.local.doubt(performance.now());
      this.inFlight.clear();
      if (kindOf(call.method).isSteering) this.finality.reset();
    };
    return begin(new NodeCall(call, client, this.deps, { ...UNKEPT, onFull }), taker);
  }

  private emptyCache(): void {
    this.cache.clear();
    this.meter.cacheBytes(0);
  }

  /** Rate-limits the log lines about failures that say nothing about the node, which the breaker cannot stop. */
  private mayLogRefusal(now: number): boolean {
    if (now < this.nextRefusalLog) return false;
    this.nextRefusalLog = now + REFUSAL_LOG_MS;
    return true;
  }

  private doubt(): void {
    this.local.doubt(performance.now());
    this.finality.doubt();
  }
}

/** For an answer that is neither kept nor shared. */
const UNKEPT: NodeCallOptions = { gatherBytes: 0, onTail() {}, onFull() {}, onTooMany() {} };

function begin(nodeCall: NodeCall, taker: Taker): Pending {
  const waiting = nodeCall.join(taker);
  nodeCall.start();
  return waiting;
}
