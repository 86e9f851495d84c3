/**
 * Events of trades on random chains with forks: live, replayed and delivered, against a plain count of the transfers.
 */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bytesToHex } from '../../src/lib/hex.ts';
import { createLogger } from '../../src/log/logger.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { ReadFailures } from '../../src/query/read-failures.ts';
import { prepareStreamReads } from '../../src/query/stream-reads.ts';
import { type Notification, Subscription } from '../../src/streams/subscription.ts';
import { parseSignalFilter } from '../../src/streams/transfers/parse-filter.ts';
import { TransferStream } from '../../src/streams/transfers/transfer-stream.ts';
import { SignalSubscription } from '../../src/streams/transfers/transfer-subscription.ts';
import { HookWorld } from '../hooks/hook-world.ts';
import type { PlainBlock } from '../support/chain/random-chain.ts';
import { nodeOf, senderOf, sentBatch, sentBlocks } from '../support/chain/sent-blocks.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { checkNotification } from '../support/clients/openapi.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { HookReceiver, keptEvents } from '../support/runs/hook-receiver.ts';
import { allOf, plainTrade, shownTrade } from '../support/trades/compare-trades.ts';
import { PlainTrades } from '../support/trades/plain-trades.ts';
import { waitFor } from '../support/wait.ts';
import { FREE } from './free-payer.ts';

type Json = Record<string, unknown>;

const NO_PARENT = `0x${'00'.repeat(32)}`;
const TRADES = { events: ['wallet_trade'] };

/** An index of a chain that grows and forks, its stream and its hooks. */
class World {
  readonly hooks: HookWorld;
  readonly lists: { nativeEquivalents: string[]; quoteTokens: string[]; feeSinks: string[] };
  /** Every block of every branch. */
  private readonly blocks: PlainBlock[];
  private readonly context: TestContext;
  private stream: TransferStream | null = null;
  private release: () => void = () => undefined;

  constructor(context: TestContext, blocks: readonly PlainBlock[]) {
    this.context = context;
    this.blocks = [...blocks];
    const cleanup = nestedCleanup(context);
    this.hooks = new HookWorld(cleanup);
    const transfers = blocks.flatMap(({ transactions }) => transactions.flatMap((of) => of.transfers));
    const tokens = [...new Set(transfers.filter(({ kind }) => kind === 1).map(({ token }) => `0x${token}`))];
    const wallets = [...new Set(transfers.map(({ from }) => `0x${from}`))].filter((at) => !/^0x0+$/.test(at));
    this.lists = {
      nativeEquivalents: tokens.slice(0, 1),
      quoteTokens: tokens.slice(1, 3),
      feeSinks: wallets.slice(3, 4),
    };
  }

  get head(): number {
    return this.hooks.index.writer.head()?.number ?? 0;
  }

  /** Starts the stream and the hooks, again like a restart. */
  async start(): Promise<void> {
    await this.stop();
    const cleanup = nestedCleanup(this.context);
    const { db, snapshot } = this.hooks.index.snapshot(cleanup);
    const metrics = createMetrics();
    cleanup.after(() => metrics.close());
    const node = nodeOf(this.blocks);
    const log = createLogger({ level: 'error', format: 'json' });
    this.stream = new TransferStream({
      reads: prepareStreamReads(db, snapshot, this.lists),
      node,
      nativeSymbol: 'MON',
      metadataWaitMs: 0,
      metrics,
      failures: new ReadFailures({ log, metrics }),
      log,
    });
    this.release = snapshot.release;
    this.hooks.start({ node, tradeLists: this.lists });
  }

  async stop(): Promise<void> {
    this.stream?.close();
    this.stream = null;
    this.release();
    await this.hooks.stop();
  }

  /** Commits blocks one by one, or together; `announces`: as near the head. */
  commit(blocks: readonly PlainBlock[], { announces = true, together = false } = {}): void {
    this.blocks.push(...blocks);
    const { writer } = this.hooks.index;
    for (const part of together ? [blocks] : blocks.map((block) => [block])) {
      // Of several batches a commit has those after the first depend on the ones before.
      const batches = together ? [sentBatch(part.slice(0, 2)), sentBatch(part.slice(2))] : [sentBatch(part)];
      const firstTransfer = (writer.head()?.lastTransfer ?? 0) + 1;
      this.release();
      if (announces) this.stream?.onCommitting({ batches, firstTransfer });
      writer.append(batches);
      this.release();
      const [first, last] = [part[0], part.at(-1)];
      assert.ok(first && last);
      const committedAt = performance.timeOrigin + performance.now();
      const mark = {
        from: first.number,
        to: last.number,
        hash: bytesToHex(Buffer.from(last.hash.slice(2), 'hex')),
      };
      this.stream?.onWatermark({ kind: 'committed', ...mark, timestamp: 0, committedAt });
      this.hooks.wake();
    }
  }

