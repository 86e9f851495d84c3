/** JSON-RPC over HTTP: `POST /rpc`. */
import { methodFilter } from '../../access/allow-list.ts';
import type { KeyRecord } from '../../access/key.ts';
import type { AdmissionResult } from '../../access/limiter.ts';
import { type RpcAnswer, type RpcConsumer, SETTLED, sendAnswer } from '../../gateway/call.ts';
import { errorJson, limitExceededAnswer, RpcCode } from '../../gateway/errors.ts';
import type { Charge, RpcCaller, RpcHandler } from '../../gateway/handler.ts';
import { LargeAnswer } from '../../gateway/large-answer.ts';
import type { ByteSource } from '../../lib/byte-stream.ts';
import { RequestError } from '../../lib/errors.ts';
import { QueuedCharge } from '../queued-charge.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import {
  type Answer,
  bodyTooLarge,
  isStatus,
  jsonAnswer,
  paddedRetryAfterHeader,
  RPC_PATH,
  rateLimitHeaders,
  unauthorized,
} from './answer.ts';
import {
  type BodyReservation,
  closeIfChunked,
  collectBody,
  contentLengthExceeds,
  isEncoded,
  UNENCODED_ONLY,
} from './body.ts';
import type { DeferredReply } from './deferred-reply.ts';
import { apiKeyOf, type ClientAccess } from './request.ts';
import { type KeyedRouteDeps, routeMeter } from './route.ts';

/** Largest request body, bytes. Nodes accept the same. */
const MAX_BODY_BYTES = 2_000_000;

interface RpcRouteDeps extends KeyedRouteDeps {
  rpc: RpcHandler;
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
      (answer) => meter(answer, startedAt),
      () => {
        reservation?.release();
        httpRpcReply?.cancel();
      },
    );
    reply.guardHandler(() => {
      const headers = cors(req);
      const apiKey = apiKeyOf(req);
      const sender = access.keys.verify(apiKey);
      if (sender === null) return reply.send(closeIfChunked(req, unauthorized(headers)));
      if (isEncoded(req)) return reply.send(closeIfChunked(req, refuseEncoded(access, sender, headers)));
      const answerBody = (body: Buffer | RequestError): void => {
        // Verify again: the key may have been revoked while the body arrived, which can take minutes.
        const key = access.keys.verify(apiKey);
        if (key === null) return reply.send({ ...unauthorized(headers), close: true });
        if (body instanceof RequestError) return refuseUnread(reply, access, key, body, headers);
        httpRpcReply = new HttpRpcReply(reply, access, key, headers);
        httpRpcReply.serve(rpc, body);
      };
      if (contentLengthExceeds(req, MAX_BODY_BYTES)) return answerBody(bodyTooLarge(MAX_BODY_BYTES));
      reservation = bodyBudget.open(sender.id);
      collectBody(res, reply, MAX_BODY_BYTES, reservation, answerBody);
    });
  });
}

/** Refuses a compressed body unread. It counts as one call. */
function refuseEncoded({ limiter }: ClientAccess, key: KeyRecord, headers: string): Answer {
  const body = errorJson('null', { code: RpcCode.invalidRequest, message: UNENCODED_ONLY });
  return jsonAnswer(415, body, headers + rateLimitHeaders(limiter.take(key, 1)));
}

/** Refuses a body that cannot be read to its end. It counts as one call. */
function refuseUnread(
  reply: DeferredReply,
  { limiter }: ClientAccess,
  key: KeyRecord,
  { status, message }: RequestError,
  headers: string,
): void {
  const body = errorJson('null', { code: RpcCode.invalidRequest, message });
  const limits = rateLimitHeaders(limiter.take(key, 1));
  reply.send({ ...jsonAnswer(isStatus(status) ? status : 400, body, headers + limits), close: true });
}

/**
 * Bodies up to this size are parsed even if the key is over its limits, so that the refusal carries the ids of the
 * calls. Fits 1,000 contract calls, which take 5 ms to parse.
 */
const MAX_ALWAYS_READ_BYTES = 512 * 1024;

class HttpRpcReply extends QueuedCharge implements RpcConsumer, RpcCaller, ByteSource {
  readonly canStream = true;
  readonly key: number;
  readonly mayCall: RpcCaller['mayCall'];
  private readonly reply: DeferredReply;
  private readonly access: Pick<ClientAccess, 'limiter' | 'waitingLine'>;
  /** Header lines. */
  private readonly cors: string;
  private headers: string;
  /** Serves the request again after the wait; null unless the request waits. */
  private retry: (() => ByteSource) | null = null;
  private source: ByteSource = SETTLED;

  constructor(
    reply: DeferredReply,
    access: Pick<ClientAccess, 'limiter' | 'waitingLine'>,
    record: KeyRecord,
    cors: string,
  ) {
    super(access.waitingLine, record);
    this.reply = reply;
    this.access = access;
    this.cors = cors;
    this.headers = cors;
    this.key = record.id;
    this.mayCall = methodFilter(record);
  }

  /** Answers a request body. Does not parse a large body while the key is over its limits. */
  serve(rpc: RpcHandler, body: Buffer): void {
    const isLarge = body.length > MAX_ALWAYS_READ_BYTES;
    this.bytes = body.length;
    const refused = isLarge ? this.access.limiter.refusal(this.record) : null;
    // A large request waits unread: as one call, because nobody knows yet how many it has.
    const admission = refused === null ? null : this.decideUnread();
    if (admission !== null && admission !== 'waits' && !admission.ok) {
      this.addRateLimitHeaders(admission);
      sendAnswer(
        this,
        limitExceededAnswer(admission, (error) => errorJson('null', error)),
      );
      return;
    }
    const text = body.toString('latin1');
    const read = () => {
      const source = rpc.serve(text, this, this);
      if (this.isWaiting) this.retry = read;
      return source;
    };
    if (admission === 'waits') this.retry = read;
    else this.source = read();
  }

  /** Call when the client disconnects. */
  cancel(): void {
    this.leave();
    this.source.cancel();
  }

  resume(): void {
    this.source.resume();
  }

  charge(calls: number): Charge {
    const admission = this.decide(calls);
    if (admission === 'waits') return admission;
    this.addRateLimitHeaders(admission);
    return admission.ok ? null : admission;
  }

  protected onTurn(admission: AdmissionResult | null): void {
    this.reply.guard(() => {
      const { retry } = this;
      this.retry = null;
      if (admission === null) this.reply.send(unauthorized(this.cors));
      else this.source = retry?.() ?? SETTLED;
    });
  }

  send(body: RpcAnswer['body'], status: RpcAnswer['status'], _mayRetain: boolean, retryAfter?: number): void {
    if (body === null) {
      return this.reply.send({ status, headers: this.headers, body, cache: 'no-store' });
    }
    if (body instanceof LargeAnswer) {
      const { headers, cache } = jsonAnswer(status, '', this.headers);
      return this.reply.sendLarge({ status, headers, cache }, body);
    }
    const headers =
      retryAfter === undefined ? this.headers : this.headers + paddedRetryAfterHeader(retryAfter);
    this.reply.send(jsonAnswer(status, body, headers));
  }

  begin(): void {
    const { status, headers, cache } = jsonAnswer(200, '', this.headers);
    this.reply.begin({ status, headers, cache }, this);
  }

  write(piece: Buffer): boolean {
    return this.reply.write(piece);
  }

  end(last: Buffer): void {
    this.reply.end(last);
  }

  abort(): void {
    this.reply.abort();
  }

  private addRateLimitHeaders(admission: AdmissionResult): void {
    this.headers += rateLimitHeaders(admission);
  }
}
