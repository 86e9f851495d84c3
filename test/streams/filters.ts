/** Filters and events for tests of the transfer streams. */
import type { EventRow } from '../../src/query/events.ts';
import { UNREAD_TOKEN } from '../../src/query/tokens.ts';
import type { TransactionTransfer } from '../../src/query/transfers.ts';
import type { SignalFilter } from '../../src/streams/transfers/signals.ts';
import { TransactionLegs } from '../../src/streams/transfers/transaction-legs.ts';
import { type EventSource, TransferEvent } from '../../src/streams/transfers/transfer-event.ts';
import type { ReplayStart, WalletFilter } from '../../src/streams/transfers/transfer-filter.ts';

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
  };
}

/** Everything, with the given overrides. */
export function signalFilter(given: Partial<SignalFilter & ReplayStart> = {}): SignalFilter & ReplayStart {
  return {
    wallets: new Set(),
    tokens: new Set(),
    events: new Set(),
    minWei: null,
    minAmounts: new Map(),
    excludeMints: false,
    purchasesOnly: false,
    fromBlock: null,
    lastSeen: null,
    ...given,
  };
}

/** An event of a transaction that consists of `transfers`; default: only this transfer. */
export function eventOf(
  row: EventRow,
  removed = false,
  { transfers = [row], ...source }: { transfers?: TransactionTransfer[] } & Partial<EventSource> = {},
): TransferEvent {
  const complete: EventSource = {
    chainInfo: CHAIN,
    tokenFacts: () => UNREAD_TOKEN,
    legsOf: () => new TransactionLegs(transfers),
    isFirst: () => false,
    partiesOf: () => null,
    ...source,
  };
  return TransferEvent.from(complete, row, removed);
}
