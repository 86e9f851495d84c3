/** The parameter `seen` of every GET: the block of an earlier answer, from its headers. */
import { z } from 'zod';
import { ReorgedError } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import { MARK_PATTERN } from '../model/rewrites.ts';
import { prepareReadAgainFrom, type SeenBlock } from '../query/seen.ts';
import type { Head } from '../query/snapshot.ts';
import type { Db } from '../store/open-database.ts';

const PATTERN = new RegExp(`^\\d{1,15}:0x[0-9a-fA-F]{64}(:${MARK_PATTERN.source.slice(1, -1)})?$`);

const ERROR =
  'must be NUMBER:HASH, from X-Indexed-Block and X-Indexed-Hash, then :REWRITES if there is X-Indexed-Rewrites';

export const SEEN_PARAMETER = {
  seen: z
    .string({ error: ERROR })
    .regex(PATTERN, { error: ERROR })
    .meta({ title: 'NUMBER:HASH' })
    .optional()
    .describe(
      'NUMBER:HASH from X-Indexed-Block and X-Indexed-Hash of an earlier answer, then :REWRITES if it has ' +
        'X-Indexed-Rewrites. The answer is 409 reorged once that block has left the chain, or a repair has rewritten it',
    ),
};

/** Returns a function that throws ReorgedError unless the index still has what the client has seen by its valid input. */
export function prepareRequireSeen(db: Db, maxReorg: number): (input: unknown, head: Head) => void {
  const readAgainFrom = prepareReadAgainFrom(db, maxReorg);
  return (input, { rewrites, startBlock }) => {
    if (!isObject(input) || typeof input.seen !== 'string') return;
    const seen = parseSeen(input.seen);
    const lowest = readAgainFrom(seen, rewrites);
    if (lowest === null) return;
    const from = Math.min(seen.number, Math.max(startBlock, lowest));
    throw new ReorgedError(
      `block ${seen.number} of seen has left the chain, or was rewritten by a repair: read again from block ${from} on`,
      from,
      'seen',
    );
  };
}

function parseSeen(text: string): SeenBlock {
  const [number, hash = '', mark = null] = text.split(':');
  return { number: Number(number), hash: `0x${hash.slice(2).toLowerCase()}`, mark };
}
