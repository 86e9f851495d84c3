/** The log: fixed messages with fields, as one JSON object per line or formatted for people, on stderr. */
import { isatty } from 'node:tty';
import { pino } from 'pino';
import { isColourless } from '../lib/text.ts';
import { isJournal, prettyLine } from './pretty.ts';
import { redact } from './redact.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The facts of an event, by name. An Error goes under `err`. */
export type LogFields = Record<string, unknown>;

/** Messages are fixed texts, so that they can be searched. Put whatever varies into a field. */
export interface Logger {
  debug(fields: LogFields, msg: string): void;
  info(fields: LogFields, msg: string): void;
  warn(fields: LogFields, msg: string): void;
  error(fields: LogFields, msg: string): void;
}

/** The log of a thread: its lines go to the serving thread, which writes them. */
export type ThreadLog = Pick<Logger, 'info' | 'warn' | 'error'>;

/** A program's logger, with an adjustable level. */
export interface AdjustableLogger extends Logger {
  level: string;
  /** Logs an event that ends the program. */
  fatal(fields: LogFields, msg: string): void;
}

export interface LogOptions {
  level: LogLevel;
  /** `auto` is pretty when stderr is a terminal or the systemd journal. */
  format: 'auto' | 'pretty' | 'json';
  /** Fields added to every line, such as the thread's name. */
  fields?: LogFields;
  /** Receives each line with its line end. Default: stderr. */
  write?: (line: string) => void;
}

const STDERR = 2;

/** Most bytes of unwritten lines. They wait for the next write. */
const MAX_WAITING_BYTES = 1_048_576;

/**
 * A logger for this thread. Each thread creates its own: lines are written whole and synchronously, so lines of several
 * threads do not mix, and nothing is lost when the process ends.
 */
export function createLogger(options: LogOptions): AdjustableLogger {
  const { terminal, journal, pretty } = styleOf(options);
  const style = { colour: terminal && !isColourless(), clearLine: terminal, journal };
  const write = options.write ?? toStderr();
  const settings = {
    level: options.level,
    base: options.fields ?? null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
  };
  return pino(settings, {
    write(line: string) {
      const safe = redact(messageFirst(line));
      write(pretty ? prettyLine(safe, style) : safe);
    },
  });
}

/** Whether the log is JSON rather than formatted for people. */
export function isJsonFormat(options: LogOptions): boolean {
  return !styleOf(options).pretty;
}

function styleOf(options: LogOptions): { terminal: boolean; journal: boolean; pretty: boolean } {
  const terminal = options.write === undefined && isatty(STDERR);
  const journal = options.write === undefined && options.format !== 'json' && isJournal(STDERR);
  const pretty = options.format === 'pretty' || (options.format === 'auto' && (terminal || journal));
  return { terminal, journal, pretty };
}

/** Moves `msg`, which pino writes last, to the front, where people look for it. */
function messageFirst(line: string): string {
  const at = line.lastIndexOf(',"msg":"');
  return at < 0 ? line : `{${line.slice(at + 1, -2)},${line.slice(1, at)}}\n`;
}

/**
 * Survives a failing log: the reader may have exited, or the disk may be full. Retries unwritten lines with the next
 * write, and drops them when too many wait, so that the log continues with newer lines.
 */
function toStderr(): (line: string) => void {
  let destination = openStderr(reopen);
  function reopen(): void {
    destination = openStderr(reopen);
  }
  return (line) => {
    destination.write(line);
  };
}

function openStderr(onFull: () => void) {
  const destination = pino.destination({ dest: STDERR, sync: true, maxLength: MAX_WAITING_BYTES });
  destination.on('error', () => undefined);
  destination.once('drop', onFull);
  return destination;
}
