/** Giving the node's answer the client's id without touching the bytes of `result` or `error`. */
import { UpstreamError } from '../errors.ts';
import { memberTexts } from './json-slices.ts';

/** The id of every call sent to the node: each is sent alone, and ids of clients may be of types that nodes refuse. */
export const UPSTREAM_ID = 1;

const ID_FIRST = Buffer.from(`{"jsonrpc":"2.0","id":${UPSTREAM_ID},`);
const RESULT = Buffer.from('"result":');
const ERROR = Buffer.from('"error":{');
const RESULT_FIRST = Buffer.from('{"jsonrpc":"2.0","result":');
const ID_LAST = Buffer.from(`,"id":${UPSTREAM_ID}}`);
const CLOSE_BRACE = 125;

/** The request that asks the node for one call. */
export function upstreamRequest(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${UPSTREAM_ID},"method":${JSON.stringify(method)},"params":${params}}`;
}

/**
 * The node's answer with another id, as pieces of one body. The two forms nodes write are recognised by their ends
 * alone; any other valid answer is taken apart. Throws UpstreamError `malformed` for what is no JSON-RPC answer.
 */
export function withId(body: Buffer, id: string): Buffer[] {
  if (startsWith(body, ID_FIRST) && body.at(-1) === CLOSE_BRACE) {
    const rest = body.subarray(ID_FIRST.length);
    if (startsWith(rest, RESULT) || startsWith(rest, ERROR)) {
      return [Buffer.from(`{"jsonrpc":"2.0","id":${id},`), rest];
    }
  }
  if (startsWith(body, RESULT_FIRST) && endsWith(body, ID_LAST)) {
    return [body.subarray(0, body.length - ID_LAST.length), Buffer.from(`,"id":${id}}`)];
  }
  return [Buffer.from(rebuilt(body.toString('utf8'), id))];
}

function rebuilt(text: string, id: string): string {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(text);
  const members = memberTexts(text);
  const error = members.get('error');
  const result = members.get('result');
  if (error?.startsWith('{')) return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
  if (result !== undefined) return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  throw malformed(text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(text);
  }
}

function malformed(text: string): UpstreamError {
  return new UpstreamError(
    'malformed',
    `the node sent no JSON-RPC answer but ${JSON.stringify(text.slice(0, 80))}`,
  );
}

function startsWith(body: Buffer, prefix: Buffer): boolean {
  return body.length >= prefix.length && body.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

function endsWith(body: Buffer, suffix: Buffer): boolean {
  return (
    body.length >= suffix.length && body.compare(suffix, 0, suffix.length, body.length - suffix.length) === 0
  );
}
