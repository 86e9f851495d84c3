/** The parameter `seen` of every GET: the block of an earlier answer, from its headers. */
import * as z from 'zod';
import { ReorgedError } from '../lib/errors.ts';
import { currentMark, MARK_PATTERN } from '../model/rewrites.ts';
import { prepareReadAgainFrom, type SeenBlock } from '../query/seen.ts';
import type { Head } from '../query/snapshot.ts';
import type { Db } from '../store/open-database.ts';

const PATTERN = new RegExp(`^\\d{1,15}:0x[0-9a-fA-F]{64}(:${MARK_PATTERN.source.slice(1, -1)})?$`);

const ERROR =
  'must be NUMBER:HASH, from X-Indexed-Block and X-Indexed-Hash, then :REWRITES if there is X-Indexed-Rewrites';

/** A commit of the index, as `seenText` writes it. */
export function seenBlock(error = ERROR) {
  return z.string({ error }).regex(PATTERN, { error }).meta({ title: 'NUMBER:HASH' });
}

export const SEEN_PARAMETER = {
  seen: seenBlock()
    .optional()
    .describe(
      'NUMBER:HASH from X-Indexed-Block and X-Indexed-Hash of an earlier answer, then :REWRITES if it has ' +
        'X-Indexed-Rewrites. The answer is 409 reorged once that block has left the chain, or a repair has ' +
        'rewritten it',
    ),
};

/** The commit as a client sends it back. */
export function seenText({ number, hash, rewrites }: Head): string {
  return rewrites.length === 0 ? `${number}:${hash}` : `${number}:${hash}:${currentMark(rewrites)}`;
}

/** Throws ReorgedError unless the index still has the block, which the client sent as the parameter `param`. */
type RequireSeen = (seen: SeenBlock, head: Head, param: string) => void;

export function prepareRequireSeen(db: Db, maxReorg: number): RequireSeen {
  const readAgainFrom = prepareReadAgainFrom(db, maxReorg);
  return (seen, { rewrites, startBlock }, param) => {
    const lowest = readAgainFrom(seen, rewrites);
    if (lowest === null) return;
    const from = Math.min(seen.number, Math.max(startBlock, lowest));
    throw new ReorgedError(
      `block ${seen.number} of ${param} has left the chain, or was rewritten by a repair: read again from ` +
        `block ${from} on`,
      from,
      param,
    );
  };
}

/** A block in the form of the pattern. */
export function parseSeen(text: string): SeenBlock {
  const [number, hash = '', mark = null] = text.split(':');
  return { number: Number(number), hash: `0x${hash.slice(2).toLowerCase()}`, mark };
}
