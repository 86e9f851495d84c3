/** The wallets that one funder funded first. */
import { type AddressKeys, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import type { Db } from '../store/open.ts';
import { blockNumberOf } from './blocks.ts';
import { type TransferRow, transfersById } from './transfers.ts';
import { byAddress } from './wallets.ts';

export interface Cohort {
  /** Address of the funder, hex digits without prefix. */
  funder: string;
  /** All wallets it funded first. */
  funded: number;
  /** First fundings of other wallets, nearest in block to the wallet's own first; the wallet is the receiver. */
  nearest: TransferRow[];
}

interface Own {
  /** wallets.id. */
  funder: number;
  /** transfers.id of the wallet's first funding, and its block. */
  funding: number;
  block: number;
  funderAddress: string;
  funded: number;
}

interface Neighbour {
  funding: number;
  block: number;
}

/** The cohort of an address, or undefined when nobody funded it; `limit` of it are listed. */
export function cohort(db: Db): (address: string, limit: number) => Cohort | undefined {
  const own = db.prepare<AddressKeys, Own>(/* sql */ `
    SELECT w.funder, w.funding, ${blockNumberOf('w.funding')} AS block,
      lower(hex(f.address)) AS funderAddress, f.funded
    FROM ${WALLET_BY_ADDRESS} CROSS JOIN wallets f ON f.id = w.funder`);
  const neighbours = (side: '<' | '>', order: 'ASC' | 'DESC') =>
    db.prepare<[number, number, number], Neighbour>(/* sql */ `
      SELECT funding, ${blockNumberOf('funding')} AS block FROM fundings
      WHERE funder = +? AND funding ${side} +? ORDER BY funding ${order} LIMIT +?`);
  const before = neighbours('<', 'DESC');
  const after = neighbours('>', 'ASC');
  const transfers = transfersById(db);
  return (address, limit) => {
    const wallet = byAddress(own, address);
    if (wallet === undefined) return undefined;
    const { funder, funding, block, funderAddress, funded } = wallet;
    const nearest = mergeNearest(
      block,
      before.all(funder, funding, limit),
      after.all(funder, funding, limit),
      limit,
    );
    return { funder: funderAddress, funded, nearest: transfers(nearest) };
  };
}

/** The fundings of two lists, each from the nearest on, by distance from a block; of equal ones the earlier first. */
function mergeNearest(
  block: number,
  before: readonly Neighbour[],
  after: readonly Neighbour[],
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
