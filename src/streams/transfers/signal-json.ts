/** Serialises the payload of `/ws/signals`, by concatenation too. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { millisecondsToIso } from '../../lib/time.ts';
import { NATIVE_DECIMALS, weiToCoin } from '../../lib/units.ts';
import { ZERO_DIGITS } from '../../model/address.ts';
import { isNativeKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import { amountOf, type TransferRow } from '../../query/transfers.ts';
import { assetOf, type ChainInfo, type EventAmount, membersJson, transferMembers } from './event-json.ts';
import type { Direction, Signal, SignalFacts } from './signals.ts';
import { tradedAsset, tradeJson } from './trade-json.ts';
import type { Payment } from './transaction-part.ts';
import type { PartiesLookup } from './transaction-parties.ts';

/** A transfer, with the fields of its record that describe its transaction. */
export interface SignalSubject extends SignalFacts {
  readonly row: EventRow;
  readonly removed: boolean;
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  /** Sender and receiver of the transaction, or why they are unknown. */
  parties(): PartiesLookup;
}

/** The payload of a signal pushed at `now` (Unix milliseconds). */
export function signalJson(event: SignalSubject, signal: Signal, now: number): string {
  const { row, removed, chainInfo } = event;
  const { asset, units } = subjectOf(event, signal);
  const { token } = asset;
  const digits = units === null ? null : units.toString();
  const amount = digits === null ? null : `"${digits}"`;
  const { place } = event.side(signal.direction);
  const { parties, reason } = event.parties();
  const wallet = signal.direction === 'in' ? row.to : row.from;
  const ageMs = Math.max(0, now - row.timestamp * 1000);
  return (
    `{${transferMembers(row, asset, chainInfo)},` +
    `"event":"${signal.event}","direction":"${signal.direction}","wallet":"0x${wallet}",` +
    `"amount":${token === '' ? null : amount},"valueWei":${token === '' ? amount : null},` +
    `"value_mon":${token === '' && digits !== null ? `"${weiToCoin(digits)}"` : null},"chainId":${chainInfo.chainId},` +
    `"txFrom":${addressJson(parties?.from ?? '')},"txTo":${addressJson(parties?.to ?? '')},` +
    `"txFromReason":${reason === null ? null : JSON.stringify(reason)},` +
    `"initiated":${parties === null ? null : parties.from === wallet},` +
    `"leg":${place === null ? null : place.leg},"legs":${place === null ? null : place.legs},` +
    `${ownMembers(event, signal)}"received_at":"${millisecondsToIso(now)}","received_at_ms":${now},` +
    `"funding_age_ms":${ageMs},"funding_age":"${formatDuration(ageMs)}"` +
    `${removed ? ',"removed":true' : ''}${labelsJson(event, signal, wallet, token)}}`
  );
}

/** What an event is about, and how much of it: what a transfer moved, or a trade bought or sold. */
function subjectOf(event: SignalSubject, { event: name, direction }: Signal): EventAmount {
  const trade = name === 'wallet_trade' ? event.trade(direction) : null;
  if (trade !== null) return tradedAsset(trade, event);
  return { asset: assetOf(event.row, event.chainInfo), units: amountOf(event.row) };
}

/** The record of a signal, as its payload. */
export function signalRecord(event: SignalSubject, signal: Signal, now: number): Record<string, unknown> {
  return JSON.parse(signalJson(event, signal, now));
}

function addressJson(digits: string): string {
  return digits === '' ? 'null' : `"0x${digits}"`;
}

/** The members that only one kind of event has. */
function ownMembers(event: SignalSubject, signal: Signal): string {
  const { row } = event;
  switch (signal.event) {
    case 'wallet_token_buy':
      return `${exchangeMembers(event, 'in')}"isMint":${row.from === ZERO_DIGITS},`;
    case 'wallet_token_sell':
      return `${exchangeMembers(event, 'out')}"isBurn":${row.to === ZERO_DIGITS},`;
    case 'wallet_trade': {
      const trade = event.trade(signal.direction);
      return trade === null ? '' : tradeJson(trade, event);
    }
    case 'wallet_created':
      return `"funder":${isFunding(row, signal) ? `"0x${row.from}"` : null},`;
    case 'token_created':
      return `"creator":${addressJson(event.parties().parties?.from ?? '')},`;
    default:
      return '';
  }
}

/** Whether the first transfer of a wallet funds it: a native transfer from another wallet. */
function isFunding({ kind, from }: TransferRow, { direction }: Signal): boolean {
  return isNativeKind(kind) && direction === 'in' && from !== ZERO_DIGITS;
}

/** What the wallet gave and got in the transaction. */
function exchangeMembers(event: SignalSubject, direction: Direction): string {
  const { exchange, reason } = event.side(direction);
  if (exchange === null) return noExchange(reason);
  const unclear = [...exchange.paid, ...exchange.received].find(({ token }) => !hasSums(event, token));
  if (unclear !== undefined) return noExchange(`the logs of 0x${unclear.token} mix up amounts and ids`);
  const list = (payments: readonly Payment[]) =>
    payments.map((payment) => paymentJson(event, payment)).join();
  return (
    `"paid":[${list(exchange.paid)}],"received":[${list(exchange.received)}],` +
    `"paidCount":${exchange.paidCount},"receivedCount":${exchange.receivedCount},"paidReason":null,`
  );
}

function noExchange(reason: string | null): string {
  return `"paid":null,"received":null,"paidCount":null,"receivedCount":null,"paidReason":${JSON.stringify(reason)},`;
}

/** Whether the logs of an asset have the form of its type, so that their sum is an amount. */
function hasSums({ row, tokenFacts }: SignalSubject, token: string): boolean {
  return token === '' || (token === row.token ? row : tokenFacts(token)).viewKind === null;
}

function paymentJson(event: SignalSubject, { token, tokenNumber, amount }: Payment): string {
  const { chainInfo, row } = event;
  const { symbol, decimals } =
    token === ''
      ? { symbol: chainInfo.nativeSymbol, decimals: NATIVE_DECIMALS }
      : token === row.token
        ? row
        : event.tokenFacts(token);
  const { labels } = chainInfo;
  const label =
    token === '' || labels === undefined || labels.isEmpty
      ? ''
      : membersJson({ tokenAddress: `0x${token}` }, labels);
  return (
    `{"tokenAddress":${addressJson(token)},` +
    `"tokenId":${tokenNumber === null ? null : `"${digitsToBigInt(tokenNumber)}"`},` +
    `"amount":"${amount}","symbol":${JSON.stringify(symbol)},"decimals":${decimals}${label}}`
  );
}

function labelsJson(event: SignalSubject, signal: Signal, wallet: string, token: string): string {
  const { row, chainInfo } = event;
  const { labels } = chainInfo;
  if (labels === undefined || labels.isEmpty) return '';
  const { parties } = event.parties();
  const address = (digits: string) => (digits === '' ? null : `0x${digits}`);
  const funder = signal.event === 'wallet_created' && isFunding(row, signal) ? row.from : '';
  const creator = signal.event === 'token_created' ? (parties?.from ?? '') : '';
  return membersJson(
    {
      wallet: address(wallet),
      from: address(row.from),
      to: address(row.to),
      tokenAddress: address(token),
      txFrom: address(parties?.from ?? ''),
      txTo: address(parties?.to ?? ''),
      funder: address(funder),
      creator: address(creator),
    },
    labels,
  );
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
