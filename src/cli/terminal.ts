/** The progress line on a terminal. It shares stderr with the log, whose lines erase it until it is drawn again. */
import type { IndexStatus } from '../types.ts';
import { progressLine } from './progress.ts';

const CLEAR_LINE = '\r\x1b[K';
const REDRAW_MS = 200;

/** Draws the progress line until the returned function is called. Does nothing where stderr is no terminal. */
export function showProgress(status: () => IndexStatus): () => void {
  const out = process.stderr;
  if (!out.isTTY) return () => undefined;
  let drawn = '';
  const draw = () => {
    const line = progressLine(status(), out.columns - 1);
    if (line || drawn) out.write(CLEAR_LINE + line);
    drawn = line;
  };
  const timer = setInterval(draw, REDRAW_MS).unref();
  return () => {
    clearInterval(timer);
    if (drawn) out.write(CLEAR_LINE);
  };
}

/** A line on the terminal that is redrawn while a command works. */
export interface StatusLine {
  /** Draws the text, unless another was drawn a moment ago. */
  show(text: string): void;
  clear(): void;
}

/** Draws nothing where stderr is no terminal. */
export function statusLine(): StatusLine {
  const out = process.stderr;
  let drawnAt = 0;
  return {
    show(text) {
      if (!out.isTTY || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      out.write(CLEAR_LINE + text.slice(0, out.columns - 1));
    },
    clear() {
      if (drawnAt > 0) out.write(CLEAR_LINE);
      drawnAt = 0;
    },
  };
}
