/** Reading a JSON-RPC request body into calls. */
import type { Call } from './call.ts';
import { RpcCode, type RpcError } from './errors.ts';
import { itemTexts, memberTexts } from './json-slices.ts';

/** Most calls in one batch. */
export const MAX_BATCH = 100;

/** A well-formed call of a client. `id` is JSON text, bytes as Latin-1; null for a notification. */
export interface RpcCall extends Call {
  id: string | null;
}

/** What takes a call's place when it is not well-formed. */
export interface BadCall {
  id: string;
  error: RpcError;
}

export type RpcRequest =
  | { kind: 'single'; call: RpcCall | BadCall }
  | { kind: 'batch'; calls: (RpcCall | BadCall)[] }
  | { kind: 'refused'; error: RpcError };

/** Takes a request body apart. It is given as Latin-1, so that every byte of it can be passed on as it came. */
export function readRequest(text: string): RpcRequest {
  const value = parse(text);
  if (value === undefined)
    return { kind: 'refused', error: { code: RpcCode.parse, message: 'parse error: the body is not JSON' } };
  if (!Array.isArray(value)) return { kind: 'single', call: readCall(value, text) };
  if (value.length === 0) return { kind: 'refused', error: invalid('empty batch') };
  if (value.length > MAX_BATCH)
    return {
      kind: 'refused',
      error: invalid(`batch of ${value.length} calls; at most ${MAX_BATCH} are answered at once`),
    };
  const texts = itemTexts(text);
  return { kind: 'batch', calls: value.map((item, i) => readCall(item, texts[i] ?? '')) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readCall(value: unknown, text: string): RpcCall | BadCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { id: 'null', error: invalid('a call must be a JSON object') };
  }
  const members = memberTexts(text);
  const id = members.get('id') ?? null;
  const { jsonrpc, method, params } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') return { id: id ?? 'null', error: invalid('jsonrpc must be "2.0"') };
  if (typeof method !== 'string') return { id: id ?? 'null', error: invalid('method must be a string') };
  if (params !== undefined && params !== null && typeof params !== 'object') {
    return { id: id ?? 'null', error: { code: RpcCode.invalidParams, message: 'params must be an array' } };
  }
  return { id, method, params: params ? (members.get('params') ?? '[]') : '[]', args: params };
}

function invalid(message: string): RpcError {
  return { code: RpcCode.invalidRequest, message: `invalid request: ${message}` };
}
