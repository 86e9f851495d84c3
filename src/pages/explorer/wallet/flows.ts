/** The balance over time that results from transfers. Pure functions on exact integers. */
import type { Transfer } from '../../client/answers.ts';
import { NATIVE_DECIMALS } from '../../ui/format.ts';

export interface Asset {
  /** `native`, or the address of a token. */
  id: string;
  symbol: string | null;
  decimals: number;
  /** Number of loaded transfers of this asset. */
  count: number;
}

export interface FlowPoint {
  at: number;
  block: number;
  balance: bigint;
  change: bigint;
}

/** The assets of transfers whose amounts can be summed: the native coin first, then by number of transfers. */
export function assetsOf(transfers: readonly Transfer[], coin: string): Asset[] {
  const native: Asset = { id: 'native', symbol: coin, decimals: NATIVE_DECIMALS, count: 0 };
  const assets = new Map([[native.id, native]]);
  for (const transfer of transfers) {
    if (transfer.tokenId !== null) continue;
    const id = assetOf(transfer);
    const known = assets.get(id) ?? {
      id,
      symbol: transfer.symbol,
      decimals: transfer.decimals ?? 0,
      count: 0,
    };
    known.count++;
    assets.set(id, known);
  }
  assets.delete(native.id);
  return [native, ...[...assets.values()].sort((a, b) => b.count - a.count)];
}

/**
 * The balance after each transaction, oldest first. Counts back from the `present` balance, so it is exact even if few
 * of the older transfers are loaded. `transfers` are newest first.
 */
export function flowPoints(
  transfers: readonly Transfer[],
  asset: string,
  wallet: string,
  present: bigint,
): FlowPoint[] {
  const points: FlowPoint[] = [];
  let balance = present;
  let last = '';
  for (const transfer of transfers) {
    if (assetOf(transfer) !== asset) continue;
    const change = changeOf(transfer, wallet);
    const newest = points.at(-1);
    if (newest !== undefined && last === transfer.txHash) newest.change += change;
    else points.push({ at: Date.parse(transfer.timestamp), block: transfer.blockNumber, balance, change });
    balance -= change;
    last = transfer.txHash;
  }
  return points.reverse();
}

/** The sum of all transfers of an asset. */
export function sumOf(transfers: readonly Transfer[], asset: string, wallet: string): bigint {
  return transfers.reduce(
    (sum, transfer) => (assetOf(transfer) === asset ? sum + changeOf(transfer, wallet) : sum),
    0n,
  );
}

function assetOf({ tokenAddress }: Transfer): string {
  return tokenAddress ?? 'native';
}

function changeOf({ from, to, amount }: Transfer, wallet: string): bigint {
  if (from === to) return 0n;
  return to === wallet ? BigInt(amount) : -BigInt(amount);
}
