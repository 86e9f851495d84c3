/** Parses a JSON-RPC request body into calls. */
import type { Call } from './call.ts';
import { errorJson, RpcCode, type RpcError } from './errors.ts';
import { scanParts, scanValue, skipSpace, type Visitor } from './json-scan.ts';

/** Most calls in one batch. */
export const MAX_BATCH = 1_000;

/** Most calls parsed of a batch with too many calls, so that each gets its own error. */
const MAX_REFUSED_BATCH = 10_000;

/**
 * Most values in one body. Real parameters are hex of 40 bytes and more, but two million single digits would block the
 * event loop for a third of a second.
 */
const MAX_VALUES = 50_000;

/** A well-formed call of a client. `id` is JSON text as in the body; null for a notification. */
export interface IncomingCall extends Call {
  id: string | null;
}

/** Placeholder for a malformed call. */
export interface InvalidCall {
  /** Null for a notification, which gets no answer. */
  id: string | null;
  error: RpcError;
}

export type RpcRequest =
  | { kind: 'single'; call: IncomingCall | InvalidCall }
  | { kind: 'batch'; calls: (IncomingCall | InvalidCall)[] }
  /** `ids`: the ids of the calls in a batch with too many. */
  | { kind: 'refused'; error: RpcError; ids?: readonly string[] };

const OPEN_BRACKET = 91;
const OPEN_BRACE = 123;

/**
 * Splits a request body into calls. Their ids and parameters are slices of `text`. Decode the body as Latin-1 to
 * forward every byte unchanged, valid UTF-8 or not; as UTF-8 to read them.
 */
export function readRequest(text: string): RpcRequest {
  const start = skipSpace(text, 0);
  if (text.charCodeAt(start) === OPEN_BRACKET) return readBatch(text, start);
  const reader = new CallReader(text);
  const end = reader.scan(start);
  if (reader.inner.tooMany) return TOO_MANY_VALUES;
  if (!isWhole(text, end)) return NOT_JSON;
  return { kind: 'single', call: reader.read() };
}

/**
 * One error for a whole request, as JSON text. A batch gets it once per call that expects an answer, because clients
 * match answers by id.
 */
export function errorForAll(request: RpcRequest, error: RpcError): string {
  if (request.kind === 'single') return errorJson(request.call.id ?? 'null', error);
  const wanted = request.kind === 'batch' ? request.calls.flatMap(({ id }) => id ?? []) : (request.ids ?? []);
  return wanted.length === 0 ? errorJson('null', error) : `[${wanted.map((id) => errorJson(id, error))}]`;
}

function readBatch(text: string, start: number): RpcRequest {
  const readers: CallReader[] = [];
  const values = new ValueCounter();
  const end = scanParts(text, start, {
    name() {},
    value(at) {
      const reader = new CallReader(text);
      reader.scan(at);
      readers.push(reader);
      return readers.length <= MAX_REFUSED_BATCH;
    },
    inner: values,
  });
  if (values.tooMany) return TOO_MANY_VALUES;
  const isListed = readers.length <= MAX_REFUSED_BATCH;
  if (isListed && !isWhole(text, end)) return NOT_JSON;
  if (readers.length > MAX_BATCH) {
    const error = invalid(`batch of more than ${MAX_BATCH} calls; send at most ${MAX_BATCH} at once`);
    return {
      kind: 'refused',
      error,
      ids: isListed ? readers.flatMap((reader) => reader.read().id ?? []) : [],
    };
  }
  if (readers.length === 0) return { kind: 'refused', error: invalid('empty batch') };
  return { kind: 'batch', calls: readers.map((reader) => reader.read()) };
}

const NOT_JSON: RpcRequest = {
  kind: 'refused',
  error: { code: RpcCode.parse, message: 'parse error: the body is not JSON' },
};

const TOO_MANY_VALUES: RpcRequest = {
  kind: 'refused',
  error: invalid(`more than ${MAX_VALUES} values in one body`),
};

/** Whether a value that ends at `end` is all of the text. */
function isWhole(text: string, end: number): boolean {
  return end >= 0 && skipSpace(text, end) === text.length;
}

/** First characters of the JSON of a string, a number and null. */
const ID_START = /^["\-\dn]/;

/** Counts values at any depth. */
class ValueCounter implements Visitor {
  readonly inner = this;
  private left = MAX_VALUES;

  get tooMany(): boolean {
    return this.left < 0;
  }

  name(): void {}

  value(): boolean {
    return --this.left >= 0;
  }
}

/** Finds the members of one call. The last of a repeated name wins, as in JSON.parse. */
class CallReader implements Visitor {
  readonly inner = new ValueCounter();
  private readonly text: string;
  private isObject = false;
  private current = '';
  private jsonrpc = '';
  private id: string | null = null;
  private method = '';
  private params = '';

  constructor(text: string) {
    this.text = text;
  }

  /** Offset after the value at `at`, or -1 if there is none. */
  scan(at: number): number {
    this.isObject = this.text.charCodeAt(at) === OPEN_BRACE;
    return this.isObject ? scanParts(this.text, at, this) : scanValue(this.text, at, this.inner);
  }

  name(start: number, end: number): void {
    this.current = unquoted(this.text.slice(start, end));
  }

  value(start: number, end: number): boolean {
    switch (this.current) {
      case 'jsonrpc':
        this.jsonrpc = this.text.slice(start, end);
        break;
      case 'id':
        this.id = this.text.slice(start, end);
        break;
      case 'method':
        this.method = this.text.slice(start, end);
        break;
      case 'params':
        this.params = this.text.slice(start, end);
    }
    return this.inner.value();
  }

  /** The call, after the scan. */
  read(): IncomingCall | InvalidCall {
    const { id, params } = this;
    if (!this.isObject) return bad('null', invalid('a call must be a JSON object'));
    if (id !== null && !ID_START.test(id)) {
      return bad('null', invalid('id must be a string, a number or null'));
    }
    if (this.jsonrpc !== '"2.0"') return bad(id, invalid('jsonrpc must be "2.0"'));
    if (!this.method.startsWith('"')) return bad(id, invalid('method must be a string'));
    if (params === '' || params === 'null') return new ClientCall(id, unquoted(this.method), '[]');
    if (!params.startsWith('[') && !params.startsWith('{')) {
      return bad(id, { code: RpcCode.invalidParams, message: 'params must be an array' });
    }
    return new ClientCall(id, unquoted(this.method), params);
  }
}

/** A call that parses its parameters on first access. */
class ClientCall implements IncomingCall {
  readonly id: string | null;
  readonly method: string;
  readonly params: string;

  constructor(id: string | null, method: string, params: string) {
    this.id = id;
    this.method = method;
    this.params = params;
  }

  get args(): unknown {
    return JSON.parse(this.params);
  }
}

function unquoted(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
}

function bad(id: string | null, error: RpcError): InvalidCall {
  return { id: id ?? 'null', error };
}

function invalid(message: string): RpcError {
  return { code: RpcCode.invalidRequest, message: `invalid request: ${message}` };
}
