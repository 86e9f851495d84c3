/** A JSON-RPC call and its result. */

export interface Call {
  method: string;
  /** JSON text of the parameters exactly as the client sent them, bytes as Latin-1; `[]` without parameters. */
  params: string;
  /** The parameters as values. Each access may parse them again. */
  readonly args: unknown;
}

/** The HTTP status of the answer to a request of this call alone. */
export type CallStatus = 200 | 502 | 504;

/** The answer to a call, possibly an error, in memory that is not reused. */
export interface CallResult {
  /** See response-tail.ts. */
  tail: Buffer;
  status: CallStatus;
}

/** Makes a call and resolves with its result, possibly an error. Rejects only with the signal's reason. */
export type RequestFn = (
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
) => Promise<CallResult>;

/** Equal calls have equal keys. */
export function callKey({ method, params }: Call): string {
  return `${method} ${params}`;
}

/** A call made by the gateway itself. Its parameters may come from a client. */
export function createCall(method: string, params: readonly unknown[]): Call {
  return { method, params: latin1Json(params), args: params };
}

/**
 * JSON text of Latin-1 characters only. The text is sent as bytes, so any other character would lose its upper byte:
 * \u0122 in a client's string would become a quote that ends the string at the node, and the rest could inject another
 * method.
 */
function latin1Json(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0100-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
