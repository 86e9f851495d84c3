/** Posts messages to receivers: signed, bounded in time and size, and only to permitted targets. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { codeOf, messageOf } from '../lib/errors.ts';
import { isNotTls, peerCertificateProblem, UNKNOWN_ISSUER } from '../lib/tls-files.ts';
import { versionText } from '../lib/version.ts';
import { Connections } from './connections.ts';
import { parseTarget } from './target.ts';

/** Longest time for a receiver to accept, milliseconds. It includes the connection, but no wait for it. */
const ACCEPT_MS = 10_000;
/** Longest Retry-After to honour, milliseconds. */
const MAX_RETRY_AFTER_MS = 900_000;

export interface Message {
  /** Each hook has its own connection. */
  hook: number;
  id: string;
  url: string;
  /** The message carries a signature with each. */
  secrets: readonly string[];
  body: string;
}

/** The outcome of a message. The error is for the operator and contains no secret. */
export type SendOutcome =
  | { kind: 'accepted' }
  /** Status 410: the receiver wants no more messages. */
  | { kind: 'gone' }
  | { kind: 'failed'; error: string; retryAfterMs: number };

export class Sender {
  private readonly allowPrivate: boolean;
  private readonly connections: Connections;
  private readonly timeoutMs: number;

  constructor({ allowPrivate, timeoutMs = ACCEPT_MS }: { allowPrivate: boolean; timeoutMs?: number }) {
    this.allowPrivate = allowPrivate;
    this.timeoutMs = timeoutMs;
    this.connections = new Connections({ allowPrivate });
  }

  /** Never rejects. An aborted signal gives up the attempt. */
  async send(message: Message, signal?: AbortSignal): Promise<SendOutcome> {
    const target = parseTarget(message.url, this.allowPrivate);
    if (typeof target === 'string') return failed(target);
    try {
      return await this.post(target, message, signal);
    } catch (error) {
      return failed(describe(error));
    }
  }

  close(): void {
    this.connections.close();
  }

  private async post(target: URL, message: Message, signal?: AbortSignal): Promise<SendOutcome> {
    const { hook, body } = message;
    const options = { method: 'POST', headers: headersOf(message), hook, ...(signal && { signal }) };
    const request = this.connections.request(target, options);
    const answered = answerTo(request, this.timeoutMs);
    request.end(body);
    const response = await answered;
    drain(request, response);
    return outcomeOf(response);
  }
}

function headersOf({ id, secrets, body }: Message) {
  const now = new Date();
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': `atlas-node/${versionText}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}

/** Settles whatever the receiver does. */
function answerTo(request: ClientRequest, timeoutMs: number): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let deadline: NodeJS.Timeout | undefined;
  const late = new Error(`no answer within ${timeoutMs / 1000} s`);
  request.on('socket', () => {
    deadline = setTimeout(() => request.destroy(late), timeoutMs);
  });
  request.on('response', (response) => {
    clearTimeout(deadline);
    response.on('error', () => undefined); // its status is already known
    resolve(response);
  });
  request.on('error', reject);
  request.on('close', () => {
    clearTimeout(deadline);
    reject(new Error('the receiver closed the connection without an answer')); // as after an answer of status 101
  });
  return promise;
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage): SendOutcome {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'accepted' };
  if (statusCode === 410) return { kind: 'gone' };
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const detail = isRedirect ? ': redirects are not followed, set the final URL' : '';
  return failed(`the receiver answered ${statusCode}${detail}`, retryAfterMs(headers['retry-after']));
}

/** Most bytes read of a response. Its body does not matter, but the connection can only be reused after it. */
const MAX_RESPONSE_BYTES = 65_536;
/** Longest time to read it, milliseconds. The next message of the hook waits. */
const DRAIN_MS = 2_000;

function drain(request: ClientRequest, response: IncomingMessage): void {
  const end = (): void => void request.destroy();
  const timer = setTimeout(end, DRAIN_MS);
  let left = MAX_RESPONSE_BYTES;
  response.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  response.on('end', () => {
    if (!request.writableFinished) end(); // answered before it read the message
  });
  response.on('close', () => clearTimeout(timer));
}

/** The delay that a Retry-After names, as seconds or as a date of HTTP; 0 without one. */
export function retryAfterMs(value: string | undefined, now = Date.now()): number {
  const text = value?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now;
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : 0; // NaN is not above 0
}

/**
 * Each of the three formats of RFC 9110 begins with the day of the week. All are in GMT, the third without saying so.
 */
function parseHttpDate(text: string): number {
  if (!/^[A-Z][a-z]{2,8},? [\w: -]{10,40}$/.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/** Node's messages contain hosts and addresses, but no paths or queries, where a URL may hold its secret. */
function describe(error: unknown): string {
  const code = codeOf(error);
  return `${reasonOf(code, messageOf(error))} (${code || 'no code'})`.slice(0, 300);
}

function reasonOf(code: string, message: string): string {
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return 'the receiver closed the connection before it answered';
  if (isNotTls(code, message)) return 'the receiver does not speak TLS there: use http:// in its URL';
  const certificate = peerCertificateProblem(code, message, 'the receiver');
  if (certificate === null) return message;
  return UNKNOWN_ISSUER.has(code)
    ? `${certificate}: start with NODE_EXTRA_CA_CERTS set to the file of its issuer`
    : certificate;
}

function failed(error: string, retryAfterMs = 0): SendOutcome {
  return { kind: 'failed', error, retryAfterMs };
}
