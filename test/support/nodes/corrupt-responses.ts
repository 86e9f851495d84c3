/** How the misbehaving node corrupts an answer: on the wire, in a batch, or by size. */
import type { ServerResponse } from 'node:http';
import { cut } from './cut.ts';

export interface NodeCall {
  method: string;
  params: unknown[];
}

export interface Call extends NodeCall {
  id: unknown;
}
export interface Reply {
  jsonrpc: '2.0';
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string } | null;
}

/** How to corrupt the HTTP answer. Bytes are counted in the body. */
export type Wire =
  | { kind: 'reset' }
  | { kind: 'hang' }
  | { kind: 'truncate'; afterBytes: number }
  | { kind: 'not-http' }
  | { kind: 'body'; status: number; text: string; type?: string; retryAfter?: string; location?: string }
  | { kind: 'until-close'; text: string }
  | { kind: 'wrong-length'; by: number };

/** How to corrupt the replies of a batch, numbered by the position of the call. */
export type BatchOrder =
  | 'reversed'
  | 'first-twice'
  | 'last-missing'
  | 'unknown-id'
  | 'first-replaced-by-second';

/** How a batch is refused: Monad's single object, geth's answer to the first call, or a status. */
export type Refusal = 'object' | 'first' | { status: number; text?: string };

interface SizeLimit {
  maxBytes: number;
  tooLargeAs: 'object' | 'rest';
}

/** Monad's answer, for single calls too. */
export const TOO_LARGE = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32603, message: 'response exceeds size limit' },
});

export function refusal(calls: readonly Call[], form: Refusal): { status: number; body: string } {
  const error = { code: -32600, message: 'batch too large' };
  if (typeof form === 'object') return { status: form.status, body: form.text ?? 'batches are not allowed' };
  const reply = { jsonrpc: '2.0', id: form === 'first' ? calls[0]?.id : null, error };
  return { status: 200, body: JSON.stringify(form === 'first' ? [reply] : reply) };
}

/** The body if the replies exceed the byte limit, else undefined. */
export function limited(
  replies: readonly Reply[],
  calls: readonly Call[],
  limit: SizeLimit,
): string | undefined {
  const sizes = replies.map((reply) => JSON.stringify(reply).length);
  if (sizes.reduce((sum, size) => sum + size, 0) <= limit.maxBytes) return undefined;
  if (limit.tooLargeAs === 'object') return TOO_LARGE;
  let bytes = 0;
  const error = { code: -32003, message: 'response too large' };
  const cut = replies.map((reply, index) => {
    const over = bytes > limit.maxBytes;
    bytes += sizes[index] ?? 0;
    return over ? { jsonrpc: '2.0', id: calls[index]?.id, error } : reply;
  });
  return JSON.stringify(cut);
}

export function reordered(replies: readonly Reply[], order: BatchOrder | null): readonly Reply[] {
  const [first, second] = replies;
  if (order === null || first === undefined || second === undefined) return replies;
  switch (order) {
    case 'reversed':
      return replies.toReversed();
    case 'first-twice':
      return [first, ...replies];
    case 'last-missing':
      return replies.slice(0, -1);
    case 'unknown-id':
      return [{ ...first, id: 1_000_000 }, ...replies.slice(1)];
    case 'first-replaced-by-second':
      return [second, ...replies.slice(1)];
  }
}

export function send(response: ServerResponse, status: number, body: string, wire: Wire | null): void {
  const socket = response.socket;
  const json = { 'content-type': 'application/json' };
  const length = Buffer.byteLength(body);
  switch (wire?.kind) {
    case undefined:
      response.writeHead(status, { ...json, 'content-length': length }).end(body);
      return;
    case 'hang':
      return;
    case 'reset':
      if (socket !== null) cut(socket);
      return;
    case 'not-http':
      socket?.end('\x00\x01 this is no HTTP \xff\r\n\r\n');
      return;
    case 'body':
      if (wire.retryAfter !== undefined) response.setHeader('retry-after', wire.retryAfter);
      if (wire.location !== undefined) response.setHeader('location', wire.location);
      response.writeHead(wire.status, { 'content-type': wire.type ?? 'text/html' }).end(wire.text);
      return;
    case 'until-close':
      socket?.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${wire.text}`);
      return;
    case 'truncate':
      response.writeHead(status, { ...json, 'content-length': length });
      response.write(Buffer.from(body).subarray(0, wire.afterBytes), () => socket?.destroySoon());
      return;
    case 'wrong-length':
      response
        .writeHead(status, { ...json, 'content-length': length + wire.by })
        .end(body, () => socket?.destroySoon());
  }
}
