/** A defect that nobody caught, where the log is read by programs. */
import { createLogger, isJson, type LogOptions } from '../log.ts';
import { RUNTIME_FAULT } from './fault.ts';

/**
 * Has uncaught errors logged as one line each, with their stack, before the process ends with exit code 1. For people
 * all stays as Node does it: it prints the stack and ends with the same code.
 */
export function logDefects(options: LogOptions): void {
  if (!isJson(options)) return;
  const log = createLogger(options);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected failure; please report it');
    process.exit(RUNTIME_FAULT);
  });
}
