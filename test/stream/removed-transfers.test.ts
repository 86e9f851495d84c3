/** Who is told that transfers are removed, on an index that the test writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { prepareStreamReads } from '../../src/query/stream-reads.ts';
import type { Notification } from '../../src/stream/notification.ts';
import { Subscription } from '../../src/stream/subscription.ts';
import { TransferStream } from '../../src/stream/transfer-stream.ts';
import { SignalWatcher, WalletWatcher, type Watcher } from '../../src/stream/watcher.ts';
import { address, createIndex, type NamedBlock } from '../support/index-fixture.ts';
import { type Owner, opened } from '../support/owner.ts';
import { waitFor } from '../support/wait.ts';

/** What a client was told, `+12` for a transfer of block 12 and `-12` for one that is taken back, and its end. */
interface Client {
  told: string[];
  closed: boolean;
  unsubscribe: () => void;
}

class Index {
  private readonly fixture: ReturnType<typeof createIndex>;
  private readonly snapshot: ReturnType<ReturnType<typeof createIndex>['snapshot']>['snapshot'];
  private readonly transfers: TransferStream;

  constructor(owner: Owner) {
    this.fixture = createIndex(owner);
    const { db, snapshot } = this.fixture.snapshot(owner);
    this.snapshot = snapshot;
    const metrics = createMetrics();
    owner.after(() => metrics.close());
    const log = createLogger({ level: 'error', format: 'json' });
    this.transfers = new TransferStream({
      reads: prepareStreamReads(db, snapshot),
      nativeSymbol: 'MON',
      metrics,
      log,
    });
    owner.after(() => this.transfers.close());
  }

  /** Appends a block, or several, in which Alice pays Bob that often. */
  commit(count: number, { branch = '', payments = 1 } = {}): void {
    for (let i = 0; i < count; i++) this.append(branch, payments);
  }

  rollBack(to: number): void {
    this.fixture.writer.rollback(to);
    this.snapshot.release();
    this.transfers.onWatermark({ kind: 'rolled-back', ...this.head(), to });
  }

  /** A subscription to the transfers of a wallet, from now on or from a block on. */
  wallet(name: string, fromBlock: number | null = null): Promise<Client> {
    const wallet = address(name).slice(2);
    const filter = {
      wallet,
      direction: 'both',
      includeNative: true,
      includeTokens: true,
      fromBlock,
    } as const;
    return this.open(fromBlock, (subscription) => new WalletWatcher(subscription, filter));
  }

  /** The same to what any wallet pays out, from a block on. */
  payments(fromBlock: number): Promise<Client> {
    const events = new Set(['wallet_native_out'] as const);
    const filter = { wallets: new Set<string>(), tokens: new Set<string>(), events, fromBlock };
    return this.open(fromBlock, (subscription) => new SignalWatcher(subscription, filter));
  }

  private async open(
    fromBlock: number | null,
    watch: (subscription: Subscription) => Watcher,
  ): Promise<Client> {
    const client: Client = { told: [], closed: false, unsubscribe: () => undefined };
    const connection = {
      backlogBytes: 0,
      push: (notification: Notification, id: Uint8Array) => {
        const { blockNumber, removed } = JSON.parse(String(notification.messageFor(id))).params.result;
        client.told.push(`${removed === true ? '-' : '+'}${blockNumber}`);
      },
      whenDrained: () => undefined,
      close: () => {
        client.closed = true;
      },
    };
    const subscription = new Subscription('test', connection, { total: 0 }, 1_000_000);
    client.unsubscribe = await this.transfers.subscribe(watch(subscription), fromBlock !== null);
    subscription.release();
    return client;
  }