  rollBack(to: number): void {
    this.hooks.rollBack(to);
    this.release();
    const head = this.hooks.index.writer.head();
    assert.ok(head);
    this.stream?.onWatermark({ kind: 'rolled-back', to, hash: head.hash });
  }

  async subscribe(filter: Json): Promise<Json[]> {
    const results: Json[] = [];
    const connection = {
      payer: FREE,
      backlogBytes: 0,
      push: (notification: Notification, id: Uint8Array) => {
        const message = JSON.parse(String(notification.messageFor(id)));
        checkNotification(message);
        results.push(message.params.result);
      },
      whenDrained: () => undefined,
      close: (_code: number, reason: string) => assert.fail(reason),
    };
    const subscription = new Subscription('test', connection, { total: 0 }, 1_000_000);
    assert.ok(this.stream);
    await this.stream.subscribe(new SignalSubscription(subscription, parseSignalFilter(filter)));
    subscription.release();
    return results;
  }

  /** The trades of every wallet, by the second implementation. */
  plain(): PlainTrades {
    const { nativeEquivalents: equivalents, quoteTokens: quotes, feeSinks: sinks } = this.lists;
    return new PlainTrades(indexedTransfers(dirname(this.hooks.index.path)), { equivalents, quotes, sinks });
  }

  sender(hash: unknown): string {
    const found = this.blocks.flatMap(({ transactions }) => transactions).find((of) => of.hash === hash);
    assert.ok(found);
    return `0x${senderOf(found)}`;
  }
}

/** What is left of a stream's events: only the newest may be removed, and nothing comes twice. */
function kept(events: readonly Json[]): Json[] {
  const left: Json[] = [];
  for (const event of events) {
    if ('progress' in event) continue;
    if (event.removed !== true) left.push(event);
    else {
      const last = left.pop();
      assert.deepEqual({ ...event, ...pushTime(last) }, { ...last, removed: true });
    }
  }
  assert.equal(new Set(left.map(({ txHash, wallet }) => `${txHash} ${wallet}`)).size, left.length);
  return left;
}

/** What differs between two pushes of an event. */
function pushTime(event: Json | undefined): Json {
  const { received_at, received_at_ms, funding_age_ms, funding_age } = event ?? {};
  return { received_at, received_at_ms, funding_age_ms, funding_age };
}

function content(event: Json): Json {
  const { deliveryId: _, ...rest } = event;
  return { ...rest, ...pushTime({}) };
}

/** Compares events in order with the second implementation, and each with its record on REST. */
async function compare(t: TestContext, world: World, events: readonly Json[], what: string): Promise<void> {
  const byWallet = Map.groupBy(events, ({ wallet }) => String(wallet));
  const plain = world.plain();
  assert.deepEqual([...byWallet.keys()].sort(), [...plain.byWallet.keys()].sort(), what);
  const ask = askApi(nestedCleanup(t), world.hooks.index.path, world.lists);
  for (const [wallet, trades] of byWallet) {
    assert.deepEqual(
      trades.map(shownTrade),
      plain.byWallet.get(wallet)?.map(plainTrade),
      `${what} ${wallet}`,
    );
    const records = (await allOf(ask, 'wallet_trades', 'trades', { address: wallet })).reverse();
    for (const [i, record] of records.entries()) {
      const event = trades[i];
      assert.ok(event);
      const same = Object.keys(record).filter((name) => name !== 'initiated');
      for (const name of same) assert.deepEqual(event[name], record[name], `${name} of ${wallet}`);
      assert.equal(event.txFrom, world.sender(event.txHash));
      assert.equal(event.initiated, event.txFrom === wallet);
      assert.equal(event.leg, event.legs);
    }
  }
  const ids = events.map(({ id }) => Number(id));
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
    `order of ${what}`,
  );
}

