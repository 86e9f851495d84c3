/** Native funding of a wallet. store/append.ts decides which transfers count. */
import { isGapSql } from '../store/block-gaps.ts';
import { blockNumberSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { EVENT_INDEX, prepareTransfersById, type TransferRow, TX_HASH } from './transfers.ts';
import { WalletQuery } from './wallets.ts';

/** A native transfer as shown in answers about its receiver. */
export type FundingTransfer = Pick<
  TransferRow,
  'kind' | 'amount' | 'txHash' | 'eventIndex' | 'blockNumber' | 'blockHash' | 'timestamp' | 'uncertain'
>;

/** A funding transfer with the wallets.id of its sender. */
type SentFunding = FundingTransfer & { sender: number };

/**
 * A wallet's first funding: its earliest direct native transfer from another wallet, else the earliest internal one.
 */
export function prepareFirstFunding(db: Db): WalletQuery<SentFunding> {
  return prepareTransferQuery(db, 'w.funding');
}

/** The newest direct native transfer received from another wallet, else the newest internal one. */
export function prepareLatestNativeIn(db: Db): WalletQuery<SentFunding> {
  return prepareTransferQuery(db, 'coalesce(w.latest_direct, w.latest_internal)');
}

/**
 * The native transfer to a wallet whose id is the SQL expression `id` over the columns of `wallets w`. Reads only what
 * is shown: the receiver is known, and a native transfer has no token.
 */
function prepareTransferQuery(db: Db, id: string): WalletQuery<SentFunding> {
  const columns = /* sql */ `
    t.kind, hex(t.amount) AS amount, ${TX_HASH} AS txHash, ${EVENT_INDEX} AS eventIndex, b.number AS blockNumber,
      lower(hex(b.hash)) AS blockHash, b.timestamp, ${isGapSql('b.number')} AS uncertain, t.sender`;
  const joins = /* sql */ `
    CROSS JOIN transfers t ON t.id = ${id} CROSS JOIN blocks b ON b.number = ${blockNumberSql('t.id')}`;
  return new WalletQuery(db, columns, joins);
}

interface FundingRow {
  funder: number | null;
  /** transfers.id of the first funding; null together with `funder`. */
  funding: number | null;
}

/**
 * The chain of first fundings back from a wallet: its own, its funder's, and so on, at most `depth`. Ends at a wallet
 * without funding, at the zero address, and before a funder already in the chain.
 */
export function prepareFundingChain(db: Db): (wallet: number, depth: number) => TransferRow[] {
  const statement = db.prepare<[number], FundingRow>('SELECT funder, funding FROM wallets WHERE id = +?');
  const transfers = prepareTransfersById(db);
  return (wallet, depth) => {
    const fundings: number[] = [];
    const seen = new Set<number>();
    let at = wallet;
    while (at !== ZERO_WALLET && fundings.length < depth) {
      seen.add(at);
      const { funder = null, funding = null } = statement.get(at) ?? {};
      if (funder === null || funding === null || seen.has(funder)) break;
      fundings.push(funding);
      at = funder;
    }
    return transfers(fundings);
  };
}

/** A funder of more wallets than this is probably an exchange or a faucet, not their common owner. */
export const HUB_ABOVE = 1_000;

interface CoordinatedWallets {
  /** wallets.id of the funder. */
  funder: number;
  /** Number of wallets first funded by this funder. */
  funded: number;
  /** First fundings of other wallets (the receivers), those nearest in block to the wallet's own first. */
  nearest: TransferRow[];
  /** Start of the next page, null at the end. */
  next: CoordinatedPosition | null;
}

/** How far earlier pages went from the wallet's own funding: the transfers.id of the last one on either side. */
type CoordinatedPosition = readonly [before: number, after: number];

interface OwnFunding {
  /** wallets.id. */
  funder: number;
  /** transfers.id of the wallet's first funding, and its block. */
  funding: number;
  block: number;
  funded: number;
}

/** The wallets with the same first funder, at most `limit`; undefined when the wallet has no funder. */
export function prepareCoordinatedWallets(
  db: Db,
): (wallet: number, limit: number, from?: CoordinatedPosition) => CoordinatedWallets | undefined {
  const ownOf = db.prepare<[number], OwnFunding>(/* sql */ `
    SELECT w.funder, w.funding, ${blockNumberSql('w.funding')} AS block, f.funded
    FROM wallets w CROSS JOIN wallets f ON f.id = w.funder WHERE w.id = +?`);
  const neighbours = (side: '<' | '>', order: 'ASC' | 'DESC') =>
    db
      .prepare<[number, number, number], number>(/* sql */ `
        SELECT funding FROM fundings
        WHERE funder = +? AND funding ${side} +? ORDER BY funding ${order} LIMIT +?`)
      .pluck();
  const before = neighbours('<', 'DESC');
  const after = neighbours('>', 'ASC');
  const blockOf = db.prepare<[number], number>(`SELECT ${blockNumberSql('+?')}`).pluck();
  const transfers = prepareTransfersById(db);
  return (wallet, limit, from) => {
    const own = ownOf.get(wallet);
    if (own === undefined) return undefined;
    const { funder, funding, block, funded } = own;
    const distance = (id: number | undefined) =>
      id === undefined ? Number.POSITIVE_INFINITY : Math.abs((blockOf.get(id) ?? 0) - block);
    const [first, last] = from ?? [funding, funding];
    const earlier = before.all(funder, first, limit + 1);
    const later = after.all(funder, last, limit + 1);
    const ids = mergeByDistance(earlier, later, limit, distance);
    const isMore = earlier.length + later.length > limit;
    const next = isMore ? ([Math.min(first, ...ids), Math.max(last, ...ids)] as const) : null;
    return { funder, funded, nearest: transfers(ids), next };
  };
}

/**
 * The first `limit` of two lists, each in ascending order of distance; at equal distance those of `a` first. A distance
 * costs a read, so it is computed only for ids that come first in their list.
 */
function mergeByDistance(
  a: readonly number[],
  b: readonly number[],
  limit: number,
  distance: (id: number | undefined) => number,
): number[] {
  const merged: number[] = [];
  let [atA, atB] = [0, 0];
  let [distanceA, distanceB] = [distance(a[0]), distance(b[0])];
  while (merged.length < limit && (atA < a.length || atB < b.length)) {
    if (distanceA <= distanceB) {
      merged.push(a[atA++]!);
      distanceA = distance(a[atA]);
    } else {
      merged.push(b[atB++]!);
      distanceB = distance(b[atB]);
    }
  }
  return merged;
}
