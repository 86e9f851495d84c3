import { etaSeconds, type IndexStatus, lagBlocks } from '../model/index-status.ts';
import { formatDuration, formatNumber } from './format.ts';

const CLEAR_LINE = '\r\x1b[K';
const REDRAW_MS = 200;

/** Draws the progress line until the returned function is called. Does nothing if stderr is not a terminal. */
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

/** A terminal line that a running command redraws. */
export interface StatusLine {
  /** Draws the text, unless the line was drawn a moment ago. */
  show(text: string): void;
  clear(): void;
}

/** Draws nothing if stderr is not a terminal. */
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

/** The progress on one line of at most `columns` characters; empty when there is nothing to wait for. */
export function progressLine(status: IndexStatus, columns: number): string {
  const [first = '', ...others] = partsOf(status);
  let line = first.slice(0, columns);
  for (const part of others) {
    if (line.length + 2 + part.length > columns) break;
    line += `  ${part}`;
  }
  return line;
}

/** The parts of the line, most important first, because the line is cut at the end. */
function partsOf(status: IndexStatus): string[] {
  const { phase, reason, head, nodeHead, capabilities } = status;
  if (phase === 'following') return [];
  if (phase === 'starting') {
    const connected = capabilities !== null && head === null;
    const doing = connected ? 'looking for the first block' : 'waiting for the node';
    return [doing + (reason ? `: ${reason}` : '')];
  }
  if (phase === 'paused') return [`paused${reason ? `: ${reason}` : ''}`];
  const eta = etaSeconds(status);
  const lag = lagBlocks(status);
  return [
    `block ${head ? formatNumber(head.number) : '-'}${nodeHead === null ? '' : ` of ${formatNumber(nodeHead)}`}`,
    `${formatNumber(status.blocksPerSecond)} blocks/s`,
    `${formatNumber(status.transfersPerSecond)} transfers/s`,
    `lag ${lag === null ? 'unknown' : formatNumber(lag)}`,
    `ETA ${eta === null ? 'unknown' : formatDuration(eta)}`,
  ];
}
