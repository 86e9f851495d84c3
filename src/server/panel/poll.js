/** Asking again and again while somebody looks. */

/**
 * Runs `look` now and every `ms` until the signal ends it; not while the page is hidden, and never twice at once.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @param {() => Promise<void>} look must not reject
 */
export function keepLooking(ms, signal, look) {
  let busy = false;
  const turn = async () => {
    if (busy || document.hidden || signal.aborted) return;
    busy = true;
    await look();
    busy = false;
  };
  void turn();
  const timer = setInterval(turn, ms);
  const onVisible = () => void turn();
  document.addEventListener('visibilitychange', onVisible);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', onVisible);
  });
}
