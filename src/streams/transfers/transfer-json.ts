/** Serialises transfers as payloads of `wallet_transfers` and of signals. */
import { secondsToIso } from '../../lib/time.ts';
import { NATIVE_DECIMALS, weiToCoin } from '../../lib/units.ts';
import { isNativeKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import { amountOf, kindName, tokenIdOf } from '../../query/transfers.ts';

export type Direction = 'in' | 'out';

/** The four events of signals. */
export const SIGNAL_EVENTS = [
  'wallet_funded',
  'wallet_native_out',
  'wallet_token_buy',
  'wallet_token_sell',
] as const;
export type SignalEvent = (typeof SIGNAL_EVENTS)[number];

export interface ChainInfo {
  chainId: number;
  nativeSymbol: string;
}

/** The event of a transfer for the wallet on one side of it. */
export function signalEvent(row: EventRow, direction: Direction): SignalEvent {
  if (isNativeKind(row.kind)) return direction === 'in' ? 'wallet_funded' : 'wallet_native_out';
  return direction === 'in' ? 'wallet_token_buy' : 'wallet_token_sell';
}

/** The payload of `wallet_transfers`. Concatenated by hand, which takes half the time of JSON.stringify. */
export function transferJson(
  row: EventRow,
  direction: Direction,
  removed: boolean,
  chainInfo: ChainInfo,
): string {
  const native = isNativeKind(row.kind);
  const kind = kindName(row.kind);
  const tokenId = tokenIdOf(row);
  return (
    `{"id":${row.id},"blockNumber":${row.blockNumber},"blockHash":"0x${row.blockHash}","txHash":"0x${row.txHash}",` +
    `"eventIndex":${row.eventIndex},"logIndex":${row.logIndex},` +
    `"assetType":"${native ? 'native' : kind}","transferType":"${kind}",` +
    `"tokenAddress":${native ? null : `"0x${row.token}"`},"tokenId":${tokenId === null ? null : `"${tokenId}"`},` +
    `"symbol":${JSON.stringify(native ? chainInfo.nativeSymbol : row.symbol)},` +
    `"decimals":${native ? NATIVE_DECIMALS : row.decimals},` +
    `"from":"0x${row.from}","to":"0x${row.to}","amount":"${amountOf(row)}","direction":"${direction}",` +
    `"timestamp":"${secondsToIso(row.timestamp)}"${removed ? ',"removed":true' : ''}}`
  );
}

/** The payload of a signal pushed at `now` (Unix milliseconds). */
export function signalJson(
  row: EventRow,
  direction: Direction,
  removed: boolean,
  chainInfo: ChainInfo,
  now: number,
): string {
  const native = isNativeKind(row.kind);
  const ageMs = Math.max(0, now - row.timestamp * 1000);
  const units = amountOf(row);
  return JSON.stringify({
    id: row.id,
    event: signalEvent(row, direction),
    direction,
    wallet: `0x${direction === 'in' ? row.to : row.from}`,
    from: `0x${row.from}`,
    to: `0x${row.to}`,
    tokenAddress: native ? null : `0x${row.token}`,
    tokenId: tokenIdOf(row),
    symbol: native ? chainInfo.nativeSymbol : row.symbol,
    decimals: native ? NATIVE_DECIMALS : row.decimals,
    amount: native ? null : units.toString(),
    valueWei: native ? units.toString() : null,
    value_mon: native ? weiToCoin(units) : null,
    txHash: `0x${row.txHash}`,
    blockNumber: row.blockNumber,
    blockHash: `0x${row.blockHash}`,
    logIndex: row.logIndex,
    eventIndex: row.eventIndex,
    timestamp: secondsToIso(row.timestamp),
    transferType: kindName(row.kind),
    chainId: chainInfo.chainId,
    received_at: new Date(now).toISOString(),
    received_at_ms: now,
    funding_age_ms: ageMs,
    funding_age: formatDuration(ageMs),
    ...(removed && { removed }),
  });
}

/** A human-readable duration in its two largest units, such as `1s`, `2m 5s`, `3h 0m` or `4d 2h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m ${seconds % 60}s`;
  if (hours < 24) return `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}
