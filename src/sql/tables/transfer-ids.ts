/** The ids of the transfers that the arguments of a query allow, by whichever of its conditions leads to the fewest. */
import type { IdRange } from '../../query/blocks.ts';
import { HistoryFlag } from '../../store/wallet-history.ts';
import {
  type Arguments,
  addressesIn,
  boundsIn,
  hashesIn,
  integersIn,
  sidesIn,
  textsIn,
  timesIn,
} from './arguments.ts';
import { type IndexReads, NO_BUDGET } from './index-reads.ts';
import type { RowUse } from './table.ts';

/** Ids of one reading, ascending. */
export type Ids = readonly number[];

/** The first portion is that of a short list, unless the query says how many rows it wants. */
const FIRST_IDS = 64;
const MOST_IDS = 4_096;

/** Each next portion has twice as many. */
function next(size: number): number {
  return Math.min(MOST_IDS, Math.max(FIRST_IDS, 2 * size));
}

/** A row of a range costs a quarter of one of a history, whose rows are scattered. */
const RANGE_DISCOUNT = 4;

/** A way to the transfers. */
interface Way {
  /** About how many transfers it reads. */
  size: number;
  read(range: IdRange, firstSize: number): Iterable<Ids>;
}

/** Portions of ids, each ascending; the portions descend unless a range is read in ascending order. */
export function* transferIds(
  reads: IndexReads,
  args: Arguments,
  { isAscending, firstRows }: Pick<RowUse, 'isAscending' | 'firstRows'>,
): Generator<Ids, void, void> {
  const firstSize = Math.max(1, Math.min(MOST_IDS, firstRows ?? FIRST_IDS));
  const range = idRange(reads, args);
  const ids = integersIn(args, 'id');
  if (ids !== undefined) return yield* given(ids, range);
  const hashes = hashesIn(args, 'tx_hash');
  const ways = [...walletWays(reads, args), ...tokenWays(reads, args)];
  ways.sort((a, b) => a.size - b.size);
  const [best] = ways;
  const width = Math.max(0, range.below - range.from);
  if (
    best !== undefined &&
    (hashes === undefined || best.size < width / RANGE_DISCOUNT) &&
    best.size <= width
  )
    yield* best.read(range, firstSize);
  else if (hashes !== undefined) for (const hash of hashes) yield* ofTransaction(reads, hash, range);
  else yield* ofRange(range, isAscending, firstSize);
}

/** The ids of the blocks, times and ids that a query names. */
function idRange(reads: IndexReads, args: Arguments): IdRange {
  const end = reads.end();
  const blocks = boundsIn(args, 'block_number');
  const { since, until } = timesIn(args, 'block_timestamp');
  // Where times fall, a block before the time that the others have reached may have a later time of its own.
  const times = reads.blocksInTime(
    { ...end, hashPrefix: '', revision: 0, rewrites: [] },
    {
      since,
      until: reads.timesAscend() ? until : undefined,
    },
  );
  const first = Math.max(blocks.min, times.first, end.startBlock);
  const last = Math.min(blocks.max, times.last, end.number);
  const ids = boundsIn(args, 'id');
  const before = reads.lastBlock(first - 1)?.lastTransfer ?? 0;
  const through = last < end.startBlock ? 0 : (reads.lastBlock(last)?.lastTransfer ?? 0);
  return { from: Math.max(ids.min, before + 1), below: Math.min(ids.max, through) + 1 };
}

function* given(ids: readonly number[], { from, below }: IdRange): Generator<Ids, void, void> {
  const wanted = ids.filter((id) => id >= from && id < below).sort((a, b) => b - a);
  for (let at = 0; at < wanted.length; at += MOST_IDS) yield wanted.slice(at, at + MOST_IDS).reverse();
}

function* ofRange(
  { from, below }: IdRange,
  isAscending: boolean,
  firstSize: number,
): Generator<Ids, void, void> {
  let size = firstSize;
  let left = Math.max(0, below - from);
  while (left > 0) {
    const count = Math.min(size, left);
    const start = isAscending ? below - left : from + left - count;
    yield Array.from({ length: count }, (_, i) => start + i);
    left -= count;
    size = next(size);
  }
}

