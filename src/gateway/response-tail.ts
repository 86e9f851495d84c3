/**
 * The tail of a response `{"jsonrpc":"2.0","id":...,"result":...}` is everything after the id: `"result":...}` or
 * `"error":...}`. The gateway forwards, shares and caches tails; each client gets its own id in front.
 *
 * Some nodes write the id or the version last; the gateway cuts these off.
 */
import type { ByteConsumer } from '../lib/byte-stream.ts';
import { UpstreamError } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import type { RpcError } from './errors.ts';
import { memberTexts, scanValue, skipSpace } from './json-scan.ts';

/** The id of every call to the node. A node may refuse a client's type of id, and equal calls are merged. */
const NODE_CALL_ID = 1;

/** How a node may write it: some answer every id as a text, and errors without one. */
const OUR_IDS: ReadonlySet<string> = new Set(['1', '"1"', 'null']);

const SPACE = 32;
const QUOTE = 34;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LETTER_L = 108;
const LETTER_R = 114;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** Separates two answers in one body. */
const NEXT_ANSWER = Buffer.from('}{');

/** Most bytes of the envelope before the tail, and of the part after it. */
const MAX_ENVELOPE = 128;
const MEMBERS = String.raw`(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*|"id"\s*:\s*(?:1|"1"|null)\s*,\s*)*`;
const OUTCOME = String.raw`(?="result"\s*:\s*["{[\w-]|"error"\s*:\s*\{)`;
const ENVELOPE = new RegExp(String.raw`^\s*\{\s*${MEMBERS}${OUTCOME}`);
const ENVELOPE_LAST =
  /(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*|,\s*"id"\s*:\s*(?:1|"1"|null)\s*|,\s*"error"\s*:\s*null\s*)+\}\s*$/;
/** An error that is none, beside a result. */
const NO_ERROR_LAST = /,\s*"error"\s*:\s*null\s*\}\s*$/;
const ID = '"id"';

interface AnswerFacts {
  method: string;
  /** The HTTP status. */
  status: number;
  /** The body is known to be JSON. */
  isJson: boolean;
  /** A consumer requires valid JSON, or the body may be truncated. */
  mustBeJson: boolean;
}

/**
 * The response tail, in the memory of the body. A JSON-RPC error is a valid answer whatever the HTTP status. Throws
 * UpstreamError `http` or `malformed`.
 */
export function readNodeAnswer(body: Buffer, facts: AnswerFacts): Buffer {
  const { method, status } = facts;
  if (status === 200) return readWhole(body, facts);
  const tail = errorIn(body, facts);
  if (tail !== null) return tail;
  throw new UpstreamError('http', `${method}: HTTP ${status}`, undefined, { httpStatus: status });
}

function errorIn(body: Buffer, facts: AnswerFacts): Buffer | null {
  try {
    const tail = readWhole(body, facts);
    return isResult(tail) ? null : tail;
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
}

/**
 * Checks a result fully only if needed, but always an error: consumers read errors when it is too late to call the
 * answer malformed.
 */
function readWhole(body: Buffer, { isJson, mustBeJson }: AnswerFacts): Buffer {
  const tail = extractResponseTail(body);
  if (!isResult(tail)) errorOf(tail);
  else if (isJson) return tail;
  else if (mustBeJson) checkResponseTail(tail);
  else quickCheckResponseTail(tail);
  return tail;
}

/** Bytes held back when part of the envelope follows the tail: enough to contain that part. */
const HOLD = 128;

/** The start of the tail in an answer. */
interface ResponseTailStart {
  at: number;
  /** What may follow the tail: the id, perhaps with the version; at most the version; or nothing. */
  follows: 'id' | 'version' | 'nothing';
}

/** The request body for one call to the node. `params` is JSON text. */
export function nodeRequest(method: string, params: string, id = NODE_CALL_ID): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
}

