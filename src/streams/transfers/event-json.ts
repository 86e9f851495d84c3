/** Serialises the payloads of `wallet_transfers` and `/ws/signals`. */
import { secondsToIso } from '../../lib/time.ts';
import { NATIVE_DECIMALS, weiToCoin } from '../../lib/units.ts';
import { ZERO_DIGITS } from '../../model/address.ts';
import { type LabelLookup, labelMembers } from '../../model/label.ts';
import { isNativeKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import { amountOf, kindName, type TransferRow, tokenIdOf } from '../../query/transfers.ts';
import type { Direction, Signal, SignalFacts } from './signals.ts';
import type { Payment } from './transaction-legs.ts';
import type { Parties } from './transaction-parties.ts';

/** A transfer, with the fields of its record that describe its transaction. */
export interface SignalSubject extends SignalFacts {
  readonly row: EventRow;
  readonly removed: boolean;
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  /** The position among the wallet's events on that side, from 1, and their number; null if not examined. */
  place(direction: Direction): { leg: number; legs: number } | null;
  /** Sender and receiver of the transaction, null if unknown. */
  parties(): Parties | null;
}

/** The payload of a signal pushed at `now` (Unix milliseconds). */
export function signalJson(event: SignalSubject, signal: Signal, now: number): string {
  return JSON.stringify(signalRecord(event, signal, now));
}

const ADDRESS_MEMBERS = ['wallet', 'from', 'to', 'tokenAddress', 'txFrom', 'txTo', 'funder'];

export function signalRecord(event: SignalSubject, signal: Signal, now: number): object {
  const record = plainRecord(event, signal, now);
  return Object.assign(record, labelMembers(record, ADDRESS_MEMBERS, event.chainInfo.labels));
}

function plainRecord(event: SignalSubject, signal: Signal, now: number): Record<string, unknown> {
  const { row, removed, chainInfo } = event;
  const native = isNativeKind(row.kind);
  const ageMs = Math.max(0, now - row.timestamp * 1000);
  const units = amountOf(row);
  const place = event.place(signal.direction);
  const parties = event.parties();
  return {
    id: row.id,
    event: signal.event,
    direction: signal.direction,
    wallet: `0x${signal.direction === 'in' ? row.to : row.from}`,
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
    txFrom: parties === null ? null : `0x${parties.from}`,
    txTo: parties === null ? null : `0x${parties.to}`,
    leg: place?.leg ?? null,
    legs: place?.legs ?? null,
    ...ownMembers(event, signal),
    received_at: new Date(now).toISOString(),
    received_at_ms: now,
    funding_age_ms: ageMs,
    funding_age: formatDuration(ageMs),
    ...(removed && { removed }),
  };
}

/** The fields that only one kind of event has. */
function ownMembers(event: SignalSubject, signal: Signal): object {
  const { row } = event;
  switch (signal.event) {
    case 'wallet_token_buy':
      return { paid: paymentRecords(event, 'in'), isMint: row.from === ZERO_DIGITS };
    case 'wallet_token_sell':
      return { received: paymentRecords(event, 'out'), isBurn: row.to === ZERO_DIGITS };
    case 'wallet_created':
      return { funder: isFunding(row, signal) ? `0x${row.from}` : null };
    default:
      return {};
  }
}

/** Whether the first transfer of a wallet funds it: a native transfer from another wallet. */
function isFunding({ kind, from }: TransferRow, { direction }: Signal): boolean {
  return isNativeKind(kind) && direction === 'in' && from !== ZERO_DIGITS;
}

function paymentRecords(event: SignalSubject, direction: Signal['direction']): object[] | null {
  return event.exchanged(direction)?.map((payment) => paymentRecord(event, payment)) ?? null;
}

function paymentRecord({ chainInfo, tokenFacts }: SignalSubject, { token, amount }: Payment): object {
  const { symbol, decimals } =
    token === '' ? { symbol: chainInfo.nativeSymbol, decimals: NATIVE_DECIMALS } : tokenFacts(token);
  const record = {
    tokenAddress: token === '' ? null : `0x${token}`,
    amount: amount.toString(),
    symbol,
    decimals,
  };
  return Object.assign(record, labelMembers(record, ['tokenAddress'], chainInfo.labels));
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

export interface ChainInfo {
  chainId: number;
  nativeSymbol: string;
  labels?: LabelLookup | undefined;
}

/** The payload of `wallet_transfers`. Built by concatenation, in half the time of JSON.stringify. */
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
    `"timestamp":"${secondsToIso(row.timestamp)}"${removed ? ',"removed":true' : ''}${labelsJson(row, chainInfo)}}`
  );
}

function labelsJson({ from, to, token }: EventRow, { labels }: ChainInfo): string {
  if (labels === undefined || labels.isEmpty) return '';
  const record = { from: `0x${from}`, to: `0x${to}`, tokenAddress: token === '' ? null : `0x${token}` };
  const members = Object.entries(labelMembers(record, Object.keys(record), labels));
  return members.map(([member, label]) => `,"${member}":${JSON.stringify(label)}`).join('');
}
