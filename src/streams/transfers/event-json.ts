/** Serialises transfers for `wallet_transfers` and signals, by concatenation, in half the time of JSON.stringify. */
import { secondsToIso } from '../../lib/time.ts';
import { NATIVE_DECIMALS } from '../../lib/units.ts';
import { type LabelLookup, labelMembers } from '../../model/label.ts';
import { isNativeKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import { amountOf, tokenIdOf, typeOf } from '../../query/transfers.ts';
import type { Direction } from './signals.ts';

export interface ChainInfo {
  chainId: number;
  nativeSymbol: string;
  labels?: LabelLookup | undefined;
  /** The mark to name beside a block; absent for a chain that is never rewritten. */
  markOf?: (block: number) => string | null;
}

/** What an event moved. */
export interface EventAsset {
  /** Empty for the native coin, and where there is none. */
  token: string;
  tokenId: string | null;
  symbol: string | null;
  decimals: number | null;
}

/** How much of it; null where there is none. */
export interface EventAmount {
  asset: EventAsset;
  units: bigint | null;
}

/** The members that `wallet_transfers` and signals have alike, without braces. */
export function transferMembers(row: EventRow, asset: EventAsset, { markOf }: ChainInfo): string {
  const { token, tokenId, symbol, decimals } = asset;
  return (
    `"id":${row.id},"blockNumber":${row.blockNumber},"blockHash":"0x${row.blockHash}","txHash":"0x${row.txHash}",` +
    `"eventIndex":${row.eventIndex},"logIndex":${row.logIndex},"transferType":"${typeOf(row)}",` +
    `"from":"0x${row.from}","to":"0x${row.to}",` +
    `"tokenAddress":${token === '' ? null : `"0x${token}"`},"tokenId":${tokenId === null ? null : `"${tokenId}"`},` +
    `"symbol":${JSON.stringify(symbol)},"decimals":${decimals},"timestamp":"${secondsToIso(row.timestamp)}"` +
    `${row.uncertain === 1 ? ',"uncertain":true' : ''}` +
    markJson(markOf?.(row.blockNumber) ?? null)
  );
}

/** What a transfer moved. */
export function assetOf(row: EventRow, { nativeSymbol }: ChainInfo): EventAsset {
  const native = isNativeKind(row.kind);
  return {
    token: row.token,
    tokenId: tokenIdOf(row),
    symbol: native ? nativeSymbol : row.symbol,
    decimals: native ? NATIVE_DECIMALS : row.decimals,
  };
}

/** The payload of `wallet_transfers`. */
export function transferJson(
  row: EventRow,
  direction: Direction,
  removed: boolean,
  chainInfo: ChainInfo,
): string {
  const assetType = isNativeKind(row.kind) ? 'native' : typeOf(row);
  return (
    `{${transferMembers(row, assetOf(row, chainInfo), chainInfo)},"assetType":"${assetType}",` +
    `"amount":"${amountOf(row)}","direction":"${direction}"` +
    `${removed ? ',"removed":true' : ''}${labelsJson(row, chainInfo)}}`
  );
}

function markJson(mark: string | null): string {
  return mark === null ? '' : `,"rewrites":"${mark}"`;
}

function labelsJson({ from, to, token }: EventRow, { labels }: ChainInfo): string {
  if (labels === undefined || labels.isEmpty) return '';
  return membersJson(
    { from: `0x${from}`, to: `0x${to}`, tokenAddress: token === '' ? null : `0x${token}` },
    labels,
  );
}

/** The labels of the addresses in a record, as members that follow others. */
export function membersJson(record: Readonly<Record<string, string | null>>, labels: LabelLookup): string {
  const members = Object.entries(labelMembers(record, Object.keys(record), labels));
  return members.map(([member, label]) => `,"${member}":${JSON.stringify(label)}`).join('');
}
