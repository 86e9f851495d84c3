/** The line that shows the progress of filling. */
import { etaSeconds, lagBlocks } from '../lib/lag.ts';
import type { IndexStatus } from '../types.ts';
import { formatDuration, formatNumber } from './format.ts';

/** One line of at most `columns` characters; empty when there is nothing to wait for. */
export function progressLine(status: IndexStatus, columns: number): string {
  const [first = '', ...others] = partsOf(status);
  let line = first.slice(0, columns);
  for (const part of others) {
    if (line.length + 2 + part.length > columns) break;
    line += `  ${part}`;
  }
  return line;
}

/** The most important part first: what does not fit is cut from the end. */
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
