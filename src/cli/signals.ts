/** Being asked to stop. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ctrl-C reaches a process twice when a wrapper such as npm passes it on as well; so close together they are one. */
const SAME_REQUEST_MS = 500;

/**
 * Resolves at the first signal to stop. A second one, given while the program is stopping, ends the process at
 * once with exit code 1.
 */
export function stopRequest(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = () => {
      first ??= performance.now();
      if (performance.now() - first > SAME_REQUEST_MS) process.exit(1);
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
  });
}
