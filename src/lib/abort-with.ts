/** Signals that abort with another one. */

/**
 * Aborts `controller` when `signal` aborts, until the returned function is called. For signals that outlive many
 * controllers: each `AbortSignal.any` would leave 200 bytes in them for ever (Node 22).
 */
export function abortWith(controller: AbortController, signal: AbortSignal): () => void {
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}
