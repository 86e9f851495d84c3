/** Divides blocks into the ranges of files. The borders are fixed, so that no block can be in two files. */
import { ConfigError } from '../lib/errors.ts';
import type { BlockRange } from '../store/block-gaps.ts';

/** The blocks of a file. */
export interface FileRange extends BlockRange {
  /** Whether it ends before its border. */
  open: boolean;
}

export interface RangeChoice {
  /** First block of the index. */
  startBlock: number;
  /** Last block of the index. */
  head?: number;
  /** Last block that is final. */
  final: number;
  /** Ranges begin at multiples of this, so that the same blocks are in the same file on every machine. */
  blocksPerFile: number;
  from?: number | undefined;
  to?: number | undefined;
}

/**
 * The ranges in block order, from the one that contains `from`. `to` ends the last one early; without it, leaves out
 * the range that is not entirely final. Throws ConfigError for blocks that are not in the index, or not final.
 */
export function planRanges(request: RangeChoice): FileRange[] {
  const { startBlock, final, blocksPerFile, from = startBlock, to } = request;
  requireRange(request);
  if (to !== undefined && to > final)
    throw new ConfigError(`block ${to} is not final yet: the last final block of the index is ${final}`);
  const ranges: FileRange[] = [];
  const end = to ?? final;
  for (let border = borderBefore(from, blocksPerFile); border <= end; border += blocksPerFile) {
    const last = border + blocksPerFile - 1;
    if (to === undefined && last > final) break;
    ranges.push({ first: Math.max(border, startBlock), last: Math.min(last, end), open: last > end });
  }
  return ranges;
}

/** Throws ConfigError for blocks that the index cannot or does not have, or that no range can have. */
export function requireRange({
  startBlock,
  head,
  from = startBlock,
  to,
}: Pick<RangeChoice, 'startBlock' | 'head' | 'from' | 'to'>): void {
  if (from < startBlock)
    throw new ConfigError(`--from ${from} is before the index, which starts at ${startBlock}`);
  if (to !== undefined && from > to) throw new ConfigError(`--from ${from} is after --to ${to}`);
  if (head !== undefined && to !== undefined && to > head)
    throw new ConfigError(
      `block ${to} is not final yet: it is not even indexed, the index is at block ${head}`,
    );
}

/** Why an export of these ranges, all of which are written, has nothing to do. */
export function idleReason(request: RangeChoice, ranges: readonly FileRange[]): string {
  const { startBlock, head, final, blocksPerFile, from = startBlock, to } = request;
  const [first, last] = [ranges[0], ranges.at(-1)];
  const complete =
    first === undefined || last === undefined ? [] : [`blocks ${first.first} to ${last.last} are there`];
  if (to !== undefined) return complete.join();
  const border = last === undefined ? borderBefore(from, blocksPerFile) : last.last + 1;
  const next = Math.max(border, startBlock);
  const advice = final >= next ? ` ("--to ${final}" writes those up to it)` : '';
  const missing = head !== undefined && from > head ? `, and block ${from} is not even indexed` : '';
  const waiting = `blocks ${next} to ${border + blocksPerFile - 1} follow once all are final${missing}`;
  return [...complete, waiting, `the last final block is ${final}${advice}`].join('; ');
}

function borderBefore(block: number, blocksPerFile: number): number {
  return Math.floor(block / blocksPerFile) * blocksPerFile;
}