  private append(branch: string, payments: number): void {
    const block: NamedBlock = {};
    const number = (this.fixture.writer.head()?.number ?? 0) + 1;
    for (let i = 0; i < payments; i++) block[`${number} ${branch} ${i}`] = [{ from: 'alice', to: 'bob' }];
    this.fixture.append([block], branch);
    this.snapshot.release();
    const { to, hash } = this.head();
    this.transfers.onWatermark({
      kind: 'committed',
      from: to,
      to,
      hash,
      timestamp: 0,
      committedAt: performance.timeOrigin + performance.now(),
    });
  }

  private head() {
    const head = this.fixture.writer.head();
    assert.ok(head);
    return { to: head.number, hash: head.hash };
  }
}

const tells = (client: Client, text: string) =>
  waitFor(() => client.told.join(' ') === text, { what: `"${text}"; told ${client.told}`, everyMs: 5 });

test('whoever was told a transfer is told that it is taken back, and nobody else', async (context) => {
  const index = new Index(opened(context));
  index.commit(8);
  const early = await index.wallet('alice');
  const stranger = await index.wallet('carol', 1);
  const signals = await index.payments(8);
  index.commit(2);
  await tells(early, '+9 +10');
  const late = await index.wallet('bob');
  const replayed = await index.wallet('bob', 7);
  index.commit(1);
  await tells(late, '+11');
  await tells(replayed, '+7 +8 +9 +10 +11');
  await tells(signals, '+8 +9 +10 +11');
  index.rollBack(9);
  await tells(early, '+9 +10 +11 -11 -10');
  await tells(late, '+11 -11');
  await tells(replayed, '+7 +8 +9 +10 +11 -11 -10');
  await tells(signals, '+8 +9 +10 +11 -11 -10');
  index.commit(1, { branch: 'b' });
  for (const client of [early, late, replayed, signals])
    await waitFor(() => client.told.at(-1) === '+10', { what: 'block 10 of the other branch' });
  index.rollBack(8);
  await tells(early, '+9 +10 +11 -11 -10 +10 -10 -9');
  await tells(late, '+11 -11 +10 -10');
  await tells(replayed, '+7 +8 +9 +10 +11 -11 -10 +10 -10 -9');
  await tells(signals, '+8 +9 +10 +11 -11 -10 +10 -10 -9');
  assert.deepEqual(stranger.told, []);
  assert.ok([early, late, replayed, signals, stranger].every(({ closed }) => !closed));
});

test('what is being replayed is taken back as far as it was told', async (context) => {
  const index = new Index(opened(context));
  index.commit(3, { payments: 2_000 });
  const client = await index.wallet('alice', 1);
  const tellsSome = () => client.told.length > 2_000 && client.told.length < 6_000;
  while (!tellsSome()) await nextTurn();
  const before = [...client.told];
  index.rollBack(1);
  const back = client.told.slice(before.length);
  assert.deepEqual(
    back,
    before
      .slice(2_000)
      .reverse()
      .map((told) => told.replace('+', '-')),
  );
  index.commit(1, { branch: 'b', payments: 1 });
  await waitFor(() => client.told.length === before.length + back.length + 1, { what: 'the other branch' });
  assert.equal(client.closed, false);
});

test('nothing of those who left is kept, however much they were told and whoever stays', async (context) => {
  v8.setFlagsFromString('--expose-gc');
  const gc: () => void = vm.runInNewContext('gc');
  const index = new Index(opened(context));
  index.commit(3, { payments: 20 });
  const staying = await index.wallet('alice', 1);
  const left: WeakRef<Client>[] = [];
  for (let i = 0; i < 200; i++) {
    const client = await index.wallet('alice', 1);
    await waitFor(() => client.told.length === 60, { what: 'the replay', everyMs: 1 });
    client.unsubscribe();
    left.push(new WeakRef(client));
  }
  await nextTurn();
  gc();
  const kept = left.filter((client) => client.deref() !== undefined).length;
  assert.ok(kept < 3, `${kept} are kept`);
  index.rollBack(1);
  assert.equal(staying.told.filter((told) => told.startsWith('-')).length, 40);
  assert.equal(staying.closed, false);
});
