/** Chooses the first block of a new index. Pruned is what the node proves to be, not what it refuses once. */

import { UpstreamError } from '../../lib/errors.ts';
import { settingWord } from '../../lib/setting-name.ts';
import { haveSameWords } from '../../node/node-errors.ts';

/** What the node has of a block that an index needs. */
export type Availability =
  /** `proves`: the block has something to prune. No clear answer also counts as served, and proves nothing. */
  | { isServed: true; proves: boolean }
  /** Refused with these words, without numbers; null when header, transactions or receipts are missing. */
  | { isServed: false; words: string | null };

export type AskBlock = (number: number) => Promise<Availability>;

/** What a search for the oldest block found. */
export interface OldestBlock {
  number: number;
  /** The words with which the node refuses the blocks below, null if it has none or only parts of them. */
  words: string | null;
}

/** Waits between the two moments of a proof that the blocks below a border are pruned. */
export type AwaitProof = (border: OldestBlock) => Promise<void>;

/**
 * Number of concurrent checks where all blocks are likely available. A distant node takes seconds to answer 25 checks
 * one by one.
 */
const PARALLEL_CHECKS = 8;

/** Refused blocks below a border that prove it. */
const PROOF_BLOCKS = 8;
/** Most blocks checked for them: some have nothing to prune. */
const MAX_PROOF_CHECKS = 64;

/**
 * The wanted first block or, if the node has pruned it, the oldest block it still has. Nodes prune from the old end, so
 * bisection finds where refusals begin. They are pruning only if every block sampled below is refused, with the same
 * words next to the border, now and after `awaitProof`, and every block sampled above is served; one served block below
 * continues the search there. Throws UpstreamError while that is unclear, and while the node lacks even its own head.
 */
export async function findOldestAvailable(
  wanted: number,
  head: number,
  ask: AskBlock,
  awaitProof: AwaitProof,
): Promise<OldestBlock> {
  if (wanted > head)
    // The message names no head, so that it is logged once while the node catches up.
    throw new UpstreamError(
      'inconsistent',
      `the node has not reached ${settingWord('index.start_block')} ${wanted} yet`,
    );
  for (let available = head; ; ) {
    const border = await bisectOldest(wanted, available, ask);
    if (border === wanted) return { number: wanted, words: null };
    if (border === head && !(await ask(head)).isServed)
      throw new UpstreamError(
        'inconsistent',
        `the node does not serve its own head, block ${head}, at present`,
      );
    const before = await examineBelow(wanted, border, ask);
    if ('servedBlock' in before) {
      available = before.servedBlock;
      continue;
    }
    await awaitProof({ number: border, words: before.words });
    const after = await examineBelow(wanted, border, ask);
    if ('servedBlock' in after) {
      available = after.servedBlock;
      continue;
    }
    if (!areSame(after.words, before.words)) throw unclear(border);
    return { number: await bisectOldest(border, head, ask), words: after.words };
  }
}

/**
 * Samples blocks below a border: those next to it, and some down to the wanted one. Returns a served block if there is
 * one, else the words of the refusals.
 */
async function examineBelow(
  wanted: number,
  border: number,
  ask: AskBlock,
): Promise<{ servedBlock: number } | { words: string | null }> {
  const numbers = samplesBelow(wanted, border);
  const words: string[] = [];
  let refused = 0;
  for (let at = 0; at < numbers.length && refused < PROOF_BLOCKS; at += PARALLEL_CHECKS) {
    const asked = numbers.slice(at, at + PARALLEL_CHECKS);
    const answers = await Promise.all(asked.map(ask));
    for (const [i, answer] of answers.entries()) {
      if (answer.isServed && answer.proves) return { servedBlock: asked[i]! };
      if (answer.isServed) continue;
      refused++;
      const { words: said } = answer;
      if (said !== null && !words.some((each) => haveSameWords(each, said))) words.push(said);
    }
  }
  const isWhole = border - wanted <= numbers.length && refused > 0;
  if (words.length > 1 || (refused < PROOF_BLOCKS && !isWhole)) throw unclear(border);
  return { words: words[0] ?? null };
}

function areSame(a: string | null, b: string | null): boolean {
  return a === null || b === null ? a === b : haveSameWords(a, b);
}

/** The next blocks below the border, in steps that grow, and blocks at equal distances down to the wanted one. */
function samplesBelow(wanted: number, border: number): number[] {
  const numbers = new Set<number>();
  for (let i = 1; i <= PROOF_BLOCKS / 2; i++) {
    numbers.add(border - i);
    numbers.add(border - 1 - Math.floor(((border - 1 - wanted) * i) / (PROOF_BLOCKS / 2)));
  }
  for (let i = 1; numbers.size < MAX_PROOF_CHECKS && border - i >= wanted; i++) numbers.add(border - i);
  return [...numbers].filter((number) => number >= wanted);
}

function unclear(border: number): UpstreamError {
  return new UpstreamError(
    'inconsistent',
    `the node refuses blocks below ${border}, but not all of them with one reason, so it is unclear whether ` +
      'it has pruned them; indexing begins once it serves them or refuses all',
  );
}

/** The node's head before and after the search. */
interface GrowingChain {
  /** The head when the search began. */
  headBefore: number;
  /** The head now. */
  head(): Promise<number>;
  /** The head once it is above `head`, or after a limited wait. */
  headAfter(head: number): Promise<number>;
}

/**
 * A safe first block of the index, given the oldest available block. A pruning node drops that block as its chain
 * grows, so the index starts ahead of it by twice the growth during the search. Only once the head has moved can we
 * tell whether the node prunes; if `oldest` is still available then, the index starts there.
 */
export async function stayAheadOfPruning(
  oldest: number,
  { headBefore, head, headAfter }: GrowingChain,
  ask: AskBlock,
): Promise<number> {
  const headFound = await head();
  if (headFound <= headBefore) return oldest;
  const headNow = await headAfter(headFound);
  const oldestNow = await bisectOldest(oldest, headNow, ask);
  return oldestNow === oldest ? oldest : Math.min(headNow, oldestNow + 2 * (headNow - headBefore));
}

/** The lowest block of `wanted..available` from which every block is available, trusting every answer. */
async function bisectOldest(wanted: number, available: number, ask: AskBlock): Promise<number> {
  let oldest = wanted;
  for (;;) {
    let missing = await findMissingAbove(oldest, available, ask);
    if (missing === null) return oldest;
    oldest = available;
    while (oldest - missing > 1) {
      const middle = Math.floor((missing + oldest) / 2);
      if ((await ask(middle)).isServed) oldest = middle;
      else missing = middle;
    }
  }
}

/**
 * A missing block of `from..to-1`, or null. One available block does not prove that later ones are: empty blocks, such
 * as the first ones of most chains, have nothing to prune. So this checks a sample.
 */
async function findMissingAbove(from: number, to: number, ask: AskBlock): Promise<number | null> {
  const numbers: number[] = [];
  for (let distance = 1; from + distance - 1 < to; distance *= 2) numbers.unshift(from + distance - 1);
  for (let at = 0; at < numbers.length; at += PARALLEL_CHECKS) {
    const asked = numbers.slice(at, at + PARALLEL_CHECKS);
    const available = await Promise.all(asked.map(ask));
    const missing = asked.find((_number, i) => !available[i]!.isServed);
    if (missing !== undefined) return missing;
  }
  return null;
}
