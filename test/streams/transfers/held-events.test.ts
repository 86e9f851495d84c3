/** Events wait for their missing data, behind each other, and never for long. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import type { EventRow } from '../../../src/query/events.ts';
import { UNREAD_TOKEN } from '../../../src/query/tokens.ts';
import { HeldEvents, type Holder, MetadataWait } from '../../../src/streams/transfers/held-events.ts';
import type { Form, TransferEvent } from '../../../src/streams/transfers/transfer-event.ts';
import { waitFor } from '../../support/wait.ts';
import { eventOf } from '../filters.ts';

type Token = Pick<EventRow, 'symbol' | 'decimals'>;

function setUp(context: TestContext, waitMs: number, firstSeen?: number) {
  const tokens = new Map<string, Token>();
  const tokenFacts = (token: string) => tokens.get(token) ?? UNREAD_TOKEN;
  const reads = { tokenSymbols: tokenFacts, tokenFirstSeen: () => firstSeen };
  const held = new HeldEvents(new MetadataWait(reads, waitMs), tokenFacts, () => undefined);
  context.after(() => held.close());
  const client = () => {
    const pushed: string[] = [];
    const holder: Holder = {
      pushNow: ({ row }) => pushed.push(`${row.id} ${row.symbol}`),
    };
    const offer = (event: TransferEvent, form: Form = 'in') => {
      if (held.passes(holder, event, [form])) holder.pushNow(event, [form]);
    };
    return { pushed, offer };
  };
  return { tokens, held, client };
}

function event(id: number, token: string, partiesOf = (): null | undefined => null): TransferEvent {
  const row: EventRow = {
    id,
    kind: token === '' ? TransferKind.nativeInternal : TransferKind.erc20,
    amount: '01',
    tokenNumber: '',
    logIndex: 1,
    txHash: 'ef',
    eventIndex: 0,
    blockNumber: 1,
    blockHash: 'ef',
    timestamp: Math.floor(Date.now() / 1000),
    from: 'aa',
    to: 'bb',
    token,
    symbol: null,
    decimals: null,
  };
  return eventOf(row, false, { partiesOf });
}

test('the events of a new token wait for its symbol, and those behind them wait too', async (context) => {
  const { tokens, client } = setUp(context, 60_000);
  const [one, other] = [client(), client()];
  const shared = event(1, 'new');
  one.offer(shared);
  one.offer(event(2, ''));
  other.offer(event(3, ''));
  assert.deepEqual([one.pushed, other.pushed], [[], ['3 null']], 'nobody else waits');
  other.offer(shared);
  tokens.set('new', { symbol: 'NEW', decimals: 6 });
  await waitFor(() => one.pushed.length === 2, { what: 'the held events', everyMs: 5 });
  assert.deepEqual(
    [one.pushed, other.pushed],
    [
      ['1 NEW', '2 null'],
      ['3 null', '1 NEW'],
    ],
  );
});

test('a token without a symbol is waited for once, and not beyond the bound', async (context) => {
  const { client } = setUp(context, 60);
  const { pushed, offer } = client();
  const startedAt = performance.now();
  offer(event(1, 'silent'));
  assert.deepEqual(pushed, []);
  await waitFor(() => pushed.length === 1, { what: 'the held event', everyMs: 5 });
  assert.ok(performance.now() - startedAt >= 60);
  offer(event(2, 'silent'));
  assert.deepEqual(pushed, ['1 null', '2 null']);
});

test('does not wait for a token known to have no symbol', (context) => {
  const { tokens, client } = setUp(context, 60_000);
  tokens.set('nameless', { symbol: null, decimals: null });
  const { pushed, offer } = client();
  offer(event(1, 'nameless'));
  assert.deepEqual(pushed, ['1 null']);
});

test('a signal waits for the sender of its transaction, a wallet transfer does not', async (context) => {
  const { client } = setUp(context, 0);
  const { pushed, offer } = client();
  let isFetching = true;
  const internal = (id: number) => event(id, '', () => (isFetching ? undefined : null));
  offer(internal(1));
  offer(internal(2), { event: 'wallet_funded', direction: 'in' });
  assert.deepEqual(pushed, ['1 null']);
  isFetching = false;
  await waitFor(() => pushed.length === 2, { what: 'the signal', everyMs: 5 });
});

test('a flush pushes everything that is held', (context) => {
  const { client, held } = setUp(context, 60_000);
  const { pushed, offer } = client();
  for (const id of [1, 2, 3]) offer(event(id, 'new'));
  held.flushAll();
  assert.deepEqual(pushed, ['1 null', '2 null', '3 null']);
});

test('a subscription never has more than 5,000 events held', (context) => {
  const { client } = setUp(context, 60_000);
  const { pushed, offer } = client();
  for (let id = 1; id <= 5_001; id++) offer(event(id, 'new'));
  assert.equal(pushed.length, 5_001);
});

test('does not wait for an older token, even if it is unread', (context) => {
  const { client } = setUp(context, 60_000, Date.now() / 1000 - 3_600);
  const one = client();
  one.offer(event(1, 'old'));
  one.offer(event(2, 'old'));
  assert.deepEqual(one.pushed, ['1 null', '2 null']);
});
