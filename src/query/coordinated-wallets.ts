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
    const distance = (other: NearbyFunding) => Math.abs(other.block - block);
    // Earlier ones stand first, and stay first at equal distance.
    const nearest = [...before.all(funder, funding, limit), ...after.all(funder, funding, limit)]
      .sort((a, b) => distance(a) - distance(b))
      .slice(0, limit);
    return { funder, funded, nearest: transfers(nearest.map((other) => other.funding)) };
  };
}
