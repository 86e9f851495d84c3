/** The wallets whose first funding came from one funder. */
import { blockNumberSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { prepareTransfersById, type TransferRow } from './transfers.ts';

interface CoordinatedWallets {
  /** wallets.id of the funder. */
  funder: number;
  /** All wallets it funded first. */
  funded: number;
  /** First fundings of other wallets (the receivers), those nearest in block to the wallet's own first. */
  nearest: TransferRow[];
}

interface OwnFunding {
  /** wallets.id. */
  funder: number;
  /** transfers.id of the wallet's first funding, and its block. */
  funding: number;
  block: number;
  funded: number;
}

interface NearbyFunding {
  funding: number;
  block: number;
}

/** The wallets with the same first funder as a wallet, `limit` at most; undefined when nobody funded it. */
export function prepareCoordinatedWallets(
  db: Db,
): (wallet: number, limit: number) => CoordinatedWallets | undefined {
  const ownOf = db.prepare<[number], OwnFunding>(/* sql */ `
    SELECT w.funder, w.funding, ${blockNumberSql('w.funding')} AS block, f.funded
    FROM wallets w CROSS JOIN wallets f ON f.id = w.funder WHERE w.id = +?`);
  const neighbours = (side: '<' | '>', order: 'ASC' | 'DESC') =>
    db.prepare<[number, number, number], NearbyFunding>(/* sql */ `
      SELECT funding, ${blockNumberSql('funding')} AS block FROM fundings
      WHERE funder = +? AND funding ${side} +? ORDER BY funding ${order} LIMIT +?`);
  const before = neighbours('<', 'DESC');
  const after = neighbours('>', 'ASC');
  const transfers = prepareTransfersById(db);
  return (wallet, limit) => {
    const own = ownOf.get(wallet);
    if (own === undefined) return undefined;
    const { funder, funding, block, funded } = own;
    const nearest = mergeNearest(
      block,
      before.all(funder, funding, limit),
      after.all(funder, funding, limit),
      limit,
    );
    return { funder, funded, nearest: transfers(nearest) };
  };
}

/** Merges two lists, each nearest first, by distance from a block; at equal distance the earlier funding first. */
function mergeNearest(
  block: number,
  before: readonly NearbyFunding[],
  after: readonly NearbyFunding[],
  limit: number,
): number[] {
  const merged: number[] = [];
  for (let b = 0, a = 0; merged.length < limit; ) {
    const earlier = before[b];
    const later = after[a];
    if (earlier === undefined && later === undefined) break;
    const toEarlier = earlier === undefined ? Number.POSITIVE_INFINITY : block - earlier.block;
    const toLater = later === undefined ? Number.POSITIVE_INFINITY : later.block - block;
    if (earlier !== undefined && toEarlier <= toLater) {
      merged.push(earlier.funding);
      b++;
    } else if (later !== undefined) {
      merged.push(later.funding);
      a++;
    }
  }
  return merged;
}
