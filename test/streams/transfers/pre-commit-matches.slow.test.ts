/** Pre-commit matches equal what the index returns after the commit, and are pushed without reading it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytesToHex } from '../../../src/lib/hex.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import { prepareStreamReads } from '../../../src/query/stream-reads.ts';
import { UNREAD_TOKEN } from '../../../src/query/tokens.ts';
import { Subscription } from '../../../src/streams/subscription.ts';
import { transferJson } from '../../../src/streams/transfers/event-json.ts';
import { IndexSource } from '../../../src/streams/transfers/index-source.ts';
import { PreCommitMatches } from '../../../src/streams/transfers/pre-commit-matches.ts';
import { signalJson } from '../../../src/streams/transfers/signal-json.ts';
import { SubscriptionIndex } from '../../../src/streams/transfers/subscription-index.ts';
import { type Form, TransferEvent } from '../../../src/streams/transfers/transfer-event.ts';
import { TransferSubscription } from '../../../src/streams/transfers/transfer-subscription.ts';
import { type PlainBlock, randomBlocks, toBatch } from '../../support/chain/random-chain.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { createIndex } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { CHAIN, NO_RULES } from '../filters.ts';
import { FREE } from '../free-payer.ts';
import { StreamIndex, tells } from '../stream-index.ts';

/** What a source says of a batch whose transactions were not read. */
const UNKNOWN = { parties: null, reason: 'the block was decoded without its transactions' };

/** Random transactions may move value themselves several times, in the names of several senders. */
class SourceWithoutParties extends IndexSource {
  override partiesOf() {
    return UNKNOWN;
  }
}

/** Is offered every transfer and wants all of them, including zero transfers, or none. */
class SubscriberToAll extends TransferSubscription {
  override readonly method = 'eth_subscription';
  shown = 0;
  private readonly forms: readonly Form[];
  constructor(forms: readonly Form[] = ['out']) {
    const connection = {
      payer: FREE,
      backlogBytes: 0,
      push: () => undefined,
      whenDrained: () => undefined,
      close: () => undefined,
    };
    super(new Subscription('all', connection, { total: 0 }, 1), new Set(), new Set(), {
      fromBlock: null,
      lastSeen: null,
      progress: false,
    });
    this.forms = forms;
  }
  protected override formsOf() {
    this.shown++;
    return this.forms;
  }
}

/** Everything that clients receive about a transfer. */
function payloads(event: TransferEvent): string {
  const signals = (['wallet_token_buy', 'wallet_token_sell', 'wallet_created', 'token_created'] as const).map(
    (name) => signalJson(event, { event: name, direction: name === 'wallet_token_sell' ? 'out' : 'in' }, 0),
  );
  const trades = (['in', 'out'] as const).map((direction) => {
    const trade = event.trade(direction);
    return trade === null ? '' : signalJson(event, { event: 'wallet_trade', direction }, 0);
  });
  const first = [event.isFirst('in'), event.isFirst('out'), event.isFirstOfToken()];
  return [transferJson(event.row, 'out', false, CHAIN), ...signals, ...trades, ...first].join(' ');
}