/** Finds the start of the tail in the first bytes of an answer. Null for an envelope that must be parsed. */
export function findResponseTail(body: Buffer): ResponseTailStart | null {
  const envelope = ENVELOPE.exec(body.toString('latin1', 0, MAX_ENVELOPE))?.[0];
  if (envelope === undefined) return null;
  const follows = !envelope.includes(ID) ? 'id' : envelope.includes('"jsonrpc"') ? 'nothing' : 'version';
  return { at: envelope.length, follows };
}

/**
 * The tail of a whole answer, in the memory of `body`, which this modifies. Throws UpstreamError `malformed` for
 * anything but a JSON-RPC answer.
 */
export function extractResponseTail(body: Buffer): Buffer {
  const start = findResponseTail(body);
  if (start === null) return rebuildTail(body);
  const isWholeError = start.follows === 'nothing' && body[start.at + 1] !== LETTER_R;
  const end = isWholeError ? endOfText(body) : trimEnvelope(body, start.follows);
  if (end < 0) return rebuildTail(body);
  if (body[end - 1] !== CLOSE_BRACE || end <= start.at) throw malformed(body);
  return body.subarray(start.at, end);
}

/** Throws UpstreamError `malformed` for a tail that is not JSON. Takes 2 ns per byte. */
export function checkResponseTail(tail: Buffer): void {
  const text = tail.toString('latin1');
  const end = scanValue(text, skipSpace(text, text.indexOf(':') + 1));
  // JSON.parse decides about other members, and about values too deep for the scanner.
  if (end < 0 || skipSpace(text, end) !== text.length - 1) parseTail(tail);
}

/** A fast `checkResponseTail`, 0.1 µs: if the end of the value matches its start, trusts the rest. */
export function quickCheckResponseTail(tail: Buffer): void {
  const last = tail.length - 2;
  let at = tail.indexOf(COLON) + 1;
  if (tail[at] === SPACE) at++;
  const first = tail[at];
  const fits =
    first === QUOTE
      ? tail.indexOf(QUOTE, at + 1) === last && tail[last - 1] !== BACKSLASH
      : ((first === OPEN_BRACE && tail[last] === CLOSE_BRACE) ||
          (first === OPEN_BRACKET && tail[last] === CLOSE_BRACKET)) &&
        tail.indexOf(NEXT_ANSWER) < 0;
  if (!fits) checkResponseTail(tail);
}

/**
 * Writes the tail's closing brace over the envelope that follows. Returns the offset after the brace; -1 when an id is
 * missing.
 */
function trimEnvelope(body: Buffer, follows: ResponseTailStart['follows']): number {
  if (follows === 'nothing') return trimNoError(body);
  const from = Math.max(0, body.length - MAX_ENVELOPE);
  const text = body.toString('latin1', from);
  const at = text.search(ENVELOPE_LAST);
  if (follows === 'id' && (at < 0 || !text.includes(ID, at))) return -1;
  if (at < 0) return endOfText(body);
  body[from + at] = CLOSE_BRACE;
  return from + at + 1;
}

/** Like `trimEnvelope` where at most an `error` of null follows the result. */
function trimNoError(body: Buffer): number {
  const end = endOfText(body);
  let last = end - 2;
  while (last > 0 && body[last]! <= 32) last--;
  if (body[last] !== LETTER_L) return end; // of null
  const from = Math.max(0, end - MAX_ENVELOPE);
  const at = body.toString('latin1', from, end).search(NO_ERROR_LAST);
  if (at < 0) return end;
  body[from + at] = CLOSE_BRACE;
  return from + at + 1;
}

/** Passes a response tail on to a consumer while the answer arrives. */
export class ResponseTailStream {
  private readonly follows: ResponseTailStart['follows'];
  private readonly consumer: Pick<ByteConsumer, 'write'>;
  private held: Buffer = Buffer.alloc(0);
  /** The last non-whitespace byte so far. */
  private lastByte = 0;