for (const seed of [1, 2, 3, 4])
  test(`trades of a chain with forks are told alike live, in a replay and by a hook (seed ${seed})`, async (t) => {
    const random = sentBlocks(1, 30, NO_PARENT, seed);
    const world = new World(t, random);
    const receiver = await HookReceiver.start(nestedCleanup(t));
    await world.start();
    world.commit(random.slice(0, 1));
    world.hooks.hook(receiver.url, { filter: TRADES, fromBlock: 1 });
    const live = await world.subscribe({ ...TRADES, fromBlock: 1, progress: true });
    world.commit(random.slice(1, 14), { announces: seed % 2 === 0 });
    for (const [round, depth] of [2, 5, 1, 7].entries()) {
      const to = world.head - depth;
      const parent = String(world.hooks.index.writer.hashAt(to));
      world.rollBack(to);
      const branch = sentBlocks(to + 1, depth + 4, parent, seed * 100 + round);
      world.commit(branch, { together: round % 2 === 1, announces: round !== 2 });
      if (round === 1) await atHead(world, live);
    }
    await atHead(world, live);
    await settled(world, receiver);
    await compare(t, world, kept(live), 'live');
    const replayed = await world.subscribe({ ...TRADES, fromBlock: 1, progress: true });
    await atHead(world, replayed);
    assert.deepEqual(kept(replayed).map(content), kept(live).map(content));
    const delivered = keptEvents(receiver.events);
    assert.deepEqual(delivered.map(content), kept(live).map(content));
    for (const kind of ['buy', 'sell', 'swap', 'mixed'])
      assert.ok(
        replayed.some((event) => event.kind === kind),
        kind,
      );

    await world.start();
    const again = await world.subscribe({ ...TRADES, fromBlock: 1, progress: true });
    const [first] = kept(live);
    const filters = filtersOf(world, first?.wallet);
    const filtered = [];
    for (const [filter, passes] of filters) {
      const events = await world.subscribe({ ...TRADES, ...filter, fromBlock: 1, progress: true });
      filtered.push({ filter, passes, events });
    }
    await atHead(world, again);
    const to = world.head - 2;
    const parent = String(world.hooks.index.writer.hashAt(to));
    world.rollBack(to);
    world.commit(sentBlocks(to + 1, 3, parent, seed + 50), { announces: seed % 2 === 0 });
    world.commit(sentBlocks(to + 4, 3, String(world.hooks.index.writer.head()?.hash), seed + 60));
    await atHead(world, again);
    await settled(world, receiver);
    await compare(t, world, kept(again), 'after a restart');
    assert.deepEqual(keptEvents(receiver.events).map(content), kept(again).map(content));
    assert.equal(new Set(receiver.events.map(({ deliveryId }) => deliveryId)).size, receiver.events.length);
    for (const { filter, passes, events } of filtered) {
      await atHead(world, events);
      const name = JSON.stringify(filter);
      assert.deepEqual(kept(events).map(content), kept(again).filter(passes).map(content), name);
    }
  });

/** Filters, and the events that they must pass. */
function filtersOf({ lists }: World, someone: unknown): [Json, (event: Json) => boolean][] {
  const [quote = ''] = lists.quoteTokens;
  const [wrapped = ''] = lists.nativeEquivalents;
  return [
    [{ kinds: ['sell', 'swap'] }, ({ kind }) => kind === 'sell' || kind === 'swap'],
    [{ initiated: true }, ({ initiated }) => initiated === true],
    [{ wallets: [String(someone).toUpperCase().replace('X', 'x')] }, ({ wallet }) => wallet === someone],
    [{ tokens: [quote] }, (event) => hasLeg(event, quote)],
    [
      { tokens: [wrapped.toUpperCase().replace('X', 'x')] },
      (event) => hasLeg(event, null) || hasLeg(event, wrapped),
    ],
    [{ tokens: [`0x${'77'.repeat(20)}`] }, () => false],
    [{ minQuote: { native: '30' } }, (event) => reaches(event, null, 30n)],
    [{ minQuote: { [wrapped]: '30' } }, (event) => reaches(event, null, 30n)],
    [{ minQuote: { [`0x${'77'.repeat(20)}`]: '30' } }, () => true],
  ];
}

function legs(event: Json, side: 'given' | 'received'): Json[] {
  const { [side]: found } = event;
  assert.ok(Array.isArray(found));
  return found;
}

function hasLeg(event: Json, token: string | null): boolean {
  return [...legs(event, 'given'), ...legs(event, 'received')].some((leg) => leg.tokenAddress === token);
}

/** Whether a trade has another quote, or at least this much of it. */
function reaches(event: Json, quote: string | null, least: bigint): boolean {
  if (event.quote === null || Object(event.quote).tokenAddress !== quote) return true;
  const [leg] = legs(event, event.kind === 'buy' ? 'given' : 'received');
  return BigInt(String(leg?.amount)) >= least;
}

/** Waits until a stream with `progress` was sent everything. */
async function atHead({ hooks }: World, events: readonly Json[]): Promise<void> {
  const { hash } = hooks.index.writer.head() ?? {};
  const isThere = () => {
    const last = events.at(-1)?.progress;
    return Object(last).blockHash === hash && Object(last).live === true;
  };
  await waitFor(isThere, { what: 'the head' });
}

/** Waits until the hook has delivered everything. */
async function settled({ hooks, head }: World, receiver: HookReceiver): Promise<void> {
  const isThere = () => hooks.store.list().every(({ cursor }) => cursor.number === head);
  await waitFor(isThere, {
    what: `the hook to reach ${head}; it got ${receiver.events.length} events`,
    everyMs: 50,
  });
}
