/** `POST /rpc`: checks calls, sends each to the node and passes its answer on. */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { HttpAnswer } from '../upstream/http.ts';
import { errorText, RpcCode, type RpcError } from './errors.ts';
import { methodLabel } from './method-label.ts';
import { upstreamRequest, withId } from './reply.ts';
import { type BadCall, type RpcCall, readRequest } from './request.ts';

/** Calls of one batch that are at the node at the same time, so that one client's batch does not take every socket. */
const BATCH_CONCURRENCY = 16;

/** Bytes of a batch's answers after which the calls that are left get an error. */
const MAX_BATCH_BYTES = 128 * 1024 * 1024;

/** What carries a request to the node; `what` names it in errors. Rejects with UpstreamError, or the signal's reason. */
export interface RpcTransport {
  post(body: string, what: string, signal?: AbortSignal): Promise<HttpAnswer>;
}

/** Why the caller may not call now. */
export interface Refusal {
  message: string;
  /** Seconds. */
  retryAfter: number;
}

/** Who asks. */
export interface RpcCaller {
  /** Id of the API key: what a client may hold at the gateway, it holds per key. */
  key: number;
  /** Called once with the number of calls of a request; null admits them. */
  charge(calls: number): Refusal | null;
}

/** An answer over HTTP. `body` is null when there is nothing to say: all calls were notifications. */
export interface RpcAnswer {
  status: 200 | 204 | 429 | 502 | 504;
  body: Buffer | string | null;
  /** Seconds, with status 429. */
  retryAfter?: number;
}

export interface RpcHandlerOptions {
  transport: RpcTransport;
  /** The methods that may be called. */
  allowed: (method: string) => boolean;
  /** Calls slower than this are logged, milliseconds. */
  slowMs: number;
  log: Logger;
  metrics: Pick<Metrics, 'rpcRequests' | 'rpcSeconds'>;
}

/** What came of one call. */
interface Outcome {
  /** Pieces of the answer; empty for a notification. */
  pieces: Buffer[];
  /** What the HTTP status would be if this were the only call. */
  status: 200 | 502 | 504;
}

export class RpcHandler {
  private readonly options: RpcHandlerOptions;

  constructor(options: RpcHandlerOptions) {
    this.options = options;
  }

  /**
   * Answers a request body.
   * Never rejects for what the client or the node did; the signal's abort rejects with its reason.
   */
  async answer(body: Buffer, caller: RpcCaller, signal?: AbortSignal): Promise<RpcAnswer> {
    const request = readRequest(body.toString('utf8'));
    const refusal = caller.charge(request.kind === 'batch' ? request.calls.length : 1);
    if (refusal !== null) {
      const id = request.kind === 'single' ? request.call.id : null;
      return {
        status: 429,
        body: errorText(id ?? 'null', overLimit(refusal)),
        retryAfter: refusal.retryAfter,
      };
    }
    switch (request.kind) {
      case 'refused':
        return { status: 200, body: errorText('null', request.error) };
      case 'single':
        return single(await this.run(request.call, signal));
      case 'batch':
        return this.batch(request.calls, signal);
    }
  }

  private async batch(calls: readonly (RpcCall | BadCall)[], signal?: AbortSignal): Promise<RpcAnswer> {
    const outcomes = new Array<Outcome>(calls.length);
    let next = 0;
    let bytes = 0;
    const work = async () => {
      while (next < calls.length) {
        const at = next++;
        const call = calls[at]!;
        const outcome = bytes > MAX_BATCH_BYTES ? tooLarge(call) : await this.run(call, signal);
        bytes += sizeOf(outcome);
        outcomes[at] = outcome;
      }
    };
    await Promise.all(Array.from({ length: Math.min(BATCH_CONCURRENCY, calls.length) }, work));
    return joined(outcomes);
  }

  private async run(call: RpcCall | BadCall, signal?: AbortSignal): Promise<Outcome> {
    if ('error' in call) return failed(call.id, call.error);
    if (!this.options.allowed(call.method)) {
      return failed(call.id, {
        code: RpcCode.methodNotFound,
        message: `the method ${call.method.slice(0, 100)} does not exist or is not available here`,
      });
    }
    const began = performance.now();
    const outcome = await this.forward(call, signal);
    this.observe(call.method, outcome, (performance.now() - began) / 1000);
    return outcome;
  }

  private async forward({ id, method, params }: RpcCall, signal?: AbortSignal): Promise<Outcome> {
    try {
      const answer = await this.options.transport.post(upstreamRequest(method, params), method, signal);
      const pieces = withId(answer.body, id ?? 'null');
      return { pieces: id === null ? [] : pieces, status: 200 };
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.options.log.warn({ err: error, method: methodLabel(method) }, 'call to the node failed');
      return failedUpstream(id, error);
    }
  }

  private observe(method: string, outcome: Outcome, seconds: number): void {
    const label = methodLabel(method);
    this.options.metrics.rpcRequests.inc({ method: label, status: String(outcome.status) });
    this.options.metrics.rpcSeconds.observe({ method: label }, seconds);
    const ms = Math.round(seconds * 1000);
    if (ms > this.options.slowMs) this.options.log.warn({ method: label, ms }, 'slow call');
  }
}

function failed(id: string | null, error: RpcError, status: Outcome['status'] = 200): Outcome {
  return { pieces: id === null ? [] : [Buffer.from(errorText(id, error))], status };
}

function failedUpstream(id: string | null, error: UpstreamError): Outcome {
  if (error.reason === 'timeout')
    return failed(id, { code: RpcCode.internal, message: 'upstream timeout' }, 504);
  if (error.reason === 'too-large')
    return failed(id, { code: RpcCode.internal, message: 'response too large' });
  return failed(id, { code: RpcCode.internal, message: 'upstream unavailable' }, 502);
}

function tooLarge(call: RpcCall | BadCall): Outcome {
  return failed(call.id, {
    code: RpcCode.internal,
    message: 'batch response too large; send fewer calls at once',
  });
}

function overLimit({ message, retryAfter }: Refusal): RpcError {
  return { code: RpcCode.limitExceeded, message, data: { retryAfter } };
}

function single({ pieces, status }: Outcome): RpcAnswer {
  return pieces.length === 0 ? { status: 204, body: null } : { status, body: Buffer.concat(pieces) };
}

/** The answers in the order of their calls. Only when the node answered none of them does the status say so. */
function joined(outcomes: readonly Outcome[]): RpcAnswer {
  const status = outcomes.some((outcome) => outcome.status === 200) ? 200 : (outcomes[0]?.status ?? 200);
  const answers = outcomes.filter(({ pieces }) => pieces.length > 0);
  if (answers.length === 0) return { status: 204, body: null };
  const comma = Buffer.from(',');
  const pieces = answers.flatMap((answer, i) => (i === 0 ? answer.pieces : [comma, ...answer.pieces]));
  return { status, body: Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]) };
}

function sizeOf({ pieces }: Outcome): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
