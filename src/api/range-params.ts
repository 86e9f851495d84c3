/** The parameters that bound the list of an owner's transfers, by block and by time. */
import type * as z from 'zod';
import { prepareBlocksInTime } from '../query/block-times.ts';
import { type IdRange, prepareTransferIdsOfBlocks } from '../query/blocks.ts';
import type { Head } from '../query/snapshot.ts';
import type { Db } from '../store/open-database.ts';
import { blockNumber, timeFilter } from './params.ts';

export const RANGE_PARAMS = {
  before_block: blockNumber().optional().describe('Only transfers in this block or earlier'),
  after_block: blockNumber().optional().describe('Only transfers in this block or later'),
  ...timeFilter('transfers'),
};

type RangeParams = z.output<z.ZodObject<typeof RANGE_PARAMS>>;

/** The ids within the bounds, below the cursor of the previous page. */
export function prepareIdsBetween(
  db: Db,
): (params: RangeParams, cursor: number | undefined, head: Head) => IdRange {
  const idsOfBlocks = prepareTransferIdsOfBlocks(db);
  const blocksInTime = prepareBlocksInTime(db);
  return (params, cursor, head) => {
    const { after_block, before_block } = params;
    const { first, last } = blocksInTime(head, params);
    const range = idsOfBlocks(Math.max(first, after_block ?? first), Math.min(last, before_block ?? last));
    return { from: range.from, below: Math.min(range.below, cursor ?? range.below) };
  };
}
