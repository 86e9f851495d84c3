/** One request to the server, bounded in time. */
import { href } from '../ui/router.ts';
import { ApiError } from './api-error.ts';

/** Exceeds the server's default timeout for its node. */
const TIMEOUT_MS = 60_000;

/**
 * The answer and its JSON or CSV, null for an error without JSON. Rejects with the signal's reason, or with an
 * ApiError.
 */
export async function request(
  path: string,
  { signal, timeoutMs = TIMEOUT_MS, ...init }: RequestInit & { timeoutMs?: number } = {},
): Promise<{ response: Response; answer: unknown }> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const fail = (error: unknown): never => {
    signal?.throwIfAborted();
    throw new ApiError({ status: 0, code: 'unreachable', message: String(error) });
  };
  const bounded = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const response = await fetch(href(path), { ...init, signal: bounded }).catch(fail);
  const isCsv = response.headers.get('Content-Type')?.startsWith('text/csv');
  const answer: unknown = await (isCsv ? response.text() : response.json()).catch((error: unknown) =>
    response.ok ? fail(error) : null,
  );
  return { response, answer };
}
