/** Records of the REST API, made of plain transfers. */
import { plainShare } from '../plain-share.ts';
import type { Counted } from './transfer-model.ts';

export const MON = 10n ** 18n;

export type Json = Record<string, unknown>;

/** Exact coins without trailing zeros. */
export function coin(wei: bigint): string {
  const fraction = (wei % MON).toString().padStart(18, '0').replace(/0+$/, '');
  return fraction === '' ? `${wei / MON}` : `${wei / MON}.${fraction}`;
}

export function fundingOf(t: Counted) {
  return {
    amount: coin(t.amount),
    amountWei: `${t.amount}`,
    txHash: t.hash,
    eventIndex: t.eventIndex,
    blockNumber: t.block,
    blockHash: t.blockHash,
    timestamp: t.time,
    source: t.kind === 'native_direct' ? 'direct' : 'internal',
  };
}

export function plainTransferOf(t: Counted): Json {
  return { ...transferOf(t), from: t.from };
}

export function transferOf(t: Counted): Json {
  const native = t.token === null;
  return {
    id: t.id,
    blockNumber: t.block,
    blockHash: t.blockHash,
    txHash: t.hash,
    transferType: t.kind,
    to: t.to,
    tokenAddress: t.token,
    tokenId: t.tokenId === null ? null : `${t.tokenId}`,
    symbol: native ? 'MON' : null,
    decimals: native ? 18 : null,
    amount: `${t.amount}`,
    timestamp: t.time,
    logIndex: t.logIndex,
    eventIndex: t.eventIndex,
  };
}

export function concentration(holders: readonly bigint[], supply: bigint | null): Json | null {
  const sum = (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n);
  if (supply === null || sum(holders) > supply) return null;
  const largest = holders.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0));
  const top = (count: number) => plainShare(sum(largest.slice(0, count)), supply);
  const half = largest.findIndex((_, i) => 2n * sum(largest.slice(0, i + 1)) >= supply);
  return {
    top1: top(1),
    top10: top(10),
    top50: top(50),
    top100: top(100),
    holdersForHalf: half < 0 ? null : half + 1,
  };
}
