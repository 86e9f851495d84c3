/** Log lines for people: `12:03:04.123 INFO  message  field=value`. */

import { fstatSync } from 'node:fs';

interface PrettyStyle {
  colour: boolean;
  /** For the systemd journal: prefix each line with the level as a priority, and omit the time. */
  journal?: boolean;
  /** First erase the terminal's current line, a progress line that is redrawn below. */
  clearLine: boolean;
}

const COLOURS: Record<string, string> = {
  debug: '\x1b[90m',
  info: '\x1b[32m',
  warn: '\x1b[33m',
  error: '\x1b[31m',
};
const DIM = '\x1b[2m';
const RESET = '\x1b[0m';
const CLEAR_LINE = '\r\x1b[K';

/** One JSON log line formatted for people, in local time. An error's stack follows on its own lines. */
export function prettyLine(json: string, style: PrettyStyle): string {
  const record: Record<string, unknown> = JSON.parse(json);
  const { msg, level, time, err, ...fields } = record;
  const { message, stack } = errorParts(err);
  const shown = Object.entries(message ? { ...fields, error: message } : fields)
    .map(([name, value]) => `${name}=${fieldText(value)}`)
    .join(' ');
  const paint = (colour: string, text: string) => (style.colour && text ? `${colour}${text}${RESET}` : text);
  if (style.journal) {
    const text = [msg, shown].filter(Boolean).join('  ');
    return `${text}\n${stack}`.replace(/^(?=.)/gm, journalPriority(String(level)));
  }
  const label = paint(COLOURS[String(level)] ?? '', String(level).toUpperCase().padEnd(5));
  const line = [`${paint(DIM, clock(String(time)))} ${label} ${msg}`, paint(DIM, shown)]
    .filter(Boolean)
    .join('  ');
  return `${style.clearLine ? CLEAR_LINE : ''}${line}\n${stack}`;
}

/** The local time of day, with milliseconds, of an ISO 8601 text. */
function clock(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8) + iso.slice(19, 23);
}

function errorParts(err: unknown): { message: string; stack: string } {
  if (typeof err !== 'object' || err === null) return { message: '', stack: '' };
  const stack = 'stack' in err ? String(err.stack).split('\n') : [];
  const frames = stack
    .filter((line) => line.startsWith('    at '))
    .map((frame) => `${escapeControls(frame)}\n`);
  return { message: 'message' in err ? String(err.message) : '', stack: frames.join('') };
}

function fieldText(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"=\p{Cc}]+$/u.test(value);
  return isPlain ? value : escapeControls(JSON.stringify(value));
}

/** Escapes all control characters as JSON does, so that foreign text cannot control a terminal. */
function escapeControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Syslog priorities, as in sd-daemon(3). */
const PRIORITIES: Record<string, string> = { debug: '<7>', info: '<6>', warn: '<4>', error: '<3>' };

/** The prefix of a line of this level. */
export function journalPriority(level: string): string {
  return PRIORITIES[level] ?? '';
}

/**
 * Whether a descriptor leads to the journal. `JOURNAL_STREAM` holds the stream's device and inode, see systemd.exec(5).
 */
export function isJournal(
  descriptor: number,
  { JOURNAL_STREAM }: Record<string, string | undefined> = process.env,
): boolean {
  if (JOURNAL_STREAM === undefined) return false;
  const { dev, ino } = fstatSync(descriptor);
  return JOURNAL_STREAM === `${dev}:${ino}`;
}
