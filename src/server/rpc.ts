/** The route of JSON-RPC over HTTP. */
import type { Logger } from '../log.ts';
import { errorText, RpcCode } from '../rpc/errors.ts';
import type { RpcAnswer, RpcHandler } from '../rpc/passthrough.ts';
import { type Answer, allowanceLines, jsonAnswer, retryAfterLine, unauthorized } from './answer.ts';
import { announcesMoreThan, collectBody } from './body.ts';
import { callerOf, type Gate } from './gate.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import type { Replies } from './reply.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

export const RPC_PATH = '/rpc';

/** Bytes of a request body: what nodes take. */
const MAX_BODY_BYTES = 2_000_000;

export interface RpcRoute {
  rpc: RpcHandler;
  gate: Gate;
  replies: Replies;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
  log: Logger;
}

/** Registers `POST /rpc`. */
export function addRpcRoute(app: TemplatedApp, { rpc, gate, replies, cors, metrics, log }: RpcRoute): void {
  const meter = routeMeter(metrics, RPC_PATH);

  app.post(RPC_PATH, (res: HttpResponse, req: HttpRequest) => {
    const began = performance.now();
    const gone = new AbortController();
    const reply = replies.later(
      res,
      (status) => meter(status, began),
      () => gone.abort(),
    );
    reply.attempt(() => {
      let lines = cors(req);
      const key = callerOf(gate, req);
      if (key === null) return reply.send({ ...unauthorized(lines), close: true });
      // Charged once the number of calls is known; a body that is too large to be read counts as one.
      const charge = (calls: number) => {
        const verdict = gate.limiter.take(key, calls);
        lines += allowanceLines(verdict);
        return verdict.ok ? null : verdict;
      };
      const answerBody = (body: Buffer | null) => {
        if (body === null) {
          charge(1);
          return reply.send(tooLarge(lines));
        }
        rpc.answer(body, { key: key.id, charge }, gone.signal).then(
          (answer) => reply.send(fromRpc(answer, lines)),
          (error: unknown) => {
            if (gone.signal.aborted) return;
            log.error({ err: error, route: RPC_PATH }, 'request failed');
            reply.send(internalError(lines));
          },
        );
      };
      if (announcesMoreThan(req, MAX_BODY_BYTES)) answerBody(null);
      else collectBody(res, MAX_BODY_BYTES, answerBody);
    });
  });
}

function internalError(lines: string): Answer {
  return jsonAnswer(500, errorText('null', { code: RpcCode.internal, message: 'internal error' }), lines);
}

function fromRpc({ status, body, retryAfter }: RpcAnswer, lines: string): Answer {
  if (body === null) return { status, lines, body, cache: 'no-store' };
  return jsonAnswer(status, body, retryAfter === undefined ? lines : lines + retryAfterLine(retryAfter));
}

function tooLarge(lines: string): Answer {
  const message = `request body larger than ${MAX_BODY_BYTES} bytes`;
  return {
    ...jsonAnswer(413, errorText('null', { code: RpcCode.invalidRequest, message }), lines),
    close: true,
  };
}
