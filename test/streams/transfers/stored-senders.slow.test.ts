/** Signals of senders that the index stores are those of senders that the node names, live and in replays. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../../src/log/logger.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { ZERO_DIGITS } from '../../../src/model/address.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import type { RpcCall, RpcReply } from '../../../src/node/client.ts';
import { ReadFailures } from '../../../src/query/read-failures.ts';
import { prepareStreamReads } from '../../../src/query/stream-reads.ts';
import { type Notification, Subscription } from '../../../src/streams/subscription.ts';
import { TransferStream } from '../../../src/streams/transfers/transfer-stream.ts';
import { SignalSubscription } from '../../../src/streams/transfers/transfer-subscription.ts';
import {
  type PlainBlock,
  type PlainTransaction,
  type PlainTransfer,
  randomBlocks,
  toBatch,
} from '../../support/chain/random-chain.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { createIndex, txHash } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { signalFilter } from '../filters.ts';
import { FREE } from '../free-payer.ts';

const ZERO = `0x${ZERO_DIGITS}`;
const START = 1;
const BLOCKS = 40;

type Parties = { from: string; to: string };

function isDirect(transfer: PlainTransfer | undefined): transfer is PlainTransfer {
  return transfer?.kind === TransferKind.nativeDirect && transfer.from !== ZERO_DIGITS;
}

/** As on a real chain: only the first transfer may be the transaction's own value, and then it is of its parties. */
function realTransaction({ hash, transfers, parties }: PlainTransaction): PlainTransaction {
  const plain = transfers.map((transfer, i) =>
    i > 0 && transfer.kind === TransferKind.nativeDirect
      ? { ...transfer, kind: TransferKind.nativeInternal }
      : transfer,
  );
  const [first] = plain;
  const known = isDirect(first) ? { from: `0x${first.from}`, to: `0x${first.to}` } : parties;
  return { hash, transfers: plain, ...(known && { parties: known }) };
}

function realBlocks(from: number, count: number, parent: string, salt: number): PlainBlock[] {
  return randomBlocks(from, count, parent, salt).map((block) => ({
    ...block,
    transactions: block.transactions.map(realTransaction),
  }));
}

/** A node that knows every transaction, also those whose parties it left out of their blocks. */
class KnowingNode {
  asked = new Set<string>();
  /** Transactions of which it left a party out. */
  readonly leftOut = new Set<string>();
  private readonly known = new Map<string, Parties>();

  learn(blocks: readonly PlainBlock[]): void {
    for (const { transactions } of blocks)
      for (const { hash, transfers, parties } of transactions) {
        const { from, to } = parties ?? { from: ZERO, to: ZERO };
        const isKnown = from !== ZERO && (to !== ZERO || isDirect(transfers[0]));
        if (!isKnown) this.leftOut.add(hash);
        const others = { from: `0x${hash.slice(-40)}`, to: `0x${hash.slice(2, 42)}` };
        this.known.set(hash, isKnown ? { from, to } : others);
      }
  }

  batch = async (calls: readonly RpcCall[]): Promise<RpcReply[]> =>
    calls.map(({ method, params }) => {
      const parties = method === 'eth_getTransactionByHash' && this.known.get(String(params[0]));
      if (parties) this.asked.add(String(params[0]));
      return { result: parties || null };
    });
}

function setUp(context: TestContext) {
  const cleanup = nestedCleanup(context);
  const fixture = createIndex(cleanup, START);
  const { db, snapshot } = fixture.snapshot(cleanup);
  const metrics = createMetrics();
  cleanup.after(() => metrics.close());
  const log = createLogger({ level: 'error', format: 'json' });
  const node = new KnowingNode();
  const open = () => {
    const stream = new TransferStream({
      reads: prepareStreamReads(db, snapshot),
      node,
      nativeSymbol: 'MON',
      metadataWaitMs: 0,
      metrics,
      failures: new ReadFailures({ log, metrics }),
      log,
    });
    cleanup.after(() => stream.close());
    return stream;
  };
  return { fixture, snapshot, node, open };
}

