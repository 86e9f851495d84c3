/** Chooses the next request when requests outnumber sockets: round robin over clients. */
import type { Exchange, Flow } from './exchange.ts';

interface FairQueueLimits {
  /** Most requests in flight. */
  maxRunning: number;
  /** Most queued requests, and their bytes. */
  maxWaiting: number;
  maxWaitingBytes: number;
}

/**
 * A client may hold three places per free place: three quarters of all places while alone, fewer beside others. So the
 * next client always finds a free place. With fewer than four places, one client may hold all.
 */
const SHARE = 3;

export class FairQueue {
  private readonly limits: FairQueueLimits;
  /** One flow per client seen so far. */
  private readonly flows = new Map<number, Flow>();
  private readonly unlimitedFlow = newFlow(false);
  private readonly running = new Set<Exchange>();
  /** Flows with queued requests. The first is next. */
  private readonly turns = new Set<Flow>();
  private waitingCount = 0;
  private waitingBytes = 0;

  constructor(limits: FairQueueLimits) {
    this.limits = limits;
  }

  /** The flow of a client; null selects the flow of requests without a share limit. */
  flow(client: number | null): Flow {
    if (client === null) return this.unlimitedFlow;
    let flow = this.flows.get(client);
    if (flow === undefined) {
      flow = newFlow(true);
      this.flows.set(client, flow);
    }
    return flow;
  }

  /** Number of queued requests. */
  get waiting(): number {
    return this.waitingCount;
  }

  /** Admits a request, to run or to wait, or refuses it when the queue is full. */
  admit(exchange: Exchange): 'runs' | 'waits' | 'refused' {
    if (this.mayRun(exchange.flow)) {
      this.run(exchange);
      return 'runs';
    }
    if (!this.mayWait(exchange)) return 'refused';
    const { flow, request } = exchange;
    flow.waiting.add(exchange);
    flow.waitingBytes += request.length;
    this.waitingCount++;
    this.waitingBytes += request.length;
    this.turns.add(flow);
    return 'waits';
  }

  /** Removes a request, running or queued. Returns the request that starts in its place. */
  remove(exchange: Exchange): Exchange | null {
    if (!this.running.delete(exchange)) {
      this.dequeue(exchange);
      return null;
    }
    exchange.flow.running--;
    return this.waitingCount === 0 ? null : this.runNext();
  }

  /** All requests, queued ones first. */
  *[Symbol.iterator](): Generator<Exchange> {
    for (const flow of this.turns) yield* flow.waiting;
    yield* this.running;
  }

  private mayRun({ isLimited, running }: Flow): boolean {
    const free = this.limits.maxRunning - this.running.size;
    return free > 0 && (running < SHARE * free || !isLimited);
  }

  private mayWait({ flow, request }: Exchange): boolean {
    const places = this.limits.maxWaiting - this.waitingCount;
    const bytes = this.limits.maxWaitingBytes - this.waitingBytes;
    if (places <= 0 || request.length > bytes) return false;
    return !flow.isLimited || (flow.waiting.size < SHARE * places && flow.waitingBytes < SHARE * bytes);
  }

  private run(exchange: Exchange): void {
    this.running.add(exchange);
    exchange.flow.running++;
  }

  /** Starts at most one request, because each removal frees one place. */
  private runNext(): Exchange | null {
    for (const flow of this.turns) {
      if (!this.mayRun(flow)) continue;
      const [next] = flow.waiting;
      if (next === undefined) continue;
      this.dequeue(next);
      this.run(next);
      if (this.turns.size > 1 && this.turns.delete(flow)) this.turns.add(flow); // to the end of the queue
      return next;
    }
    return null;
  }

  private dequeue(exchange: Exchange): void {
    const { flow, request } = exchange;
    if (!flow.waiting.delete(exchange)) return;
    flow.waitingBytes -= request.length;
    this.waitingCount--;
    this.waitingBytes -= request.length;
    if (flow.waiting.size === 0) this.turns.delete(flow);
  }
}

function newFlow(isLimited: boolean): Flow {
  return { isLimited, running: 0, waiting: new Set(), waitingBytes: 0, lastProgressAt: 0 };
}
