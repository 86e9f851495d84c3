/** One line of a recorded file: a JSON-RPC exchange. */

export interface Exchange {
  method: string;
  params: unknown[];
  isError: boolean;
  /** The JSON text of `result` or `error`. */
  body: Buffer;
}

interface ExchangeJson {
  method: string;
  params?: unknown[];
  result?: unknown;
  error?: unknown;
}

/** Method and parameters precede the answer and are short. */
const HEAD_BYTES = 4096;
const ANSWER = /,\s*"(result|error)"\s*:\s*/;
const CLOSING_BRACE = 125;

/**
 * Reads a line without parsing its answer, which may be megabytes, if the answer comes last. Throws if the line is not
 * an exchange.
 */
export function parseExchange(line: Buffer): Exchange {
  const head = line.toString('latin1', 0, HEAD_BYTES);
  const match = ANSWER.exec(head);
  const request = match && parseRequest(`${head.slice(0, match.index)}}`);
  if (!request) return parseWhole(line);
  const start = match.index + match[0].length;
  const end = line.lastIndexOf(CLOSING_BRACE);
  return {
    method: request.method,
    params: request.params ?? [],
    isError: match[1] === 'error',
    body: Buffer.from(line.subarray(start, end)),
  };
}

/** The request, if the text before the answer is one; null if the answer comes first, or in the middle. */
function parseRequest(text: string): ExchangeJson | null {
  try {
    const request: ExchangeJson = JSON.parse(text);
    return typeof request.method === 'string' ? request : null;
  } catch {
    return null;
  }
}

function parseWhole(line: Buffer): Exchange {
  const exchange: ExchangeJson = JSON.parse(line.toString());
  if (typeof exchange.method !== 'string') throw new SyntaxError('an exchange needs a method');
  const isError = 'error' in exchange;
  return {
    method: exchange.method,
    params: exchange.params ?? [],
    isError,
    body: Buffer.from(JSON.stringify(isError ? exchange.error : exchange.result)),
  };
}
