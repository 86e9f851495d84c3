/** Logs uncaught errors if programs read the log. */
import { createLogger, isJsonFormat, type LogOptions } from '../log/logger.ts';
import { EXIT_FAILURE } from './errors.ts';

/**
 * Logs each uncaught error as one line, with its stack, before the process ends with exit code 1. If people read the
 * log, Node itself prints the stack and exits with the same code.
 */
export function logUncaughtErrors(options: LogOptions): void {
  if (!isJsonFormat(options)) return;
  const log = createLogger(options);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected failure; please report it');
    process.exit(EXIT_FAILURE);
  });
}
