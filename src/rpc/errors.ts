/** JSON-RPC errors that this server makes itself. The node's own errors pass through unchanged. */

export const RpcCode = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  limitExceeded: -32005,
} as const;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** The text of an error answer; `id` is the JSON text of the request's id. */
export function errorText(id: string, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
}
