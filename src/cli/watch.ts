/** A text on the terminal that is drawn anew until Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError } from '../errors.ts';

const EVERY_MS = 1_000;

/** The other screen of the terminal, so that what stood there before comes back, without a cursor. */
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_TO_LINE_END = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/** What is written to; `columns` and `rows` are those of a terminal. */
interface Screen {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  write(text: string): unknown;
}

/**
 * Shows what `text` gives once a second, until SIGINT or SIGTERM. On a terminal it is drawn in place and stays when
 * all is over; elsewhere each is written behind the other. The first failure is thrown; later ones, as when the
 * daemon is restarted, are shown in its place.
 */
export async function watch(text: () => Promise<string>, screen: Screen): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  let last = await text();
  if (screen.isTTY) screen.write(ENTER);
  try {
    while (!stop.signal.aborted) {
      screen.write(screen.isTTY ? frame(last, screen) : `${last}\n`);
      await sleep(EVERY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      if (!stop.signal.aborted) last = await text().catch(faultText);
    }
  } finally {
    if (screen.isTTY) screen.write(`${LEAVE}${last}\n`);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}

function faultText(error: unknown): string {
  if (error instanceof FatalError) return error.message;
  throw error;
}

/** The text from the upper left corner, over what stood there; what does not fit is cut off. */
function frame(text: string, { columns = 80, rows = 24 }: Screen): string {
  const lines = text.split('\n').slice(0, rows - 1);
  return `${HOME}${lines.map((line) => cut(line, columns) + CLEAR_TO_LINE_END).join('\n')}\n${CLEAR_BELOW}`;
}

/** At most `columns` characters; colours take no room and are kept. */
function cut(line: string, columns: number): string {
  let room = columns;
  return line.replace(/\p{Cc}\[\d+m|./gu, (part) => {
    if (part.length > 1) return part;
    return room-- > 0 ? part : '';
  });
}
