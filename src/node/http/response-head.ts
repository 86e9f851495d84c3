/** Parses the head of an HTTP/1.1 answer. */
import { UpstreamError } from '../../lib/errors.ts';

/** How the body after a head is delimited (RFC 9112, section 6.3). */
export interface ResponseHead {
  status: number;
  /** Length of the body; null when it is chunked or ends with the connection. */
  length: number | null;
  chunked: boolean;
  /** Whether the connection can be reused. */
  keepAlive: boolean;
  /** Retry-After in seconds from now; null when absent. */
  retryAfter: number | null;
  /** How the body is compressed, although the request asks for `identity`; null if it is not. */
  coding: ContentCoding | null;
}

const CODINGS = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br', zstd: 'zstd' } as const;

export type ContentCoding = (typeof CODINGS)[keyof typeof CODINGS];

const SPACE = 32;
const ZERO = 48;

/** Parses a head without its final empty line. Throws UpstreamError `malformed`. */
export function readResponseHead(text: string): ResponseHead {
  const head: ResponseHead = {
    status: readStatus(text),
    length: null,
    chunked: false,
    keepAlive: text.charCodeAt(7) !== ZERO, // HTTP/1.0 closes by default
    retryAfter: null,
    coding: null,
  };
  for (let at = text.indexOf('\r\n'); at >= 0; ) {
    const end = text.indexOf('\r\n', at + 2);
    readField(head, text, at + 2, end < 0 ? text.length : end);
    at = end;
  }
  if (head.chunked) head.length = null;
  else if (head.status === 204 || head.status === 304) head.length = 0;
  else if (head.length === null) head.keepAlive = false;
  return head;
}

function readStatus(text: string): number {
  const status = Number(text.slice(9, 12));
  if (!text.startsWith('HTTP/1.') || text.charCodeAt(8) !== SPACE || !(status >= 100)) {
    throw malformed(`${JSON.stringify(text.slice(0, 40))} is not a status line`);
  }
  return status;
}

/** Reads the five fields that matter. Their names differ in length, so the length selects the field. */
function readField(head: ResponseHead, text: string, start: number, end: number): void {
  const colon = text.indexOf(':', start);
  if (colon < 0 || colon > end) throw malformed('a header line without a colon');
  switch (colon - start) {
    case 10:
      if (isName(text, start, colon, 'connection')) readConnection(head, value(text, colon, end));
      return;
    case 11:
      if (isName(text, start, colon, 'retry-after')) readRetryAfter(head, value(text, colon, end));
      return;
    case 14:
      if (isName(text, start, colon, 'content-length')) readLength(head, value(text, colon, end));
      return;
    case 16:
      if (isName(text, start, colon, 'content-encoding')) readCoding(head, value(text, colon, end));
      return;
    case 17:
      if (isName(text, start, colon, 'transfer-encoding')) readTransfer(head, value(text, colon, end));
  }
}

function isName(text: string, start: number, end: number, name: string): boolean {
  return text.slice(start, end).toLowerCase() === name;
}

function value(text: string, colon: number, end: number): string {
  return text.slice(colon + 1, end).trim();
}

function readConnection(head: ResponseHead, options: string): void {
  const lower = options.toLowerCase();
  if (lower.includes('close')) head.keepAlive = false;
  else if (lower.includes('keep-alive')) head.keepAlive = true;
}

function readRetryAfter(head: ResponseHead, text: string): void {
  if (/^\d+$/.test(text)) head.retryAfter = Number(text);
  else if (/[a-z]{3}/i.test(text)) {
    const ms = Date.parse(text) - Date.now();
    if (!Number.isNaN(ms)) head.retryAfter = Math.max(0, Math.ceil(ms / 1000));
  }
}

function readLength(head: ResponseHead, digits: string): void {
  const length = Number(digits);
  const valid = /^\d+$/.test(digits) && Number.isSafeInteger(length);
  if (!valid || (head.length !== null && head.length !== length)) {
    throw malformed(`the Content-Length is ${JSON.stringify(digits.slice(0, 40))}`);
  }
  head.length = length;
}

/** `identity` was removed from HTTP/1.1 in 2014; old servers still name it. */
function readTransfer(head: ResponseHead, codings: string): void {
  if (codings.toLowerCase() === 'identity') return;
  if (codings.toLowerCase() !== 'chunked') throw malformed(`transfer coding ${codings.slice(0, 40)}`);
  head.chunked = true;
}

/** What servers send as the coding of a body that has none; some confuse it with the charset. */
const NO_CODINGS: ReadonlySet<string> = new Set(['', 'identity', 'none', 'null', 'utf-8', 'utf8']);

function readCoding(head: ResponseHead, codings: string): void {
  for (const coding of codings.toLowerCase().split(',')) {
    const name = coding.trim();
    if (NO_CODINGS.has(name)) continue;
    if (!isCoding(name) || head.coding !== null) throw malformed(`content coding ${codings.slice(0, 40)}`);
    head.coding = CODINGS[name];
  }
}

function isCoding(name: string): name is keyof typeof CODINGS {
  return Object.hasOwn(CODINGS, name);
}

function malformed(detail: string): UpstreamError {
  return new UpstreamError('malformed', `not an HTTP/1.1 answer: ${detail}`);
}
