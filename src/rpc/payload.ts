/**
 * The payload of an answer `{"jsonrpc":"2.0","id":...,"result":...}` is everything after the id: `"result":...}` or
 * `"error":...}`. It is what the gateway passes on, merges and caches; each client gets its own id in front of it.
 *
 * Some nodes write the id or the version last; these are then cut off.
 */
import { UpstreamError } from '../errors.ts';
import { isObject } from '../lib/is-object.ts';
import type { RpcError } from './errors.ts';
import { scanValue, skipSpace } from './json-scan.ts';
import { memberTexts } from './json-slices.ts';

/** The id of every call sent to the node: a node may refuse a client's id type, and equal calls are sent only once. */
const UPSTREAM_ID = 1;

const SPACE = 32;
const QUOTE = 34;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LETTER_R = 114;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** Shows that another answer follows the first. */
const NEXT_ANSWER = Buffer.from('}{');

/** Most bytes of the envelope before the payload, and of the part after it that is cut off. */
const MAX_ENVELOPE = 128;
const ENVELOPE =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*|"id"\s*:\s*(?:1|null)\s*,\s*)*(?="result"\s*:\s*["{[\w-]|"error"\s*:\s*\{)/;
const ENVELOPE_LAST = /(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*|,\s*"id"\s*:\s*(?:1|null)\s*)+\}\s*$/;
const ID = '"id"';

/** Where the payload begins in an answer. */
export interface PayloadStart {
  at: number;
  /** What follows the payload: the id, possibly with the version; at most the version; or nothing of the envelope. */
  follows: 'id' | 'version' | 'nothing';
}

/** The request body for one call to the node. `params` is JSON text. */
export function upstreamRequest(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${UPSTREAM_ID},"method":"${method}","params":${params}}`;
}

/** Looks for the start of the payload in the first bytes of an answer. Null for an envelope that has to be parsed. */
export function findPayload(body: Buffer): PayloadStart | null {
  const envelope = ENVELOPE.exec(body.toString('latin1', 0, MAX_ENVELOPE))?.[0];
  if (envelope === undefined) return null;
  const follows = !envelope.includes(ID) ? 'id' : envelope.includes('"jsonrpc"') ? 'nothing' : 'version';
  return { at: envelope.length, follows };
}

/**
 * The payload of a whole answer, in the memory of `body`, which this modifies. Throws UpstreamError `malformed` when it is
 * not a JSON-RPC answer.
 */
export function extractPayload(body: Buffer): Buffer {
  const start = findPayload(body);
  if (start === null) return rebuildPayload(body);
  const end = trimEnvelope(body, start.follows);
  if (end < 0) return rebuildPayload(body);
  if (body[end - 1] !== CLOSE_BRACE || end <= start.at) throw malformed(body);
  return body.subarray(start.at, end);
}

/** Throws UpstreamError `malformed` for a payload that is not JSON. Takes some 2 ns a byte. */
export function checkPayload(payload: Buffer): void {
  const text = payload.toString('latin1');
  const end = scanValue(text, skipSpace(text, text.indexOf(':') + 1));
  // JSON.parse decides about other members and values too deep for the scanner.
  if (end < 0 || skipSpace(text, end) !== text.length - 1) parsePayload(payload);
}

/** A quick form of `checkPayload`, some 0.1 us: if the end of a value fits its start, the rest is taken to be JSON. */
export function quickCheckPayload(payload: Buffer): void {
  const last = payload.length - 2;
  let at = payload.indexOf(COLON) + 1;
  if (payload[at] === SPACE) at++;
  const first = payload[at];
  const fits =
    first === QUOTE
      ? payload.indexOf(QUOTE, at + 1) === last && payload[last - 1] !== BACKSLASH
      : ((first === OPEN_BRACE && payload[last] === CLOSE_BRACE) ||
          (first === OPEN_BRACKET && payload[last] === CLOSE_BRACKET)) &&
        payload.indexOf(NEXT_ANSWER) < 0;
  if (!fits) checkPayload(payload);
}

/**
 * Writes the payload's closing brace over the envelope that follows. Returns the offset after it; -1 when an id is
 * missing.
 */
export function trimEnvelope(body: Buffer, follows: PayloadStart['follows']): number {
  if (follows === 'nothing') return endOfText(body);
  const from = Math.max(0, body.length - MAX_ENVELOPE);
  const text = body.toString('latin1', from);
  const at = text.search(ENVELOPE_LAST);
  if (follows === 'id' && (at < 0 || !text.includes(ID, at))) return -1;
  if (at < 0) return endOfText(body);
  body[from + at] = CLOSE_BRACE;
  return from + at + 1;
}

/** The payload of a result given as JSON text in Latin-1. */
export function resultPayload(json: string): Buffer {
  return Buffer.from(`"result":${json}}`, 'latin1');
}

/** The JSON text of the result, in Latin-1; `payload` is not that of an error. */
export function resultText(payload: Buffer): string {
  return payload.toString('latin1', payload.indexOf(':') + 1, payload.length - 1).trim();
}

/** The result, parsed; undefined when the payload is that of an error. Throws UpstreamError `malformed`. */
export function resultOf(payload: Buffer): unknown {
  return isResult(payload) ? (parsePayload(payload) as { result: unknown }).result : undefined;
}

export function isResult(payload: Buffer): boolean {
  return payload[1] === LETTER_R;
}

/** The error in a payload that has no result. Throws UpstreamError `malformed` when it is no object or not JSON. */
export function errorOf(payload: Buffer): RpcError {
  const { error } = parsePayload(payload) as { error: unknown };
  if (!isObject(error)) throw malformed(payload);
  return { code: Number(error.code), message: String(error.message), data: error.data };
}

function parsePayload(payload: Buffer): unknown {
  return parse(Buffer.concat([Buffer.from('{'), payload]));
}

function rebuildPayload(body: Buffer): Buffer {
  const value = parse(body);
  if (!isObject(value)) throw malformed(body);
  const members = memberTexts(body.toString('latin1'));
  const error = members.get('error');
  const result = members.get('result');
  const id = members.get('id') ?? 'null';
  if (id !== String(UPSTREAM_ID) && id !== 'null') throw malformed(body);
  if (error?.startsWith('{')) return Buffer.from(`"error":${error}}`, 'latin1');
  if (result !== undefined && members.has('id')) return resultPayload(result);
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
  return new UpstreamError('malformed', `the node sent no JSON-RPC answer but ${beginning}`);
}
