/** A log that hands its lines on, without the library that writes them, which a thread need not load. */
import type { LogFields, ThreadLog } from './logger.ts';

export function lineLog(write: (level: keyof ThreadLog, fields: LogFields, msg: string) => void): ThreadLog {
  return {
    info: (fields, msg) => write('info', fields, msg),
    warn: (fields, msg) => write('warn', fields, msg),
    error: (fields, msg) => write('error', fields, msg),
  };
}