  constructor({ follows }: Pick<ResponseTailStart, 'follows'>, consumer: Pick<ByteConsumer, 'write'>) {
    this.follows = follows;
    this.consumer = consumer;
  }

  /** Passes on a piece, the first from the start of the tail. Returns false for back-pressure of the consumer. */
  write(piece: Buffer): boolean {
    if (this.follows !== 'nothing') return this.writeAllButLast(piece);
    this.note(piece);
    return piece.length === 0 || this.consumer.write(piece);
  }

  /** The last bytes of the tail, which the caller passes on; null if the answer is incomplete. */
  end(last: Buffer): Buffer | null {
    if (this.follows === 'nothing') {
      this.note(last);
      return this.lastByte === CLOSE_BRACE ? last.subarray(0, trimNoError(last)) : null;
    }
    this.writeAllButLast(last);
    const end = trimEnvelope(this.held, this.follows);
    return end > 0 && this.held[end - 1] === CLOSE_BRACE ? this.held.subarray(0, end) : null;
  }

  private writeAllButLast(piece: Buffer): boolean {
    const bytes = piece.length < HOLD ? Buffer.concat([this.held, piece]) : piece;
    let hasRoom = true;
    if (bytes === piece && this.held.length > 0) hasRoom = this.consumer.write(this.held);
    const end = Math.max(0, bytes.length - HOLD);
    if (end > 0) hasRoom = this.consumer.write(bytes.subarray(0, end)) && hasRoom;
    this.held = Buffer.from(bytes.subarray(end));
    return hasRoom;
  }

  private note(piece: Buffer): void {
    for (let i = piece.length - 1; i >= 0; i--) {
      if (piece[i]! <= 32) continue;
      this.lastByte = piece[i]!;
      return;
    }
  }
}

/** The response tail of a result given as JSON text in Latin-1. */
export function resultTail(json: string): Buffer {
  return Buffer.from(`"result":${json}}`, 'latin1');
}

/** The JSON text of the result, in Latin-1. `tail` must not hold an error. */
export function resultText(tail: Buffer): string {
  return tail.toString('latin1', tail.indexOf(':') + 1, tail.length - 1).trim();
}

/** The parsed result; undefined when the response tail holds an error. Throws UpstreamError `malformed`. */
export function resultOf(tail: Buffer): unknown {
  return isResult(tail) ? (parseTail(tail) as { result: unknown }).result : undefined;
}

export function isResult(tail: Buffer): boolean {
  return tail[1] === LETTER_R;
}

/**
 * The error of a response tail without a result. Throws UpstreamError `malformed` when the error is not an object or
 * not JSON.
 */
export function errorOf(tail: Buffer): RpcError {
  const { error } = parseTail(tail) as { error: unknown };
  if (!isObject(error)) throw malformed(tail);
  return { code: Number(error.code), message: String(error.message), data: error.data };
}

function parseTail(tail: Buffer): unknown {
  return parse(Buffer.concat([Buffer.from('{'), tail]));
}

function rebuildTail(body: Buffer): Buffer {
  const value = parse(body);
  if (!isObject(value)) throw malformed(body);
  const members = memberTexts(body.toString('latin1'));
  const error = members.get('error');
  const result = members.get('result');
  const id = members.get('id') ?? 'null';
  if (!OUR_IDS.has(id)) throw malformed(body);
  if (error?.startsWith('{')) return Buffer.from(`"error":${error}}`, 'latin1');
  if (result !== undefined && members.has('id')) return resultTail(result);
  throw malformed(body);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw malformed(body);
  }
}

function endOfText(body: Buffer): number {
  let end = body.length;
  while (end > 0 && body[end - 1]! <= 32) end--;
  return end;
}

function malformed(body: Buffer): UpstreamError {
  const beginning = JSON.stringify(body.toString('utf8', 0, 80));
  return new UpstreamError('malformed', `not a JSON-RPC answer: ${beginning}`);
}
