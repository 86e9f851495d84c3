/**
 * Handles messages of WebSocket clients: subscribes and unsubscribes here, passes everything else to the JSON-RPC
 * handler.
 */

import { methodFilter } from '../../access/allow-list.ts';
import type { KeyRecord } from '../../access/key.ts';
import type { AdmissionResult } from '../../access/limiter.ts';
import type { WaitingLine } from '../../access/waiting-line.ts';
import type { RpcAnswer } from '../../gateway/call.ts';
import {
  errorJson,
  INTERNAL_ERROR,
  limitExceededError,
  methodNotAllowed,
  NO_ROOM,
  type Refusal,
  RpcCode,
} from '../../gateway/errors.ts';
import type { Charge, RpcHandler } from '../../gateway/handler.ts';
import { itemTexts } from '../../gateway/json-scan.ts';
import { LargeAnswer } from '../../gateway/large-answer.ts';
import {
  errorForAll,
  type IncomingCall,
  type InvalidCall,
  type RpcRequest,
  readRequest,
} from '../../gateway/request.ts';
import { RequestError } from '../../lib/errors.ts';
import type { Logger } from '../../log/logger.ts';
import { SIGNALS_TOPIC } from '../../streams/hub.ts';
import { NodeRefusal } from '../../streams/subscribe-errors.ts';
import type { Session, Subscription } from '../../streams/subscription.ts';
import { QueuedCharge } from '../queued-charge.ts';
import type { Client, WsConnection } from './connection.ts';

/** JSON-RPC codes for a refused subscribe (streams/subscribe-errors.ts): geth's where geth has one. */
const SUBSCRIBE_ERROR_CODES: Record<string, number> = {
  invalid_params: RpcCode.invalidParams,
  unknown_subscription: RpcCode.methodNotFound,
  not_found: -32000,
  limit_exceeded: RpcCode.limitExceeded,
  upstream: RpcCode.internal,
  not_ready: RpcCode.internal,
};

interface MessageHandlerDeps {
  rpc: Pick<RpcHandler, 'answer'>;
  line: Pick<WaitingLine, 'enter'>;
  log: Logger;
}

/** A client's message with its context. */
interface ClientMessage extends Pick<Client, 'session'> {
  connection: Pick<WsConnection, 'answer' | 'countTowardsFlood' | 'signal' | 'endpoint'>;
  key: KeyRecord;
  body: Buffer;
  /** By performance.now(). */
  arrivedAt: number;
}

type MayCall = ReturnType<typeof methodFilter>;

/** The answer to one call and the subscription it created. */
interface CallResult {
  text: string | null;
  subscription: Subscription | null;
}

/** Answers messages of one endpoint. Rejects when the connection has ended, and for a defect. */
export type MessageHandler = (message: ClientMessage) => Promise<void>;

/** Charges a message to its key. */
class MessageCharge extends QueuedCharge {
  private readonly signal: AbortSignal;
  private turn: PromiseWithResolvers<void> | null = null;
  private isExpelled = false;

  constructor(line: Pick<WaitingLine, 'enter'>, { connection, key, body, arrivedAt }: ClientMessage) {
    super(line, key, arrivedAt);
    this.bytes = body.length;
    this.signal = connection.signal;
  }

  readonly charge = (calls: number): Charge => {
    if (this.isExpelled) return { message: 'the API key is no longer valid', retryAfter: 0 };
    const admission = this.decide(calls);
    return admission === 'waits' || !admission.ok ? admission : null;
  };

