/** Events wait for their missing data, behind each other, and never for long. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sampleTransfer } from '../../../src/api/fields.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import type { EventRow } from '../../../src/query/events.ts';
import { UNREAD_TOKEN } from '../../../src/query/tokens.ts';
import { HeldEvents, type Holder, MetadataWait } from '../../../src/streams/transfers/held-events.ts';
import type { EventSource, Form, TransferEvent } from '../../../src/streams/transfers/transfer-event.ts';
import { waitFor } from '../../support/wait.ts';
import { eventOf, UNKNOWN_PARTIES } from '../filters.ts';

type Token = Pick<EventRow, 'symbol' | 'decimals' | 'viewKind'>;

function setUp(context: TestContext, waitMs: number, firstSeen?: number) {
  const tokens = new Map<string, Token>();
  const tokenFacts = (token: string) => tokens.get(token) ?? UNREAD_TOKEN;
  const reads = {
    tokenSymbols: tokenFacts,
    tokenStart: () => (firstSeen === undefined ? undefined : { transfer: 1, kind: 2, timestamp: firstSeen }),
  };
  const held = new HeldEvents({
    metadata: new MetadataWait(reads, waitMs),
    tokenFacts,
    onReleased: () => undefined,
    onFailure: assert.ifError,
  });
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

function event(
  id: number,
  token: string,
  partiesOf: EventSource['partiesOf'] = () => UNKNOWN_PARTIES,
): TransferEvent {
  const row: EventRow = {
    ...sampleTransfer,
    id,
    kind: token === '' ? TransferKind.nativeInternal : TransferKind.erc20,
    timestamp: Math.floor(Date.now() / 1000),
    token,
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
  tokens.set('new', { symbol: 'NEW', decimals: 6, viewKind: null });
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
  tokens.set('nameless', { ...UNREAD_TOKEN });
  const { pushed, offer } = client();
  offer(event(1, 'nameless'));
  assert.deepEqual(pushed, ['1 null']);
});

const FUNDED: Form = { event: 'wallet_funded', direction: 'in' };

test('a signal waits for the sender of its transaction, a wallet transfer does not', async (context) => {
  const { client, held } = setUp(context, 0);
  const { pushed, offer } = client();
  let isFetching = true;
  const internal = (id: number) => event(id, '', () => (isFetching ? undefined : UNKNOWN_PARTIES));
  offer(internal(1));
  offer(internal(2), FUNDED);
  assert.deepEqual(pushed, ['1 null']);
  isFetching = false;
  held.release();
  assert.deepEqual(pushed, ['1 null', '2 null']);
});

test('the sender of an event is requested at once, even behind events that wait', (context) => {
  const { client, held } = setUp(context, 60_000);
  const { pushed, offer } = client();
  const asked = new Set<number>();
  let isFetching = true;
  for (let id = 1; id <= 50; id++)
    offer(
      event(id, '', () => {
        asked.add(id);
        return isFetching ? undefined : UNKNOWN_PARTIES;
      }),
      FUNDED,
    );
  assert.deepEqual([asked.size, pushed.length], [50, 0]);
  isFetching = false;
  held.release();
  assert.equal(pushed.length, 50);
});

test('many complete events are pushed in bounded turns, and each subscription gets its share', async (context) => {
  const { client, held } = setUp(context, 0);
  const clients = [client(), client()];
  let isFetching = true;
  for (const { offer } of clients)
    for (let id = 1; id <= 30; id++)
      offer(
        event(id, '', () => (isFetching ? undefined : UNKNOWN_PARTIES)),
        FUNDED,
      );
  isFetching = false;
  let now = 0;
  context.mock.method(performance, 'now', () => now++);
  held.release();
  const counts = () => clients.map(({ pushed }) => pushed.length);
  assert.ok(Math.max(...counts()) < 10, `${counts()} in one turn`);
  for (let turn = 0; Math.min(...counts()) < 30; turn++) {
    const [one = 0, other = 0] = counts();
    assert.ok(turn < 100 && Math.abs(one - other) < 10, `${counts()} after turn ${turn}`);
    await nextTurn();
  }
  const ascending = Array.from({ length: 30 }, (_, i) => `${i + 1} null`);
  for (const { pushed } of clients) assert.deepEqual(pushed, ascending);
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
