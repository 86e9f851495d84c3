/** Asking again and again while somebody looks. */

/**
 * Runs `task` now and every `ms` until the signal ends it; not while the page is hidden, and never twice at once.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @param {() => Promise<void>} task must not reject
 */
export function poll(ms, signal, task) {
  let busy = false;
  const tick = async () => {
    if (busy || document.hidden || signal.aborted) return;
    busy = true;
    await task();
    busy = false;
  };
  void tick();
  const timer = setInterval(tick, ms);
  const onVisible = () => void tick();
  document.addEventListener('visibilitychange', onVisible);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', onVisible);
  });
}
