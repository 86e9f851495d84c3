/** Parses and checks JSON-RPC answers. Throws UpstreamError `malformed` for anything ill-formed. */
import { UpstreamError } from '../lib/errors.ts';
import { type Hex, spelledNumber } from '../lib/hex.ts';
import { encodingOf, parseProjected } from '../lib/json-projection.ts';
import { ObjectProjection, type Projection } from '../lib/projection.ts';
import { isObject, previewValue } from '../lib/text.ts';
import type { NodeResponse } from './http/buffered-client.ts';

/** A call of a batch. Its id is its position, from 1. */
export interface RpcCall {
  method: string;
  params: readonly unknown[];
}

/** The outcome of one call: a result, or the node's error (`rpc`, `too-large`). */
export type RpcReply = { result: unknown } | { error: UpstreamError };

/** Messages quote at most this many characters of a node's text. */
export const MAX_DETAIL = 300;

/** A byte order mark, which RFC 8259 forbids to send and allows to ignore. */
const BOM = Buffer.from('\ufeff');

/** Parses a response body; of results, only the parts in `projection` if given. Overwrites the body. */
export function parseBody(sent: Buffer, what: string, projection?: Projection): unknown {
  const body = sent.subarray(sent.indexOf(BOM) === 0 ? BOM.length : 0);
  try {
    if (projection === undefined) return JSON.parse(body.toString(encodingOf(body)));
    return parseProjected(body, new ObjectProjection({ id: 'whole', error: 'whole', result: projection }));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw malformed(what, `not JSON: ${excerpt(body)}`);
  }
}

/** The error for an answer with an HTTP status other than 200. It carries the JSON-RPC code if the body has one. */
export function httpError(answer: NodeResponse, what: string): UpstreamError {
  const error = errorInBody(answer.body);
  if (answer.status === 413) return new UpstreamError('too-large', `${what}: HTTP 413`, error?.code);
  const isRedirect = answer.status >= 300 && answer.status < 400;
  const told = error === undefined ? excerpt(answer.body) : error.message;
  const detail = isRedirect ? redirectText(answer.location) : told;
  const options = { httpStatus: answer.status, data: error?.data };
  return new UpstreamError('http', `${what}: HTTP ${answer.status}: ${detail}`, error?.code, options);
}

/** A redirect is not followed: it would carry the node's key to another server, or make the POST a GET. */
function redirectText(location: string | null): string {
  const place =
    location === null ? 'the address that it leads to' : JSON.stringify(location.slice(0, MAX_DETAIL));
  return `a redirect, which is not followed: name ${place} as the node's address`;
}

/** The id of a call as the node answers it: some answer every id as a text. */
export function answeredId(value: unknown): unknown {
  return typeof value === 'string' && /^(0|[1-9]\d{0,8})$/.test(value) ? Number(value) : value;
}

/** Reads the answer to a single call. Monad answers with id null when the result exceeds its size limit. */
export function readSingle(value: unknown, method: string): RpcReply {
  if (!isObject(value)) throw malformed(method, `not an object: ${previewValue(value)}`);
  const refused = (value.id ?? null) === null && readError(value.error) !== undefined;
  if (answeredId(value.id) !== 1 && !refused)
    throw malformed(method, `id is ${previewValue(value.id)} instead of 1`);
  return readReply(value, method);
}

/**
 * Reads the answer to a batch of two or more calls: replies in the order of the calls, however they arrived. Returns an
 * UpstreamError when the node answered the whole batch with an error, with something that is no list of replies, as
 * proxies do that know no batches, or with other replies than one per call.
 */
