/** Logging uncaught errors where programs read the log. */
import { createLogger, isJson, type LogOptions } from '../log.ts';
import { RUNTIME_FAULT } from './fault.ts';

/**
 * Logs uncaught errors as one line each, with their stack, before the process ends with exit code 1. A log for people
 * is left to Node: it prints the stack and exits with the same code.
 */
export function logDefects(options: LogOptions): void {
  if (!isJson(options)) return;
  const log = createLogger(options);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected failure; please report it');
    process.exit(RUNTIME_FAULT);
  });
}
