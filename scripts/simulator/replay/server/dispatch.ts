/** Turns the text of a request into the bytes of its answer: single calls, batches, limits, errors. */

import type { Prng } from '../../../../src/lib/random.ts';
import { isObject } from '../../../../src/lib/text.ts';
import type { Methods } from '../methods/method.ts';
import type { ReplaySettings } from '../options.ts';
import { exchangeKey, type RecordedAnswer } from '../recording/recording.ts';
import { methodNotFound, overloaded, RpcError, responseTooLarge } from '../rpc-error.ts';
import { jsonBytes } from '../rpc-json.ts';
import type { CallStats } from '../stats.ts';
import type { TextStore } from '../text-store.ts';

/** Pieces that make up an answer. Large results are sent straight from memory. */
export type AnswerChunks = Buffer[];

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');
const END = Buffer.from('}');

interface DispatcherDeps {
  methods: Methods;
  /** Recorded exchanges answered verbatim. They take precedence over the methods. */
  answers: ReadonlyMap<string, RecordedAnswer>;
  store: TextStore;
  settings: ReplaySettings;
  prng: Prng;
  stats: CallStats;
}

export class Dispatcher {
  private readonly deps: DispatcherDeps;

  constructor(deps: DispatcherDeps) {
    this.deps = deps;
  }

  /** Answers a request or a batch; `connectionMethods` are methods only this connection has. Never throws. */
  handle(text: string, connectionMethods?: Methods): AnswerChunks {
    const bytes = this.handleText(text, connectionMethods);
    this.deps.stats.bytes += totalLength(bytes);
    return bytes;
  }

  private handleText(text: string, connectionMethods?: Methods): AnswerChunks {
    const request = parseJson(text);
    if (request === undefined) return this.fail(null, new RpcError(-32601, 'Parse error'));
    return Array.isArray(request)
      ? this.handleBatch(request, connectionMethods)
      : this.handleCall(request, connectionMethods);
  }

  private handleBatch(calls: readonly unknown[], connectionMethods?: Methods): AnswerChunks {
    const { maxBatch } = this.deps.settings;
    this.deps.stats.batches++;
    if (calls.length === 0) return this.fail(null, new RpcError(-32603, 'empty batch request'));
    if (calls.length > maxBatch) {
      const message = `number of requests in batch request exceeds limit of ${maxBatch}`;
      return this.fail(null, new RpcError(-32603, message));
    }
    const bytes: AnswerChunks = [OPEN];
    for (const call of calls) {
      if (bytes.length > 1) bytes.push(COMMA);
      bytes.push(...this.handleCall(call, connectionMethods));
    }
    bytes.push(CLOSE);
    return this.tooLong(totalLength(bytes)) ? this.fail(null, responseTooLarge()) : bytes;
  }

  private handleCall(call: unknown, connectionMethods?: Methods): AnswerChunks {
    const { stats, settings, prng } = this.deps;
    stats.calls++;
    if (!isObject(call) || typeof call.method !== 'string') {
      return this.fail(isObject(call) ? call.id : null, new RpcError(-32601, 'Invalid request'));
    }
    const { id, method } = call;
    const params: unknown[] = Array.isArray(call.params) ? call.params : [];
    stats.byMethod[method] = (stats.byMethod[method] ?? 0) + 1;
    if (settings.errorRate > 0 && !method.startsWith('replay_') && prng.chance(settings.errorRate)) {
      return this.fail(id, overloaded());
    }
    try {
      return this.answer(id, method, params, connectionMethods);
    } catch (error) {
      if (error instanceof RpcError) return this.fail(id, error);
      return this.fail(id, new RpcError(-32603, `Internal error: ${String(error)}`));
    }
  }

  private answer(id: unknown, method: string, params: unknown[], connectionMethods?: Methods): AnswerChunks {
    const { answers, methods, store } = this.deps;
    const recorded = answers.size > 0 ? answers.get(exchangeKey(method, params)) : undefined;
    if (recorded?.isError) {
      this.deps.stats.errors++;
      return [Buffer.from(`${opening(id)}"error":`), store.read(recorded.body), END];
    }
    const result = recorded
      ? store.read(recorded.body)
      : callMethod(connectionMethods, methods, method, params);
    if (this.tooLong(result.length)) throw responseTooLarge();
    return [Buffer.from(`${opening(id)}"result":`), result, END];
  }

  private tooLong(length: number): boolean {
    const { maxResponseBytes } = this.deps.settings;
    return maxResponseBytes > 0 && length > maxResponseBytes;
  }

  private fail(id: unknown, { code, message }: RpcError): AnswerChunks {
    this.deps.stats.errors++;
    return [Buffer.from(`${opening(id)}"error":`), jsonBytes({ code, message }), END];
  }
}

export function totalLength(bytes: AnswerChunks): number {
  return bytes.reduce((sum, piece) => sum + piece.length, 0);
}

function callMethod(
  connectionMethods: Methods | undefined,
  methods: Methods,
  name: string,
  params: unknown[],
): Buffer {
  const method = connectionMethods?.[name] ?? methods[name];
  if (!method) throw methodNotFound();
  return method(params);
}

function opening(id: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},`;
}

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
