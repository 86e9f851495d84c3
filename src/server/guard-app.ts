/**
 * Guards every callback that uWebSockets.js calls (lib/guard.ts). After an error, a request without an answer gets a
 * 500, any other connection is closed, a WebSocket with 1011.
 */
import { guarded, reportFailure } from '../lib/guard.ts';
import { INTERNAL_FAILURE } from '../streams/close.ts';
import { errorAnswer, internalError } from './http/answer.ts';
import { writeHead } from './http/write-answer.ts';
import type { HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from './uws.ts';

type Handler = Parameters<TemplatedApp['any']>[1];
type ResponseEvents = Pick<HttpResponse, 'onData' | 'onAborted' | 'onWritable'>;

const METHODS = ['get', 'head', 'post', 'options', 'del', 'any'] as const;

/** Prototypes of responses whose events are guarded: one without TLS and one with it. */
const guardedPrototypes = new WeakSet<ResponseEvents>();

/** Guards all handlers that are registered on the app after this call, and the events of its responses. */
export function guardApp(app: TemplatedApp): void {
  for (const method of METHODS) {
    const register = app[method].bind(app);
    app[method] = (path, handle) => register(path, guardHandler(handle));
  }
  const addFilter = app.filter.bind(app);
  app.filter = (callback) => addFilter(guarded('connection', callback));
}

// Every request passes these guards, so each is one function with its own try: no closure or spread beyond the
// callback.
function guardHandler(handle: Handler): Handler {
  let areEventsGuarded = false;
  return (res, req) => {
    try {
      if (!areEventsGuarded) guardEvents(res);
      areEventsGuarded = true;
      handle(res, req);
    } catch (error) {
      failRequest(res, error);
    }
  };
}

function failRequest(res: HttpResponse, error: unknown): void {
  reportFailure('request', error);
  answerFailure(res);
}

/** Guards the events of all responses that share the prototype of `res`. */
function guardEvents(res: HttpResponse): void {
  const prototype: ResponseEvents = Object.getPrototypeOf(res);
  if (guardedPrototypes.has(prototype)) return;
  guardedPrototypes.add(prototype);
  const { onData, onAborted, onWritable } = prototype;
  prototype.onData = function (this: HttpResponse, handler) {
    return onData.call(this, (chunk, isLast) => {
      try {
        handler(chunk, isLast);
      } catch (error) {
        reportFailure('request body', error);
        closeFailed(this);
      }
    });
  };
  prototype.onAborted = function (this: HttpResponse, handler) {
    return onAborted.call(this, () => {
      try {
        handler();
      } catch (error) {
        reportFailure('end of a request', error);
      }
    });
  };
  prototype.onWritable = function (this: HttpResponse, handler) {
    return onWritable.call(this, (offset) => {
      try {
        return handler(offset);
      } catch (error) {
        reportFailure('answer', error);
        closeFailed(this);
        return true;
      }
    });
  };
}

/** The connection may have ended already. */
const closeFailed = guarded('failed request', (res: HttpResponse) => void res.close());

/** Answers 500. Does nothing for a request that was answered, or closed because its answer could not be completed. */
const answerFailure = guarded('failed request', (res: HttpResponse): void => {
  const { body, ...head } = errorAnswer(internalError(), '');
  res.cork(() => {
    writeHead(res, head);
    res.end(body ?? undefined, true);
  });
});

/** The behavior of a WebSocket with all its callbacks guarded. */
export function guardSocket<T>(behavior: WebSocketBehavior<T>): WebSocketBehavior<T> {
  const { upgrade, open, message, drain, ping, pong, close } = behavior;
  return {
    ...behavior,
    ...(upgrade && {
      upgrade(res, req, context) {
        try {
          guardEvents(res);
          upgrade(res, req, context);
        } catch (error) {
          failRequest(res, error);
        }
      },
    }),
    ...(open && { open: guardEvent(open) }),
    ...(message && { message: guardEvent(message) }),
    ...(drain && { drain: guardEvent(drain) }),
    ...(ping && { ping: guardEvent(ping) }),
    ...(pong && { pong: guardEvent(pong) }),
    ...(close && { close: guarded('end of a WebSocket', close) }),
  };
}

function guardEvent<T, A extends unknown[]>(handle: (socket: WebSocket<T>, ...rest: A) => unknown) {
  return (socket: WebSocket<T>, ...rest: A): void => {
    try {
      handle(socket, ...rest);
    } catch (error) {
      reportFailure('WebSocket', error);
      endSocket(socket);
    }
  };
}

const endSocket = guarded('failed WebSocket', (socket: Pick<WebSocket<unknown>, 'end'>) =>
  socket.end(...INTERNAL_FAILURE),
);