export function readBatch(value: unknown, calls: readonly RpcCall[]): RpcReply[] | UpstreamError {
  const what = batchName(calls);
  if (!Array.isArray(value)) return readRefusal(value, what);
  // geth refuses a batch by answering the first call alone.
  if (value.length <= 1) return readRefusal(value[0], what);
  const stray = value.find((item) => !isObject(item) || (item.id ?? null) === null);
  if (stray !== undefined) return readRefusal(stray, what);
  if (value.length !== calls.length) return malformed(what, `${value.length} replies`);
  const replies = new Array<RpcReply | undefined>(calls.length).fill(undefined);
  for (const item of value as unknown[]) {
    const id = isObject(item) ? answeredId(item.id) : undefined;
    const call = typeof id === 'number' ? calls[id - 1] : undefined;
    if (!isObject(item) || typeof id !== 'number' || call === undefined)
      return malformed(what, `a reply with id ${previewValue(id)}`);
    if (replies[id - 1] !== undefined) return malformed(what, `two replies with id ${id}`);
    replies[id - 1] = readReply(item, call.method);
  }
  // All replies are present: as many as calls, without duplicates.
  return replies as RpcReply[];
}

/** The name of a batch in messages. */
export function batchName(calls: readonly RpcCall[]): string {
  return `batch of ${calls.length} calls from ${calls[0]?.method}`;
}

export function malformed(what: string, detail: string): UpstreamError {
  return new UpstreamError('malformed', `${what}: malformed answer: ${detail.slice(0, MAX_DETAIL)}`);
}

/** A non-negative integer of at most 2^53 - 1, from a quantity in any spelling. `0x` alone is no answer. */
export function readQuantity(value: unknown, method: string, field: string): number {
  const number = value === '0x' ? Number.NaN : spelledNumber(value);
  if (Number.isNaN(number)) throw malformed(method, `${field} is ${previewValue(value)}, not a quantity`);
  return number;
}

/** A 32-byte hash, in lower case. */
export function readHash(value: unknown, method: string, field: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value)) {
    throw malformed(method, `${field} is ${previewValue(value)}, not a hash`);
  }
  return `0x${value.slice(2).toLowerCase()}`;
}

/** The JSON text of a node's value, for forwarding. Throws UpstreamError `malformed` when it is nested too deeply. */
export function jsonOf(value: unknown, what: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw malformed(what, previewValue(value));
  }
}

function readReply(reply: Record<string, unknown>, method: string): RpcReply {
  if (!isEmptyError(reply.error)) return { error: nodeError(reply.error, method) };
  if (reply.result === undefined) throw malformed(method, 'neither result nor error');
  return { result: reply.result };
}

/** Whether the `error` of a reply is none: left out, null, or empty, as some proxies send it beside a result. */
function isEmptyError(error: unknown): boolean {
  if (error === undefined || error === null || error === '') return true;
  return isObject(error) && Object.keys(error).length === 0;
}

function readRefusal(value: unknown, what: string): UpstreamError {
  if (!isObject(value) || isEmptyError(value.error))
    return malformed(what, `no list of replies: ${previewValue(value)}`);
  return nodeError(value.error, what);
}

function nodeError(value: unknown, what: string): UpstreamError {
  const error = readError(value);
  if (error === undefined) throw malformed(what, `error is ${previewValue(value)}`);
  const { code, message, data } = error;
  const number = code === undefined ? '' : ` (${code})`;
  return new UpstreamError('rpc', `${what}: ${message}${number}`, code, { data });
}

function errorInBody(body: Buffer): ReturnType<typeof readError> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isObject(value) ? readError(value.error) : undefined;
  } catch {
    return undefined;
  }
}

interface ErrorOfReply {
  code: number | undefined;
  message: string;
  data: unknown;
}

/**
 * The error of a JSON-RPC answer; undefined if there is none. Proxies send the mere text, the code as a text or none,
 * and the reason in `data` alone.
 */
function readError(value: unknown): ErrorOfReply | undefined {
  if (isEmptyError(value)) return undefined;
  const error = typeof value === 'string' ? { message: value } : value;
  if (!isObject(error)) return undefined;
  const { code, data } = error;
  const told = [error.message, data].find((text) => typeof text === 'string' && text !== '');
  const message = typeof told === 'string' ? told : previewValue(error);
  return { code: readCode(code), message: message.slice(0, MAX_DETAIL), data };
}

function readCode(code: unknown): number | undefined {
  const isText = typeof code === 'string' && /^-?\d{1,9}$/.test(code);
  return typeof code === 'number' || isText ? Number(code) : undefined;
}

/** The start of a body, on one line. */
function excerpt(body: Buffer): string {
  return JSON.stringify(body.toString('utf8', 0, 80));
}