type Signal = Record<string, unknown>;

/** All signals, from a block on or from now on, and whether they are complete. */
interface Client {
  signals: Signal[];
  isLive: boolean;
}

async function subscribe(stream: TransferStream, fromBlock: number | null): Promise<Client> {
  const client: Client = { signals: [], isLive: false };
  const connection = {
    payer: FREE,
    backlogBytes: 0,
    push(notification: Notification, id: Uint8Array) {
      const { result } = JSON.parse(String(notification.messageFor(id))).params;
      const { received_at, received_at_ms, funding_age_ms, funding_age, progress, ...lasting } = result;
      if (progress) client.isLive = progress.live;
      else client.signals.push(lasting);
    },
    whenDrained: () => undefined,
    close: (_code: number, reason: string) => assert.fail(reason),
  };
  const subscription = new Subscription('signals', connection, { total: 0 }, 1_000_000_000);
  const filter = signalFilter({ fromBlock, progress: true });
  await stream.subscribe(new SignalSubscription(subscription, filter));
  subscription.release();
  return client;
}

/** All signals of the index. */
async function replay(stream: TransferStream): Promise<Signal[]> {
  const client = await subscribe(stream, 0);
  await waitFor(() => client.isLive, { what: 'the end of the replay' });
  return client.signals;
}

for (let seed = 1; seed <= 4; seed++)
  test(`replays of stored senders, of asked senders and live events are equal: seed ${seed}`, async (context) => {
    const { fixture, snapshot, node, open } = setUp(context);
    const stream = open();
    const start = realBlocks(START, 1, txHash('no parent'), seed);
    node.learn(start);
    fixture.writer.append([toBatch(start)]);
    const commit = (blocks: readonly PlainBlock[], announces: boolean): void => {
      node.learn(blocks);
      for (const block of blocks) {
        const batch: BlockBatch = toBatch([block]);
        snapshot.release();
        const firstTransfer = (fixture.writer.head()?.lastTransfer ?? 0) + 1;
        if (announces) stream.onCommitting({ batches: [batch], firstTransfer });
        fixture.writer.append([batch]);
        snapshot.release();
        const { number, hash } = fixture.writer.head()!;
        stream.onWatermark({
          kind: 'committed',
          from: number,
          to: number,
          hash,
          timestamp: 0,
          committedAt: 0,
        });
      }
    };
    const rollBack = (to: number): void => {
      fixture.writer.rollback(to);
      snapshot.release();
      stream.onWatermark({ kind: 'rolled-back', to, hash: fixture.writer.head()!.hash });
    };
    const first = realBlocks(START + 1, BLOCKS, fixture.writer.head()!.hash, seed);
    commit(first.slice(0, 5), false);
    const live = await subscribe(stream, null);
    const liveFrom = fixture.writer.head()!.number + 1;
    commit(first.slice(5), true);
    rollBack(START + 20);
    commit(realBlocks(START + 21, BLOCKS, fixture.writer.head()!.hash, seed + 100), true);

    const reference = await replay(open());
    node.asked.clear();
    const stored = await replay(open());
    const askedForStored = [...node.asked];
    node.asked.clear();
    fixture.damage('DELETE FROM block_parties');
    const asked = await replay(open());

    assert.deepEqual(stored, reference);
    assert.deepEqual(asked, reference);
    assert.ok(askedForStored.length > 0 && askedForStored.length < node.asked.size);
    assert.deepEqual(
      askedForStored.filter((hash) => !node.leftOut.has(hash)),
      [],
    );
    assert.ok(reference.every(({ txFrom, initiated }) => txFrom !== null && initiated !== null));

    const kept: Signal[] = [];
    for (const signal of live.signals) {
      if (signal['removed'] !== true) kept.push(signal);
      else assert.deepEqual({ ...kept.pop(), removed: true }, signal);
    }
    assert.deepEqual(
      kept,
      reference.filter(({ blockNumber }) => Number(blockNumber) >= liveFrom),
    );
  });
