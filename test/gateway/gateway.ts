/** The gateway between a test and a node, without HTTP on the client's side. */

import type { ChainTracker } from '../../src/chain/tracker.ts';
import type { RpcAnswer } from '../../src/gateway/call.ts';
import {
  type RpcCaller,
  RpcHandler,
  type RpcHandlerOptions,
  type RpcSettings,
} from '../../src/gateway/handler.ts';
import { LargeAnswer } from '../../src/gateway/large-answer.ts';
import { methodPolicy } from '../../src/gateway/policy.ts';
import { createLogger } from '../../src/log/logger.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { StreamingHttpClient, type StreamingHttpOptions } from '../../src/node/http/streaming-client.ts';
import { type TestFinality, trackChain } from '../support/chain/chain.ts';
import { RPC_SETTINGS } from '../support/daemon/rpc-settings.ts';
import type { Cleanup } from '../support/nodes/replay.ts';

export interface Reply {
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export interface TestGateway {
  handler: RpcHandler;
  chain: ChainTracker;
  node: StreamingHttpClient;
  logs: string[];
  /** Sends one call and returns its answer with the HTTP status. */
  call(method: string, params?: unknown[], key?: number): Promise<Reply & { status: number }>;
  /** Returns the result. Rejects for an error. */
  result(method: string, ...params: unknown[]): Promise<unknown>;
  answer(body: string, caller?: Partial<RpcCaller>, signal?: AbortSignal): Promise<RpcAnswer>;
  /** The value of a metric by its full name in the text format, such as `name{label="x"}`; 0 if absent. */
  metric(series: string): Promise<number>;
}

export interface TestGatewayOptions extends Partial<RpcSettings> {
  url: string;
  wire?: Partial<StreamingHttpOptions>;
  allow?: string[];
  development?: boolean;
  clock?: RpcHandlerOptions['clock'];
  pending?: RpcHandlerOptions['pending'];
  /** By default, blocks with ten above them are final. */
  finality?: TestFinality;
}

export function startGateway(owner: Cleanup, options: TestGatewayOptions): TestGateway {
  const { url, wire, allow = [], development = false, clock, pending = null } = options;
  const { finality = { rule: 'depth', maxReorg: 10 } } = options;
  const logs: string[] = [];
  const metrics = createMetrics();
  const node = new StreamingHttpClient({
    url,
    timeoutMs: 5_000,
    maxSockets: 16,
    maxWaiting: 1_000,
    maxWaitingBytes: 64 * 2 ** 20,
    ...wire,
  });
  const tracked = trackChain(owner, url, finality);
  owner.after(() => {
    node.close();
    metrics.close();
  });
  const handler = new RpcHandler({
    node,
    chain: tracked,
    allowed: methodPolicy({ allow, development }),
    settings: { ...RPC_SETTINGS, ...options },
    log: createLogger({ level: 'debug', format: 'json', write: (line) => logs.push(line) }),
    metrics,
    pending,
    ...(clock && { clock }),
  });
  const answer: TestGateway['answer'] = async (body, caller, signal) => {
    const whole = { key: 1, mayCall: null, charge: () => null, ...caller };
    const answered = await handler.answer(Buffer.from(body), whole, signal);
    if (answered === 'waits') throw new Error('no caller here waits');
    return answered;
  };
  const call: TestGateway['call'] = async (method, params = [], key = 1) => {
    const { status, body } = await answer(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }), { key });
    return { status, ...JSON.parse(String(body instanceof LargeAnswer ? body.join() : body)) };
  };
  return {
    handler,
    chain: tracked,
    node,
    logs,
    call,
    answer,
    async result(method, ...params) {
      const { result, error } = await call(method, params);
      if (error) throw new Error(`${method} gave ${error.code} ${error.message}`);
      return result;
    },
    async metric(series) {
      const line = (await metrics.render()).split('\n').find((one) => one.startsWith(`${series} `));
      return Number(line?.slice(series.length) ?? 0);
    },
  };
}
