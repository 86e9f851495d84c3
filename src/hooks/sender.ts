/** Posts messages to receivers: signed, bounded in time and size, and only to permitted targets. */
import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Webhook } from 'standardwebhooks';
import { codeOf, messageOf } from '../lib/errors.ts';
import { http } from '../lib/http.ts';
import { versionText } from '../lib/version.ts';
import { checkedLookup, parseTarget } from './target.ts';

/** Longest time for a receiver to accept, milliseconds. */
const ACCEPT_MS = 10_000;
/** Longest Retry-After to honour, milliseconds. */
const MAX_RETRY_AFTER_MS = 900_000;

export interface Message {
  id: string;
  url: string;
  secret: string;
  body: string;
}

/** The outcome of a message. The error is for the operator and contains no secret. */
export type Outcome =
  | { kind: 'accepted' }
  /** Status 410: the receiver wants no more messages. */
  | { kind: 'gone' }
  | { kind: 'failed'; error: string; retryAfterMs: number };

export class Sender {
  private readonly allowPrivate: boolean;
  private readonly agents: { http: InstanceType<typeof http.Agent>; https: HttpsAgent };
  private readonly timeoutMs: number;

  constructor({ allowPrivate, timeoutMs = ACCEPT_MS }: { allowPrivate: boolean; timeoutMs?: number }) {
    this.allowPrivate = allowPrivate;
    this.timeoutMs = timeoutMs;
    const options = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1, timeout: 30_000 };
    const lookup = checkedLookup(allowPrivate);
    this.agents = {
      http: new http.Agent({ ...options, lookup }),
      https: new HttpsAgent({ ...options, lookup }),
    };
  }

  /** Never rejects. An aborted signal gives up the attempt. */
  async send(message: Message, signal?: AbortSignal): Promise<Outcome> {
    const target = parseTarget(message.url, this.allowPrivate);
    if (typeof target === 'string') return failed(target);
    try {
      return await this.post(target, message, signal);
    } catch (error) {
      return failed(describe(error));
    }
  }

  close(): void {
    this.agents.http.destroy();
    this.agents.https.destroy();
  }

  private post(target: URL, { id, secret, body }: Message, signal?: AbortSignal): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const now = new Date();
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': `atlas-node/${versionText}`,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    };
    const isTls = target.protocol === 'https:';
    const agent = isTls ? this.agents.https : this.agents.http;
    const options = { method: 'POST', headers, agent, ...(signal && { signal }) };
    const request = (isTls ? httpsRequest : http.request)(target, options, (response) => {
      clearTimeout(deadline);
      resolve(outcomeOf(response));
      drain(response);
    });
    const late = new Error(`no answer within ${this.timeoutMs / 1000} s`);
    const deadline = setTimeout(() => request.destroy(late), this.timeoutMs);
    request.on('error', reject);
    request.on('close', () => clearTimeout(deadline));
    request.end(body);
    return promise;
  }
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'accepted' };
  if (statusCode === 410) return { kind: 'gone' };
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const detail = isRedirect ? ': redirects are not followed, set the final URL' : '';
  return failed(`the receiver answered ${statusCode}${detail}`, retryAfter(headers['retry-after']));
}

/** Most bytes read of a response. Its body does not matter, but the connection can only be reused after it. */
const MAX_RESPONSE_BYTES = 65_536;
/** Longest silence within the response, milliseconds. */
const DRAIN_MS = 2_000;

function drain(response: IncomingMessage): void {
  let left = MAX_RESPONSE_BYTES;
  response.setTimeout(DRAIN_MS, () => response.destroy());
  response.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) response.destroy();
  });
  response.on('error', () => undefined); // the outcome is already known
}

function retryAfter(value: string | undefined): number {
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : 0;
}

/** Node's messages contain hosts and addresses, but no paths or queries, where a URL may hold its secret. */
function describe(error: unknown): string {
  return `${messageOf(error)} (${codeOf(error) ?? 'no code'})`.slice(0, 300);
}

function failed(error: string, retryAfterMs = 0): Outcome {
  return { kind: 'failed', error, retryAfterMs };
}
