/** The log of the writer thread: its lines go to the serving thread, which writes them. */
import type { Logger } from '../log.ts';
import type { Send } from './protocol.ts';

export type WriterLog = Pick<Logger, 'info' | 'warn' | 'error'>;

export function writerLog(send: Send): WriterLog {
  const lineOf =
    (level: keyof WriterLog): WriterLog['info'] =>
    (fields, msg) =>
      send({ kind: 'log', level, msg, fields });
  return { info: lineOf('info'), warn: lineOf('warn'), error: lineOf('error') };
}
