/** Signals to stop, or to reload the configuration. */
import { isatty } from 'node:tty';

/** A wrapper such as npm forwards Ctrl-C, so the process gets it twice: two within this time count as one. */
const DUPLICATE_SIGNAL_MS = 500;

/**
 * Resolves at the first signal to stop. A second one ends the process at once with exit code 1. SIGHUP also stops the
 * program unless `onReload` handles it. It always means stop when the terminal was closed, because then the descriptor
 * is no longer a terminal.
 */
export function waitForStopSignal(onReload?: () => void): Promise<void> {
  const terminal = [0, 1, 2].find((fd) => isatty(fd));
  return new Promise((resolve) => {
    let first: number | undefined;
    const onStop = () => {
      first ??= performance.now();
      if (performance.now() - first > DUPLICATE_SIGNAL_MS) process.exit(1);
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