for (const prepared of ['all', 'none'] as const) {
  test(`pre-commit rows equal the rows read from the index after the commit (${prepared} prepared)`, (context) => {
    const cleanup = nestedCleanup(context);
    const fixture = createIndex(cleanup);
    const { db, snapshot } = fixture.snapshot(cleanup);
    const reads = prepareStreamReads(db, snapshot);
    const subscribers = new SubscriptionIndex();
    subscribers.add(new SubscriberToAll(), () => undefined);
    const kinds = new Set<number>();
    let firstTransfer = 1;
    let next = 1;
    for (let round = 0; round < 60; round++) {
      const parent = fixture.writer.head()?.hash ?? `0x${'0'.repeat(64)}`;
      const blocks = randomBlocks(next, 5, parent, round).map(withoutParties);
      const batches = [toBatch(blocks.slice(0, 2)), toBatch(blocks.slice(2))];
      const announced = new PreCommitMatches(
        { batches, firstTransfer },
        {
          subscribers,
          tokenFacts: reads.tokenSymbols,
          chainInfo: CHAIN,
          firstTransferOf: reads.firstTransferOf,
          tokenStart: reads.tokenStart,
          tradeRules: reads.tradeRules,
          parties: { get: () => undefined },
        },
      );
      announced.prepare(prepared === 'all' ? Number.POSITIVE_INFINITY : 0);
      fixture.writer.append(batches);
      snapshot.release();
      const events = [...takeAll(announced)];
      const ids = Array.from({ length: announced.last - firstTransfer + 1 }, (_, i) => firstTransfer + i);
      const indexed = new SourceWithoutParties({
        reads,
        parties: { get: () => UNKNOWN },
        chainInfo: CHAIN,
      });
      const committed = indexed.read(ids, round % 2 === 0).map((row) => TransferEvent.from(indexed, row));
      assert.deepEqual(events.map(payloads), committed.map(payloads));
      assert.equal(announced.hash, fixture.writer.head()?.hash);
      for (const { row } of events) kinds.add(row.kind);
      nameFirstToken(batches[0]!, round);
      snapshot.release(); // the payloads of trades have read the lists
      firstTransfer = announced.last + 1;
      next += blocks.length;
    }
    assert.deepEqual([...kinds].sort(), Object.values(TransferKind).sort());

    function nameFirstToken({ token, addresses }: BlockBatch, round: number): void {
      const contract = token.find((at) => at >= 0);
      if (contract === undefined) return;
      const address = bytesToHex(addresses.subarray(contract * 20, contract * 20 + 20));
      const symbol = `T${round}`;
      fixture.writer.saveMetadata([
        { address, name: null, symbol, decimals: round % 19, tries: 1, retryAt: null },
      ]);
    }
  });
}

/** Senders at random contradict random transfers. stored-senders.slow.test.ts compares those of real transactions. */
function withoutParties(block: PlainBlock): PlainBlock {
  return { ...block, transactions: block.transactions.map(({ hash, transfers }) => ({ hash, transfers })) };
}

function* takeAll(announced: PreCommitMatches): Generator<TransferEvent> {
  for (;;) {
    const { matches, isLast } = announced.take(7);
    for (const { event } of matches) yield event;
    if (isLast) return;
  }
}

test('candidates without a match count as work too', (context) => {
  const subscribers = new SubscriptionIndex();
  const subscriber = new SubscriberToAll([]);
  subscribers.add(subscriber, () => undefined);
  const batch = toBatch(randomBlocks(1, 20, `0x${'0'.repeat(64)}`, 1));
  const tokenFacts = () => UNREAD_TOKEN;
  const announced = new PreCommitMatches(
    { batches: [batch], firstTransfer: 1 },
    {
      subscribers,
      tokenFacts,
      chainInfo: CHAIN,
      firstTransferOf: () => undefined,
      tokenStart: () => undefined,
      tradeRules: () => NO_RULES,
      parties: { get: () => undefined },
    },
  );
  let now = 0;
  context.mock.method(performance, 'now', () => now++);
  announced.prepare(10);
  assert.equal(subscriber.shown, 10);
  announced.take(16);
  assert.equal(subscriber.shown, 26);
});

test('observes the push age once per commit with a match', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const client = await index.wallet('alice');
  await index.wallet('nobody');
  for (const commits of [1, 2]) {
    index.commit(1, { payments: 3 });
    await waitFor(async () => (await index.pushAges()).count === commits, { what: `age ${commits}` });
  }
  assert.deepEqual(client.told, ['+2', '+2', '+2', '+3', '+3', '+3']);
  client.unsubscribe();
  index.commit(1);
  const { count, sum } = await index.pushAges();
  assert.equal(count, 2);
  assert.ok(sum >= 0 && sum < 60, `${sum} s`);
});

test('pushes to clients that left do not count towards the age of later pushes', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const client = await index.wallet('alice');
  const batch = index.announce();
  index.publish(batch); // the index lacks it, so that the turn ends here
  await tells(client, '+2');
  client.unsubscribe();
  const { now } = performance;
  context.mock.method(performance, 'now', () => now.call(performance) + 3_600_000);
  index.write(batch);
  await new Promise(setImmediate); // the reads of the current turn lack it
  const later = await index.wallet('alice');
  index.commit(1);
  await tells(later, '+3');
  await waitFor(async () => (await index.pushAges()).count > 0, { what: 'the age' });
  const { sum } = await index.pushAges();
  assert.ok(sum < 60, `${sum} s`);
});

