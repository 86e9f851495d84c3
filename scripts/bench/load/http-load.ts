/** Closed-loop load: each connection sends its next request when the previous one is answered. */
import { quantile } from '../figure.ts';
import { HttpSocket } from './http-socket.ts';

export interface LoadSpec {
  port: number;
  connections: number;
  /** Longest duration, seconds. */
  seconds: number;
  /** Pause between an answer and the next request on a connection, milliseconds. Default: none. */
  pauseMs?: number;
  /** Send at least this many requests, even when the time is up. */
  minRequests?: number;
  /** Sent in rotation. */
  requests: LoadRequest[];
}

export interface LoadRequest {
  /** Groups latencies. */
  group: string;
  /** As sent over the wire. */
  text: string;
}

export interface GroupResult {
  count: number;
  /** Answers with a status other than 200. */
  failures: number;
  p50Ms: number;
  p99Ms: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  groups: Record<string, GroupResult>;
}

/** Most latencies per group. The newest replace the oldest. */
const MAX_SAMPLES = 200_000;
/** How long the last answers may take, milliseconds. */
const DRAIN_TIMEOUT_MS = 20_000;

class Group {
  count = 0;
  failures = 0;
  private readonly latencies: number[] = [];

  add(ms: number, ok: boolean): void {
    this.latencies[this.count % MAX_SAMPLES] = ms;
    this.count++;
    if (!ok) this.failures++;
  }

  result(): GroupResult {
    const { count, failures, latencies } = this;
    return {
      count,
      failures,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
    };
  }
}

/** Load that runs until it is finished or its time is up. */
export class HttpLoad {
  private readonly requests: { group: Group; text: string }[];
  private readonly groups = new Map<string, Group>();
  private readonly sockets: HttpSocket[];
  private readonly startedAt = performance.now();
  private readonly pauseMs: number;
  private readonly minRequests: number;
  private readonly end: number;
  private readonly idle: Promise<void>;
  private next = 0;
  private activeConnections: number;
  private stopping = false;
  private onIdle: () => void = () => undefined;
  private failure: Error | null = null;

  constructor({ port, connections, seconds, pauseMs = 0, minRequests = 0, requests }: LoadSpec) {
    this.pauseMs = pauseMs;
    this.minRequests = minRequests;
    this.requests = requests.map(({ group, text }) => ({ group: this.groupOf(group), text }));
    this.end = this.startedAt + seconds * 1000;
    this.activeConnections = connections;
    this.idle = new Promise((resolve) => {
      this.onIdle = resolve;
    });
    this.sockets = Array.from({ length: connections }, () => this.connect(port));
  }

  /** Resolves when the time is up. Rejects when a connection broke, because the load was then not the intended one. */
  async finished(): Promise<LoadResult> {
    await this.idle;
    for (const socket of this.sockets) socket.close();
    if (this.failure !== null) throw this.failure;
    const seconds = (performance.now() - this.startedAt) / 1000;
    let count = 0;
    for (const group of this.groups.values()) count += group.count;
    const asked = [...this.groups].filter(([, group]) => group.count > 0);
    const groups = asked.map(([name, group]) => [name, group.result()] as const);
    return { requestsPerSecond: count / seconds, groups: Object.fromEntries(groups) };
  }

  /** Sends no more requests; resolves when all outstanding answers have arrived. */
  finish(): Promise<LoadResult> {
    this.stopping = true;
    const timer = setTimeout(() => this.fail(new Error('an answer did not come in time')), DRAIN_TIMEOUT_MS);
    return this.finished().finally(() => clearTimeout(timer));
  }

  private connect(port: number): HttpSocket {
    let sentAt = 0;
    let group: Group | null = null;
    const socket = new HttpSocket(
      port,
      (status) => {
        const now = performance.now();
        group?.add(now - sentAt, status === 200);
        if (this.pauseMs > 0) setTimeout(sendNext, this.pauseMs);
        else sendNext(now);
      },
      (error) => this.fail(error),
    );
    const sendNext = (now = performance.now()) => {
      if ((this.stopping || now >= this.end) && this.next >= this.minRequests) return this.connectionDone();
      const request = this.requests[this.next++ % this.requests.length]!;
      group = request.group;
      sentAt = now;
      socket.send(request.text);
    };
    sendNext();
    return socket;
  }

  private connectionDone(): void {
    this.activeConnections--;
    if (this.activeConnections === 0) this.onIdle();
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.onIdle();
  }

  private groupOf(name: string): Group {
    let group = this.groups.get(name);
    if (group === undefined) {
      group = new Group();
      this.groups.set(name, group);
    }
    return group;
  }
}
