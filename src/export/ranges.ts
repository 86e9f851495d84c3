/** Which blocks go into which file. */
import { ConfigError } from '../lib/errors.ts';
import type { BlockRange } from '../store/trace-gaps.ts';

export interface RangePlan {
  /** First block of the index. */
  startBlock: number;
  /** Last block that is final. */
  final: number;
  /** Files begin at multiples of it, so that the same blocks are in the same file on every machine. */
  blocksPerFile: number;
  from?: number;
  to?: number;
}

/**
 * The files in block order. Without `to`, the range that is not final yet is left for later: a file that exists never
 * changes. Throws ConfigError when `from` lies before the index or after `to`.
 */
export function planRanges({
  startBlock,
  final,
  blocksPerFile,
  from = startBlock,
  to,
}: RangePlan): BlockRange[] {
  if (from < startBlock)
    throw new ConfigError(`--from ${from} is before the index, which starts at ${startBlock}`);
  if (to !== undefined && from > to) throw new ConfigError(`--from ${from} is after --to ${to}`);
  const ranges: BlockRange[] = [];
  const end = to ?? final;
  for (let first = from; first <= end; ) {
    const boundary = (Math.floor(first / blocksPerFile) + 1) * blocksPerFile - 1;
    if (to === undefined && boundary > final) break;
    const last = Math.min(boundary, end);
    ranges.push({ first, last });
    first = last + 1;
  }
  return ranges;
}
