/** The route of JSON-RPC over HTTP. */
import type { KeyRecord } from '../access/keys.ts';
import { errorJson, RpcCode } from '../rpc/errors.ts';
import type { RpcHandler } from '../rpc/handler.ts';
import { type Answer, jsonAnswer, rateLimitHeaders, unauthorized } from './answer.ts';
import { authenticate, type ClientAccess } from './authenticate.ts';
import {
  type BodyBudget,
  type BodyReservation,
  closeIfChunked,
  collectBody,
  contentLengthExceeds,
} from './body.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import type { DeferredReply, ReplyWriter } from './reply.ts';
import { HttpRpcReply } from './rpc-reply.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

export const RPC_PATH = '/rpc';

/** Most bytes of a request body: as many as nodes accept. */
const MAX_BODY_BYTES = 2_000_000;

export interface RpcRouteDeps {
  rpc: RpcHandler;
  access: ClientAccess;
  bodyBudget: BodyBudget;
  replies: ReplyWriter;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
}

/** Registers `POST /rpc`. */
export function addRpcRoute(
  app: TemplatedApp,
  { rpc, access, bodyBudget, replies, cors, metrics }: RpcRouteDeps,
): void {
  const meter = routeMeter(metrics, RPC_PATH);

  app.post(RPC_PATH, (res: HttpResponse, req: HttpRequest) => {
    const startedAt = performance.now();
    let reservation: BodyReservation | null = null;
    let httpRpcReply: HttpRpcReply | null = null;
    const reply = replies.defer(
      res,
      (status) => meter(status, startedAt),
      () => {
        reservation?.release();
        httpRpcReply?.cancel();
      },
    );
    reply.guard(() => {
      const headers = cors(req);
      const key = authenticate(access, req);
      if (key === null) return reply.send(closeIfChunked(req, unauthorized(headers)));
      const answerBody = (body: Buffer | null): void => {
        if (body === null) return refuseTooLarge(reply, access, key, headers);
        const rpcReply = new HttpRpcReply(reply, access.limiter, key, headers);
        httpRpcReply = rpcReply;
        reply.guard(() => rpcReply.serve(rpc, body));
      };
      if (contentLengthExceeds(req, MAX_BODY_BYTES)) return answerBody(null);
      reservation = bodyBudget.open(key.id);
      collectBody(res, MAX_BODY_BYTES, reservation, answerBody);
    });
  });
}

/** A body that is too large to be read counts as one call. */
function refuseTooLarge(
  reply: DeferredReply,
  { limiter }: ClientAccess,
  key: KeyRecord,
  headers: string,
): void {
  const message = `request body larger than ${MAX_BODY_BYTES} bytes`;
  const body = errorJson('null', { code: RpcCode.invalidRequest, message });
  const answer: Answer = jsonAnswer(413, body, headers + rateLimitHeaders(limiter.take(key, 1)));
  reply.send({ ...answer, close: true });
}
