/** Compares the facts that decide whether two daemons assign the same ids. */

import { chainOf, readLastBlock } from '../store/chain.ts';
import { AnchorTable, type ChainAnchors } from '../store/chain-anchors.ts';
import { SCHEMA_VERSION } from '../store/index-file.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { type BlockRange, traceGapRanges } from '../store/trace-gaps.ts';

export interface IndexIdentity extends Pick<ChainAnchors, 'genesis' | 'firstParent'> {
  chainId: number;
  firstBlock: number;
  /** Blocks indexed without traces, up to `head`. */
  untraced: BlockRange[];
  head: number;
  schema: number;
}

/** Further ranges are not published; `head` then ends with the last published one. */
const MAX_RANGES = 1_000;

/** Null while the index is empty. */
export function readIdentity(db: Db): IndexIdentity | null {
  return inReadTransaction(db, () => {
    const chain = chainOf(db);
    const last = readLastBlock(db);
    if (chain === null || last === null) return null;
    const { genesis, firstParent } = new AnchorTable(db).read();
    const ranges = traceGapRanges(db);
    const untraced = ranges.slice(0, MAX_RANGES);
    return {
      chainId: chain.chainId,
      genesis,
      firstBlock: chain.startBlock,
      firstParent,
      untraced,
      head: ranges.length > MAX_RANGES ? (untraced.at(-1)?.last ?? last.number) : last.number,
      schema: SCHEMA_VERSION,
    };
  });
}

/**
 * The facts that differ, with both sides, such as "the first block is 5 here and 1 there"; empty when the ids are the
 * same.
 */
export function identityDifferences(here: IndexIdentity, there: IndexIdentity): string[] {
  const head = Math.min(here.head, there.head);
  const facts: [what: string, here: unknown, there: unknown][] = [
    ['the chain id', here.chainId, there.chainId],
    ['the hash of block 0', here.genesis ?? there.genesis, there.genesis ?? here.genesis], // unknown on one side: no difference
    ['the first block', here.firstBlock, there.firstBlock],
    [
      'the hash of the block before the first',
      here.firstParent ?? there.firstParent,
      there.firstParent ?? here.firstParent,
    ],
    ['the list of blocks without traces', untracedText(here, head), untracedText(there, head)],
    ['the schema version of index.db', here.schema, there.schema],
  ];
  return facts
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => `${what} is ${one} here and ${other} there`);
}

function untracedText({ untraced }: IndexIdentity, head: number): string {
  const shared = untraced.filter(({ first }) => first <= head);
  return shared.length === 0
    ? 'empty'
    : rangesText(shared.map(({ first, last }) => ({ first, last: Math.min(last, head) })));
}

/** The text format of the table `daemons`. */
export function rangesText(ranges: readonly BlockRange[]): string {
  return ranges.map(({ first, last }) => `${first}-${last}`).join();
}

export function parseRanges(text: string): BlockRange[] {
  return text
    .split(',')
    .filter((range) => range !== '')
    .map((range) => {
      const [first = 0, last = 0] = range.split('-').map(Number);
      return { first, last };
    });
}
