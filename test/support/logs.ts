/** Logs for tests. */
import { lineLog } from '../../src/log/line-log.ts';
import type { ThreadLog } from '../../src/log/logger.ts';

export const SILENT: ThreadLog = lineLog(() => undefined);

/** A log that appends its lines to a list, as `level message {fields}`. */
export function logTo(lines: string[]): ThreadLog {
  return lineLog((level, fields, msg) => lines.push(`${level} ${msg} ${JSON.stringify(fields)}`));
}
