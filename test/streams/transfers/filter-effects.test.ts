/**
 * Each member of the signal filter excludes something: one that nothing reads would select more than its client meant.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTransfer } from '../../../src/api/fields.ts';
import { ZERO_DIGITS } from '../../../src/model/address.ts';
import type { SIGNAL_FILTER } from '../../../src/model/stream-filters.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import type { EventRow } from '../../../src/query/events.ts';
import type { SignalFilter as GivenFilter } from '../../../src/schemas/stream-filters.ts';
import { parseSignalFilter } from '../../../src/streams/transfers/parse-filter.ts';
import { passesInitiated, signalsOf } from '../../../src/streams/transfers/signals.ts';
import { eventOf } from '../filters.ts';

const WALLET = 'aa'.repeat(20);
const OTHER = 'bb'.repeat(20);
const CONTRACT = 'cc'.repeat(20);

/** Ten wei. */
const NATIVE: EventRow = {
  ...sampleTransfer,
  amount: '0a',
  from: OTHER,
  to: WALLET,
};
const TOKEN: EventRow = { ...NATIVE, kind: TransferKind.erc20, logIndex: 3, token: CONTRACT };

/** The wallet gives ten wei for ten units. Its last transfer reports the trade. */
const PAID: EventRow = { ...NATIVE, from: WALLET, to: OTHER };
const BOUGHT: EventRow = { ...TOKEN, id: NATIVE.id + 1, eventIndex: 1 };
const PURCHASE = [PAID, BOUGHT];
const TRADES: GivenFilter = { events: ['wallet_trade'] };

type Selecting = Exclude<keyof typeof SIGNAL_FILTER, 'fromBlock' | 'lastSeen' | 'progress'>;

/**
 * By member: a filter with it alone, or with what it needs, and a transfer of which it excludes an event. `without`:
 * what it needs, alone.
 */
const CASES: Record<
  Selecting,
  { filter: GivenFilter; without?: GivenFilter; excluded: EventRow; transfers?: EventRow[] }
> = {
  wallets: { filter: { wallets: [`0x${OTHER}`] }, excluded: NATIVE },
  tokens: { filter: { tokens: [`0x${CONTRACT}`] }, excluded: NATIVE },
  events: { filter: { events: ['wallet_token_buy'] }, excluded: NATIVE },
  minMon: { filter: { minMon: '0.000000000000000011' }, excluded: NATIVE },
  minAmount: { filter: { minAmount: { [`0x${CONTRACT}`]: '11' } }, excluded: TOKEN },
  excludeMints: { filter: { excludeMints: true }, excluded: { ...TOKEN, from: ZERO_DIGITS } },
  purchasesOnly: { filter: { purchasesOnly: true }, excluded: TOKEN },
  kinds: {
    filter: { ...TRADES, kinds: ['sell', 'swap'] },
    without: TRADES,
    excluded: BOUGHT,
    transfers: PURCHASE,
  },
  minQuote: {
    filter: { ...TRADES, minQuote: { native: '11' } },
    without: TRADES,
    excluded: BOUGHT,
    transfers: PURCHASE,
  },
  initiated: { filter: { initiated: true }, excluded: { ...NATIVE, from: OTHER, to: WALLET } },
};

for (const [member, { filter, without = {}, excluded, transfers }] of Object.entries(CASES)) {
  test(`${member} excludes an event that comes without it`, () => {
    const event = eventOf(excluded, false, transfers && { transfers });
    const events = (given: GivenFilter) => {
      const parsed = parseSignalFilter(given);
      return signalsOf(parsed, event).filter((signal) => passesInitiated(parsed, event, signal)).length;
    };
    assert.ok(events(filter) < events(without), JSON.stringify(filter));
  });
}