test('pre-commit matches are pushed on their watermark, before the index is read', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const client = await index.wallet('alice');
  const batch = index.announce({ payments: 40 });
  assert.deepEqual(client.told, []);
  index.publish(batch); // the index lacks it, so none of it can be read
  await tells(client, Array(40).fill('+2').join(' '));
});

test('a client that subscribes after the announcement gets each of its transfers once', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const early = await index.wallet('alice');
  const batch = index.announce({ payments: 2 });
  const late = await index.wallet('bob');
  const replayed = await index.wallet('bob', 1);
  index.write(batch);
  index.publish(batch);
  index.commit(1);
  await tells(early, '+2 +2 +3');
  await tells(late, '+2 +2 +3');
  await tells(replayed, '+1 +2 +2 +3');
});

test('a client that subscribes after the announcement delays no one', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const early = await index.wallet('alice');
  const batch = index.announce({ payments: 40 });
  const late = await index.wallet('bob');
  index.publish(batch); // the index lacks it, so none of it can be read
  for (const client of [early, late]) await tells(client, Array(40).fill('+2').join(' '));
});

test('a commit waiting to be pushed reaches everyone even if a new client starts after it', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const batch = index.announce();
  index.write(batch);
  const later = await index.wallet('bob', 3);
  const replayed = await index.wallet('alice', 1);
  await tells(replayed, '+1');
  index.publish(batch);
  index.commit(1);
  await tells(later, '+3');
  await tells(replayed, '+1 +2 +3');
});

test('an announcement whose commit fails is forgotten', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const client = await index.wallet('alice');
  index.announce({ payments: 3, branch: 'lost' });
  index.commit(2);
  await tells(client, '+2 +3');
});

test('a failed read before the commit costs no client its connection or a transfer', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const client = await index.wallet('alice');
  context.mock.method(index.snapshot, 'head', fail, { times: 1 });
  const batch = index.announce();
  index.write(batch);
  index.publish(batch);
  index.commit(1);
  await tells(client, '+2 +3');
  assert.equal(client.closed, false);
});

function fail(): never {
  throw new Error('disk I/O error');
}

test('a rollback between announcement and commit is pushed first', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(2);
  const client = await index.wallet('alice');
  index.commit(1);
  await tells(client, '+3');
  index.rollBack(2);
  const batch = index.announce({ branch: 'b', payments: 2 });
  index.write(batch);
  index.publish(batch);
  index.commit(1);
  await tells(client, '+3 -3 +3 +3 +4');
});

test('a client that left after the announcement gets nothing', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const [left, stays] = [await index.wallet('alice'), await index.wallet('bob')];
  const batch = index.announce();
  left.unsubscribe();
  index.write(batch);
  index.publish(batch);
  await tells(stays, '+2');
  assert.deepEqual(left.told, []);
});

test('pre-commit matches are not pushed before their commit, whatever else is pushed meanwhile', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const live = await index.wallet('alice');
  const batch = index.announce();
  const replayed = await index.wallet('bob', 1);
  await tells(replayed, '+1');
  assert.deepEqual(live.told, []);
  index.write(batch);
  index.publish(batch);
  await tells(live, '+2');
});

test('a block announced while the previous one is still being pushed comes after it', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const client = await index.wallet('alice');
  index.commit(1, { payments: 20_000 });
  assert.ok(client.told.length < 20_000);
  index.commit(1);
  await tells(client, `${'+2 '.repeat(20_000)}+3`);
});

test('while a rollback cannot be read yet, later pre-commit matches are not pushed', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(2);
  const client = await index.wallet('alice');
  const { to, hash } = index.head();
  index.commit(1);
  const later = index.announce({ branch: 'b' });
  index.undo(1); // a further rollback, not yet published
  index.publishRollback(to, hash);
  index.publish(later);
  await nextTurn();
  await tells(client, '+3 -3');
});
