/** Filters and events for tests of the transfer streams. */
import { digitsToBigInt } from '../../src/lib/hex.ts';
import { ZERO_DIGITS } from '../../src/model/address.ts';
import type { TradeRules } from '../../src/model/trade-rules.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import type { PartTransfer } from '../../src/model/wallet-part.ts';
import type { EventRow } from '../../src/query/events.ts';
import { UNREAD_TOKEN } from '../../src/query/tokens.ts';
import type { Direction } from '../../src/streams/transfers/signals.ts';
import { equivalentsOf } from '../../src/streams/transfers/trade-facts.ts';
import { PartCollector, type SideFacts } from '../../src/streams/transfers/transaction-part.ts';
import { type EventSource, TransferEvent } from '../../src/streams/transfers/transfer-event.ts';
import {
  type DeliveryOptions,
  readSignalFilter,
  type SignalFilter,
  type WalletFilter,
} from '../../src/streams/transfers/transfer-filter.ts';
import { tradeIdsOf } from '../../src/trades/trade-ids.ts';

export const CHAIN = { chainId: 143, nativeSymbol: 'MON' };

/** Everything about one wallet, by its 40 digits. */
export function walletFilter(wallet: string, fromBlock: number | null = null): WalletFilter {
  return {
    wallets: new Set([wallet]),
    direction: 'both',
    includeNative: true,
    includeTokens: true,
    fromBlock,
    lastSeen: null,
    progress: false,
  };
}

/** Everything, with the given overrides. */
export function signalFilter(
  given: Partial<SignalFilter & DeliveryOptions> = {},
): SignalFilter & DeliveryOptions {
  return { ...readSignalFilter({}), ...given };
}

/** An event of a transaction that consists of `transfers`; default: only this transfer. `gap`: a trace gap. */
export function eventOf(
  row: EventRow,
  removed = false,
  {
    transfers = [row],
    gap = false,
    rules = NO_RULES,
    ...source
  }: TransactionOptions & Partial<EventSource> = {},
): TransferEvent {
  const complete: EventSource = {
    chainInfo: CHAIN,
    tokenFacts: () => UNREAD_TOKEN,
    isLarge: () => false,
    sideOf: (of, direction, withTrade) => sideOf({ transfers, gap, rules }, of, direction, withTrade),
    isFirst: () => false,
    isFirstOfToken: () => false,
    partiesOf: () => UNKNOWN_PARTIES,
    ...source,
  };
  return TransferEvent.from(complete, row, removed);
}

interface TransactionOptions {
  transfers?: readonly EventRow[];
  gap?: boolean;
  rules?: TradeRules;
}

/** Without contracts that trades are told by. */
export const NO_RULES: TradeRules = { version: 1, feeSinks: [], nativeEquivalents: [], quoteTokens: [] };

export const UNKNOWN_PARTIES = { parties: null, reason: 'nobody knows' };

function sideOf(
  { transfers, gap, rules }: Required<TransactionOptions>,
  row: EventRow,
  direction: Direction,
  withTrade: boolean,
): SideFacts {
  const addresses = [''];
  const id = (address: string): number => {
    if (!addresses.includes(address)) addresses.push(address);
    return addresses.indexOf(address);
  };
  const partTransfer = ({ from, to, kind, token, tokenNumber, amount }: EventRow): PartTransfer => ({
    from: id(from),
    to: id(to),
    kind,
    token: id(token),
    tokenNumber,
    amount: kind === TransferKind.erc721 ? 1n : digitsToBigInt(amount),
  });
  const wallet = direction === 'in' ? row.to : row.from;
  const idOf = (contract: string) => id(contract.slice(2));
  const lookup = { zero: id(ZERO_DIGITS), walletOf: idOf, tokenOf: idOf, countsUnits: () => false };
  const trades = { ids: tradeIdsOf(rules, lookup), equivalents: equivalentsOf(rules) };
  const collector = new PartCollector(id(wallet), withTrade ? trades : null);
  for (const [i, transfer] of transfers.entries())
    if (transfer.from === wallet || transfer.to === wallet) collector.add(i, partTransfer(transfer));
  const part = collector.finish(
    (token) => addresses[token]!,
    () => (gap ? row.blockNumber : null),
  );
  return part.factsOf(row.eventIndex, partTransfer(row));
}