function* ofTransaction(reads: IndexReads, hash: string, range: IdRange): Generator<Ids, void, void> {
  const { from, below } = reads.idsOfTransaction(`0x${hash.slice(2)}`, range, NO_BUDGET);
  yield* ofRange({ from, below }, false, FIRST_IDS);
}

function walletWays(reads: IndexReads, args: Arguments): Way[] {
  const { from, to, either } = sidesIn(args);
  const sides: [addresses: string[] | undefined, direction: number, others: string[] | undefined][] = [
    [from, HistoryFlag.out, to],
    [to, HistoryFlag.in, from],
    [either, HistoryFlag.out | HistoryFlag.in, undefined],
  ];
  return sides.flatMap(([addresses, direction, others]) => {
    if (addresses === undefined) return [];
    const wallets = idsOf(addresses, reads.walletIdOf);
    const counterparties = others && new Set(idsOf(others, reads.walletIdOf));
    return {
      size: sum(wallets.map(reads.walletTransfers)),
      *read(range: IdRange, firstSize: number) {
        for (const wallet of wallets)
          yield* ofWallet(reads, wallet, range, direction, counterparties, firstSize);
      },
    };
  });
}

function* ofWallet(
  { walletPages }: IndexReads,
  wallet: number,
  range: IdRange,
  direction: number,
  counterparties: ReadonlySet<number> | undefined,
  firstSize: number,
): Generator<Ids, void, void> {
  yield* portions(walletPages(wallet, range, NO_BUDGET), firstSize, (page) => {
    const found: number[] = [];
    while (page.next() && page.transfer < range.below) {
      if (page.transfer < range.from || (page.flags & direction) === 0) continue;
      if (counterparties === undefined || counterparties.has(page.counterparty)) found.push(page.transfer);
    }
    return found;
  });
}

function tokenWays(reads: IndexReads, args: Arguments): Way[] {
  const tokens = tokenIdsIn(reads, args);
  if (tokens === undefined) return [];
  // An index of an earlier release gets its token histories while it is served: what they lack is read as a range.
  const { lastTransfer } = reads.tokenHistoryEnd();
  const missing = reads.end().lastTransfer - lastTransfer;
  return [
    {
      size: sum(tokens.map(reads.tokenTransfers)) + Math.ceil(missing / RANGE_DISCOUNT),
      *read({ from, below }: IdRange, firstSize: number) {
        const others = { from: Math.max(from, lastTransfer + 1), below };
        if (tokens.length > 0) yield* ofRange(others, false, firstSize);
        const range = { from, below: Math.min(below, lastTransfer + 1) };
        for (const token of tokens) yield* ofToken(reads, token, range, firstSize);
      },
    },
  ];
}

/** The tokens that the transfers must be of, by address or symbol; undefined where the query names none. */
export function tokenIdsIn(reads: IndexReads, args: Arguments): number[] | undefined {
  const addresses = addressesIn(args, 'token_address');
  if (addresses !== undefined) return idsOf(addresses, reads.tokenIdOf);
  return textsIn(args, 'token_symbol')?.flatMap(reads.tokenIdsOfSymbol);
}

function* ofToken(
  { tokenPages }: IndexReads,
  token: number,
  range: IdRange,
  firstSize: number,
): Generator<Ids, void, void> {
  yield* portions(tokenPages(token, range, NO_BUDGET), firstSize, (page) => {
    const found: number[] = [];
    while (page.next() && page.transfer < range.below)
      if (page.transfer >= range.from) found.push(page.transfer);
    return found;
  });
}

/** Portions of the ids of pages, newest page first. A page is read to its end at once: all share one cursor. */
function* portions<Page>(
  pages: Iterable<Page>,
  firstSize: number,
  idsIn: (page: Page) => number[],
): Generator<Ids, void, void> {
  let open: number[][] = [];
  let count = 0;
  let size = firstSize;
  for (const page of pages) {
    const ids = idsIn(page);
    open.push(ids);
    count += ids.length;
    while (count >= size) {
      const joined = open.reverse().flat();
      yield joined.slice(-size);
      open = [joined.slice(0, -size)];
      count -= size;
      size = next(size);
    }
  }
  if (count > 0) yield open.reverse().flat();
}

function idsOf(addresses: readonly string[], idOf: (address: string) => number | undefined): number[] {
  return [...new Set(addresses.flatMap((address) => idOf(address) ?? []))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
