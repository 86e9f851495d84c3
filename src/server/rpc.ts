/** The route of JSON-RPC over HTTP. */
import type { KeyRecord } from '../access/keys.ts';
import { errorText, RpcCode } from '../rpc/errors.ts';
import type { RpcHandler } from '../rpc/handler.ts';
import { type Answer, allowanceLines, jsonAnswer, unauthorized } from './answer.ts';
import {
  announcesMoreThan,
  collectBody,
  type UnfinishedBodies,
  type UnfinishedBody,
  unread,
} from './body.ts';
import { callerOf, type Gate } from './gate.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import type { LateReply, Replies } from './reply.ts';
import { RpcReply } from './rpc-reply.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

export const RPC_PATH = '/rpc';

/** Most bytes of a request body: as many as nodes accept. */
const MAX_BODY_BYTES = 2_000_000;

export interface RpcRoute {
  rpc: RpcHandler;
  gate: Gate;
  unfinished: UnfinishedBodies;
  replies: Replies;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
}

/** Registers `POST /rpc`. */
export function addRpcRoute(
  app: TemplatedApp,
  { rpc, gate, unfinished, replies, cors, metrics }: RpcRoute,
): void {
  const meter = routeMeter(metrics, RPC_PATH);

  app.post(RPC_PATH, (res: HttpResponse, req: HttpRequest) => {
    const began = performance.now();
    let receiving: UnfinishedBody | null = null;
    let answering: RpcReply | null = null;
    const reply = replies.later(
      res,
      (status) => meter(status, began),
      () => {
        receiving?.end();
        answering?.abandon();
      },
    );
    reply.attempt(() => {
      const lines = cors(req);
      const key = callerOf(gate, req);
      if (key === null) return reply.send(unread(req, unauthorized(lines)));
      const answerBody = (body: Buffer | null): void => {
        if (body === null) return refuseTooLarge(reply, gate, key, lines);
        const rpcReply = new RpcReply(reply, gate.limiter, key, lines);
        answering = rpcReply;
        reply.attempt(() => rpcReply.serve(rpc, body));
      };
      if (announcesMoreThan(req, MAX_BODY_BYTES)) return answerBody(null);
      receiving = unfinished.begin(key.id);
      collectBody(res, MAX_BODY_BYTES, receiving, answerBody);
    });
  });
}

/** A body that is too large to be read counts as one call. */
function refuseTooLarge(reply: LateReply, { limiter }: Gate, key: KeyRecord, lines: string): void {
  const message = `request body larger than ${MAX_BODY_BYTES} bytes`;
  const body = errorText('null', { code: RpcCode.invalidRequest, message });
  const answer: Answer = jsonAnswer(413, body, lines + allowanceLines(limiter.take(key, 1)));
  reply.send({ ...answer, close: true });
}