  /** Resolves when a charge that waits has its decision. Rejects with the signal's reason. */
  async waitForTurn(): Promise<void> {
    if (!this.isWaiting) return;
    this.turn = Promise.withResolvers();
    const { turn, signal } = this;
    const onAbort = (): void => {
      this.leave();
      turn.reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    await turn.promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  /** Like `charge`, after the wait. */
  async admit(calls: number): Promise<Refusal | null> {
    for (;;) {
      const charge = this.charge(calls);
      if (charge !== 'waits') return charge;
      await this.waitForTurn();
    }
  }

  protected onTurn(admission: AdmissionResult | null): void {
    this.isExpelled = admission === null;
    this.turn?.resolve();
  }
}

/** `/ws`: eth_subscribe, eth_unsubscribe, and all methods and batches that `/rpc` accepts. */
export function ethMessageHandler({ rpc, line, log }: MessageHandlerDeps): MessageHandler {
  const isSubscriptionCall = (call: IncomingCall | InvalidCall): call is IncomingCall =>
    'method' in call && (call.method === 'eth_subscribe' || call.method === 'eth_unsubscribe');

  return async (message) => {
    const { connection, session, key, body } = message;
    const charged = new MessageCharge(line, message);
    const mayCall = methodFilter(key);
    const forward = async (calls: Buffer, charge: (calls: number) => Charge) => {
      const onRefused = () => connection.countTowardsFlood();
      const caller = { key: key.id, mayCall, charge, onRefused };
      for (;;) {
        const answer = await rpc.answer(calls, caller, connection.signal);
        if (answer !== 'waits') return answer.body;
        await charged.waitForTurn();
      }
    };
    // Skips parsing for most calls that do not concern subscriptions. A backslash may escape a method name.
    const mayBeSubscriptionCall = body.includes('subscribe') || body.includes('\\');
    const request = mayBeSubscriptionCall ? readRequest(body.toString('utf8')) : null;
    if (request?.kind === 'single' && isSubscriptionCall(request.call)) {
      const refusal = await charged.admit(1);
      if (refusal !== null) return sendRefusal(connection, request, refusal);
      return send(connection, [await runEthCall(session, request.call, mayCall, log)], (text) => text);
    }
    if (request?.kind === 'batch' && request.calls.some(isSubscriptionCall)) {
      const refusal = await charged.admit(request.calls.length);
      if (refusal !== null) return sendRefusal(connection, request, refusal);
      const texts = itemTexts(body.toString('utf8')).filter((_, i) => !isSubscriptionCall(request.calls[i]!));
      const own = Promise.all(
        request.calls.map((call) =>
          isSubscriptionCall(call) ? runEthCall(session, call, mayCall, log) : call,
        ),
      );
      const others = texts.length === 0 ? null : await forward(Buffer.from(`[${texts.join()}]`), () => null);
      const results = inOrder(await own, textOf(others));
      return send(connection, results, (text) => (text === '' ? null : `[${text}]`));
    }
    const answer = await forward(body, charged.charge);
    if (answer === null) return;
    connection.answer(answer, () => errorForAll(readRequest(body.toString('utf8')), NO_ROOM));
  };
}

/** `/ws/signals`: atlas_subscribe and atlas_unsubscribe. Answers both even without an id. */
export function signalMessageHandler({ line, log }: Omit<MessageHandlerDeps, 'rpc'>): MessageHandler {
  return async (message) => {
    const { connection, session, key, body } = message;
    const request = readRequest(body.toString('utf8'));
    const calls = request.kind === 'batch' ? request.calls : request.kind === 'single' ? [request.call] : [];
    const refusal = await new MessageCharge(line, message).admit(Math.max(1, calls.length));
    if (refusal !== null) return sendRefusal(connection, request, refusal);
    if (request.kind === 'refused') return connection.answer(errorForAll(request, request.error));
    const mayCall = methodFilter(key);
    const results = await Promise.all(calls.map((call) => runSignalCall(session, call, mayCall, log)));
    send(connection, results, (text) => (request.kind === 'batch' ? `[${text}]` : text));
  };
}

/** Sends the answers in one message, then releases the notifications of new subscriptions. */
function send(
  connection: ClientMessage['connection'],
  results: readonly CallResult[],
  wrap: (text: string) => string | null,
): void {
  const texts = results.flatMap(({ text }) => text ?? []);
  const message = wrap(texts.join());
  if (message !== null && message !== '') connection.answer(message);
  for (const { subscription } of results) subscription?.release();
}

function textOf(body: RpcAnswer['body']): string {
  return body instanceof LargeAnswer ? body.join().toString() : (body?.toString() ?? '');
}

/**
 * All results of a batch in the order of its calls. Each call without an entry in `results`, unless it is a
 * notification, takes the next answer from `others`, the text of the gateway's answers. If `others` is a single error,
 * it comes last.
 */
function inOrder(
  results: readonly (CallResult | IncomingCall | InvalidCall)[],
  others: string,
): CallResult[] {
  const isBatch = others.startsWith('[');
  const answers = isBatch ? itemTexts(others).values() : null;
  const ordered = results.map((result): CallResult => {
    if ('subscription' in result) return result;
    return { text: result.id === null ? null : (answers?.next().value ?? null), subscription: null };
  });
  return isBatch || others === '' ? ordered : [...ordered, { text: others, subscription: null }];
}

/** Ignores a subscribe sent as a notification: the client would never learn the subscription's id. */
async function runEthCall(
  session: Session,
  { id, method, params }: IncomingCall,
  mayCall: MayCall,
  log: Logger,
): Promise<CallResult> {
  if (mayCall?.(method) === false) {
    const text = id === null ? null : errorJson(id, methodNotAllowed(method));
    return { text, subscription: null };
  }
  if (id === null && method === 'eth_subscribe') return { text: null, subscription: null };
  const result = await toCallResult(id ?? 'null', log, async () => {
    const list: unknown = JSON.parse(params);
    if (!Array.isArray(list)) throw new RequestError(400, 'invalid_params', 'params must be an array');
    const [first, ...rest]: unknown[] = list;
    if (typeof first !== 'string') {
      const what = method === 'eth_subscribe' ? 'the name of a subscription' : 'the id of a subscription';
      throw new RequestError(400, 'invalid_params', `the first parameter must be ${what}`);
    }
    if (method === 'eth_subscribe') return session.subscribe(first, rest);
    session.unsubscribe(first);
    return null;
  });
  return id === null ? { text: null, subscription: null } : result;
}

async function runSignalCall(
  session: Session,
  call: IncomingCall | InvalidCall,
  mayCall: MayCall,
  log: Logger,
): Promise<CallResult> {
  const id = call.id ?? 'null';
  if ('error' in call) return { text: errorJson(id, call.error), subscription: null };
  if (mayCall?.(call.method) === false) {
    return { text: errorJson(id, methodNotAllowed(call.method)), subscription: null };
  }
  const params: unknown = JSON.parse(call.params);
  const list: unknown[] = Array.isArray(params) ? params : [params];
  if (call.method === 'atlas_subscribe')
    return toCallResult(id, log, () => session.subscribe(SIGNALS_TOPIC, list));
  if (call.method === 'atlas_unsubscribe') {
    return toCallResult(id, log, async () => {
      if (typeof list[0] !== 'string') {
        throw new RequestError(400, 'invalid_params', 'the parameter must be the id of a subscription');
      }
      session.unsubscribe(list[0]);
      return null;
    });
  }
  const message =
    `the method ${call.method.slice(0, 100)} does not exist here; use atlas_subscribe or ` +
    'atlas_unsubscribe';
  return { text: errorJson(id, { code: RpcCode.methodNotFound, message }), subscription: null };
}

async function toCallResult(
  id: string,
  log: Logger,
  run: () => Promise<Subscription | null>,
): Promise<CallResult> {
  try {
    const subscription = await run();
    const result = subscription === null ? 'true' : `"${subscription.id}"`;
    return { text: `{"jsonrpc":"2.0","id":${id},"result":${result}}`, subscription };
  } catch (error) {
    if (error instanceof NodeRefusal) {
      return { text: `{"jsonrpc":"2.0","id":${id},"error":${error.json}}`, subscription: null };
    }
    if (!(error instanceof RequestError)) {
      log.error({ err: error }, 'subscription failed');
      return { text: errorJson(id, INTERNAL_ERROR), subscription: null };
    }
    const code = SUBSCRIBE_ERROR_CODES[error.code] ?? RpcCode.internal;
    return { text: errorJson(id, { code, message: error.message }), subscription: null };
  }
}

function sendRefusal(connection: ClientMessage['connection'], request: RpcRequest, refusal: Refusal): void {
  connection.answer(errorForAll(request, limitExceededError(refusal)));
  connection.countTowardsFlood();
}
