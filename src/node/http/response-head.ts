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
  /** Where a redirect leads; null if there is none. */
  location: string | null;
}

const CODINGS = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br', zstd: 'zstd' } as const;

export type ContentCoding = (typeof CODINGS)[keyof typeof CODINGS];

const TAB = 9;
const SPACE = 32;
const ZERO = 48;

/**
 * Statuses of an answer, read as 200: some proxies answer a POST with 201, as if they had created something, or with
 * 206, of which no part was asked for.
 */
const WHOLE_STATUSES: ReadonlySet<number> = new Set([201, 202, 203, 206]);

/**
 * Parses a head without its final empty line. Lines end with a line feed, with or without a carriage return (RFC 9112,
 * section 2.2). Throws UpstreamError `malformed`.
 */
export function readResponseHead(text: string): ResponseHead {
  const head: ResponseHead = {
    status: readStatus(text),
    length: null,
    chunked: false,
    keepAlive: text.charCodeAt(7) !== ZERO, // HTTP/1.0 closes by default
    retryAfter: null,
    coding: null,
    location: null,
  };
  for (let at = text.indexOf('\n'); at >= 0; ) {
    const end = text.indexOf('\n', at + 1);
    readField(head, text, at + 1, end < 0 ? text.length : end);
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
  return WHOLE_STATUSES.has(status) ? 200 : status;
}

/** Reads the six fields that matter. Their names differ in length, so the length selects the field. */
function readField(head: ResponseHead, text: string, start: number, end: number): void {
  if (isBlank(text, start)) return; // the rest of the line before
  const colon = text.indexOf(':', start);
  if (colon < 0 || colon > end) throw malformed('a header line without a colon');
  let nameEnd = colon;
  while (isBlank(text, nameEnd - 1)) nameEnd--;
  switch (nameEnd - start) {
    case 8:
      if (isName(text, start, nameEnd, 'location')) head.location = value(text, colon, end);
      return;
    case 10:
      if (isName(text, start, nameEnd, 'connection')) readConnection(head, value(text, colon, end));
      return;
    case 11:
      if (isName(text, start, nameEnd, 'retry-after')) readRetryAfter(head, value(text, colon, end));
      return;
    case 14:
      if (isName(text, start, nameEnd, 'content-length')) readLength(head, value(text, colon, end));
      return;
    case 16:
      if (isName(text, start, nameEnd, 'content-encoding')) readCoding(head, value(text, colon, end));
      return;
    case 17:
      if (isName(text, start, nameEnd, 'transfer-encoding')) readTransfer(head, value(text, colon, end));
  }
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === SPACE || code === TAB;
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

/** A proxy may join repeated fields: `5, 5`. */
function readLength(head: ResponseHead, text: string): void {
  for (const digits of text.split(',')) readOneLength(head, digits.trim());
}

function readOneLength(head: ResponseHead, digits: string): void {
  const length = Number(digits);
  const valid = /^\d+$/.test(digits) && Number.isSafeInteger(length);
  if (!valid || (head.length !== null && head.length !== length)) {
    throw malformed(`the Content-Length is ${JSON.stringify(digits.slice(0, 40))}`);
  }
  head.length = length;
}

/**
 * Chunks come last, perhaps of a compressed body. `identity` was removed from HTTP/1.1 in 2014; old servers still name
 * it.
 */
function readTransfer(head: ResponseHead, codings: string): void {
  for (const coding of codings.toLowerCase().split(',')) {
    const name = coding.trim();
    if (name === '' || name === 'identity') continue;
    if (head.chunked) throw malformed(`transfer coding ${codings.slice(0, 40)}`);
    if (name === 'chunked') head.chunked = true;
    else addCoding(head, name, `transfer coding ${codings.slice(0, 40)}`);
  }
}

/** What servers send as the coding of a body that has none; some confuse it with the charset. */
const NO_CODINGS: ReadonlySet<string> = new Set(['', 'identity', 'none', 'null', 'utf-8', 'utf8']);

function readCoding(head: ResponseHead, codings: string): void {
  for (const coding of codings.toLowerCase().split(',')) {
    const name = coding.trim();
    if (!NO_CODINGS.has(name)) addCoding(head, name, `content coding ${codings.slice(0, 40)}`);
  }
}

/** A body is compressed once. */
function addCoding(head: ResponseHead, name: string, what: string): void {
  if (!isCoding(name) || head.coding !== null) throw malformed(what);
  head.coding = CODINGS[name];
}

function isCoding(name: string): name is keyof typeof CODINGS {
  return Object.hasOwn(CODINGS, name);
}

function malformed(detail: string): UpstreamError {
  return new UpstreamError('malformed', `not an HTTP/1.1 answer: ${detail}`);
}
