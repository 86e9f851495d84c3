/** Being asked to stop, or to read the configuration again. */
import { isatty } from 'node:tty';

/** Ctrl-C reaches a process twice when a wrapper such as npm passes it on as well; so close together they are one. */
const SAME_REQUEST_MS = 500;

/**
 * Resolves at the first signal to stop. A second one, given while the program is stopping, ends the process at
 * once with exit code 1. SIGHUP is one of them unless `onReload` is there to be called instead; it still is one when
 * it came because the terminal that the program runs in was closed, which is then a terminal no more.
 */
export function stopRequest(onReload?: () => void): Promise<void> {
  const terminal = [0, 1, 2].find((fd) => isatty(fd));
  return new Promise((resolve) => {
    let first: number | undefined;
    const onStop = () => {
      first ??= performance.now();
      if (performance.now() - first > SAME_REQUEST_MS) process.exit(1);
      resolve();
    };
    process.on('SIGINT', onStop);
    process.on('SIGTERM', onStop);
    process.on('SIGHUP', () => {
      const isClosed = terminal !== undefined && !isatty(terminal);
      if (onReload === undefined || isClosed) onStop();
      else onReload();
    });
  });
}
