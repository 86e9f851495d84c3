/** What figures of the index lack, in words for every page. Pure functions. */
import type { GapTotals } from '../../model/block-gap.ts';
import type { Status } from '../client/answers.ts';
import { grouped } from '../ui/format.ts';
import { unfinishedText } from './unfinished.ts';

type State = Pick<
  Status,
  | 'phase'
  | 'head'
  | 'nodeHead'
  | 'etaSeconds'
  | 'reason'
  | 'staleReason'
  | 'nodeChain'
  | 'capabilities'
  | 'untraced'
  | 'logGaps'
  | 'readFailure'
  | 'derived'
  | 'transfers'
>;

/** Sentences; none where the index follows the chain and has all of it from its first block on. */
export function missingTexts(state: State): string[] {
  const { nodeChain, capabilities, untraced, logGaps, readFailure, derived, transfers } = state;
  const isOther = !['unchecked', 'same', 'behind'].includes(nodeChain);
  const isUntraced = capabilities !== null && capabilities.traces === null;
  const done = derived.map(({ lastTransfer }) => (transfers === 0 ? 1 : lastTransfer / transfers));
  return [
    unfinishedText(state),
    isOther &&
      'What pages show by the node, such as balances of the coin, blocks and transactions, is of its chain, ' +
        'not of that of the index.',
    readFailure !== null && 'A part of the index cannot be read at present: some figures do not load.',
    isUntraced && 'Internal transfers, those by contracts, are missing since the node gives no traces.',
    untraced &&
      !(isUntraced && covers(untraced, state)) &&
      `Internal transfers are missing ${where(untraced)}.`,
    logGaps && `Transfers are missing ${where(logGaps)}: the node did not give all logs.`,
    done.length > 0 &&
      'Histories of tokens, and trades, are still being prepared: ' +
        `${Math.floor(Math.min(1, ...done) * 100)} % are done.`,
  ].filter((text) => typeof text === 'string');
}

/** Whether a gap is all of the index, so that its blocks need no mention. */
function covers({ last }: GapTotals, { head }: State): boolean {
  return last === head?.number;
}

/** `in block 5`, `in blocks 5 to 12`, `in 9 of the blocks 5 to 20` */
function where({ first, last, blocks }: GapTotals): string {
  if (first === last) return `in block ${grouped(first)}`;
  const some = blocks < last - first + 1 ? `${grouped(blocks)} of the ` : '';
  return `in ${some}blocks ${grouped(first)} to ${grouped(last)}`;
}

/** Beside a list that has transfers of such blocks; null if it has none. */
export function gapRowsText(
  rows: readonly { blockNumber: number; uncertain?: boolean | undefined }[],
): string | null {
  const blocks = [...new Set(rows.flatMap((row) => (row.uncertain ? [row.blockNumber] : [])))];
  const [first] = blocks;
  if (first === undefined) return null;
  return blocks.length === 1
    ? `Other transfers of block ${grouped(first)} may be missing: the node did not give all of it.`
    : `Other transfers of ${grouped(blocks.length)} of these blocks may be missing: ` +
        'the node did not give all of them.';
}
