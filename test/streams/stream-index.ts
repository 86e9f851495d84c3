/** A transfer stream on an index that the test writes, and its clients. */
import assert from 'node:assert/strict';
import { bytesToHex, type Hex } from '../../src/lib/hex.ts';
import { createLogger } from '../../src/log/logger.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import type { BlockBatch, CommittingBlocks } from '../../src/model/block-batch.ts';
import { ReadFailures } from '../../src/query/read-failures.ts';
import { prepareStreamReads } from '../../src/query/stream-reads.ts';
import { type Notification, type Payer, Subscription } from '../../src/streams/subscription.ts';
import { TransferStream } from '../../src/streams/transfers/transfer-stream.ts';
import {
  SignalSubscription,
  type TransferSubscription,
  WalletSubscription,
} from '../../src/streams/transfers/transfer-subscription.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { checkNotification } from '../support/clients/openapi.ts';
import { address, createIndex, type NamedBlock } from '../support/index/index-fixture.ts';
import { waitFor } from '../support/wait.ts';
import { signalFilter, walletFilter } from './filters.ts';
import { FREE } from './free-payer.ts';

/**
 * What a client received: `+12` for a transfer of block 12, `-12` for a removed one, `=12` for progress up to block 12
 * and `~12` for that of a replay; and how it ended.
 */
export interface Client {
  told: string[];
  closed: boolean;
  /** Why it was closed; empty while open. */
  reason: string;
  /** Every result, as received. */
  results: Record<string, unknown>[];
  /** The last block that progress named, null without one. */
  progress: { to: number; hash: Hex } | null;
  /** The mark of the last transfer or progress. */
  mark: string | null;
  /** Where its replay begins, null without one. */
  fromBlock: number | null;
  /** Bytes that it has not read, and callbacks for when it has. */
  backlogBytes: number;
  waiting: (() => void)[];
  unsubscribe: () => void;
}

export class StreamIndex {
  private readonly announces: boolean;
  private readonly fixture: ReturnType<typeof createIndex>;
  readonly snapshot: ReturnType<ReturnType<typeof createIndex>['snapshot']>['snapshot'];
  private readonly transfers: TransferStream;
  private readonly metrics = createMetrics();

  /** `announces`: whether `commit` announces its blocks. */
  constructor(cleanup: Cleanup, announces: boolean, metadataWaitMs = 0) {
    this.announces = announces;
    this.fixture = createIndex(cleanup);
    const { db, snapshot } = this.fixture.snapshot(cleanup);
    this.snapshot = snapshot;
    cleanup.after(() => this.metrics.close());
    const log = createLogger({ level: 'error', format: 'json' });
    this.transfers = new TransferStream({
      reads: prepareStreamReads(db, snapshot),
      node: { batch: async (calls) => calls.map(() => ({ result: null })) },
      nativeSymbol: 'MON',
      metadataWaitMs,
      metrics: this.metrics,
      failures: new ReadFailures({ log, metrics: this.metrics }),
      log,
    });
    cleanup.after(() => this.transfers.close());
  }

  /** Appends one or more blocks in which Alice pays Bob this many times. */
  commit(count: number, { branch = '', payments = 1 } = {}): void {
    for (let i = 0; i < count; i++) {
      const batch = this.announces ? this.announce({ branch, payments }) : this.nextBlock(branch, payments);
      this.write(batch);
      this.publish(batch);
    }
  }

  /** How often the push age was measured, and the sum of the ages in seconds. */
  async pushAges(): Promise<{ count: number; sum: number }> {
    const { values } = await this.metrics.pushAge.get();
    const of = (name: string) => values.find(({ metricName }) => metricName?.endsWith(name))?.value ?? 0;
    return { count: of('_count'), sum: of('_sum') };
  }

  rollBack(to: number): void {
    this.undo(to);
    this.publishRollback(to, this.head().hash);
  }

  /** Rolls the index back without a watermark. */
  undo(to: number): void {
    this.fixture.writer.rollback(to);
  }

  /** Removes the blocks from `first` on, to be read again. */
  repair(first: number): void {
    this.fixture.writer.rollbackStep(first - 1, { number: null });
    this.publishRollback(first - 1, this.head().hash);
  }

  /** Reports that everything above a block is rolled back. */
  publishRollback(to: number, hash: Hex): void {
    this.snapshot.release();
    this.transfers.onWatermark({ kind: 'rolled-back', to, hash });
  }

  /** A subscription to the transfers of a wallet, from now on or from a block on. */
  wallet(
    name: string,
    fromBlock: number | null = null,
    { backlogBytes = 0, payer = FREE, progress = false } = {},
  ): Promise<Client> {
    const filter = { ...walletFilter(address(name).slice(2), fromBlock), progress };
    return this.open(
      fromBlock,
      (subscription) => new WalletSubscription(subscription, filter),
      backlogBytes,
      payer,
    );
  }

  /** A wallet's transfers, from where a client last saw the index. */
  reconnect(name: string, lastSeen: { to: number; hash: Hex }, mark: string | null = null): Promise<Client> {
    const filter = {
      ...walletFilter(address(name).slice(2)),
      lastSeen: { mark, number: lastSeen.to, hash: lastSeen.hash.slice(2) },
    };
    return this.open(null, (subscription) => new WalletSubscription(subscription, filter));
  }

  /** Like the above, for everything that any wallet pays, from a block on. */
  payments(fromBlock: number, progress = false): Promise<Client> {
    const filter = signalFilter({ events: new Set(['wallet_native_out']), fromBlock, progress });
    return this.open(fromBlock, (subscription) => new SignalSubscription(subscription, filter));
  }

  private async open(
    fromBlock: number | null,
    watch: (subscription: Subscription) => TransferSubscription,
    backlogBytes = 0,
    payer: Payer = FREE,
  ): Promise<Client> {
    const unsubscribe = () => undefined;
    const client: Client = {
      told: [],
      results: [],
      progress: null,
      mark: null,
      closed: false,
      reason: '',
      fromBlock,
      backlogBytes,
      waiting: [],
      unsubscribe,
    };
    const connection = {
      payer,
      get backlogBytes() {
        return client.backlogBytes;
      },
      push: (notification: Notification, id: Uint8Array) => {
        const message = JSON.parse(String(notification.messageFor(id)));
        client.results.push(message.params.result);
        const { progress, ...transfer } = message.params.result;
        if (progress) checkNotification(message);
        const { blockNumber, blockHash, removed, rewrites, live } = progress ?? transfer;
        client.mark = rewrites ?? null;
        if (progress) client.progress = { to: blockNumber, hash: blockHash };
        const sign = progress ? (live ? '=' : '~') : removed === true ? '-' : '+';
        client.told.push(`${sign}${blockNumber}`);
      },
      whenDrained: (callback: () => void) => void client.waiting.push(callback),
      close: (_code: number, reason: string) => {
        client.closed = true;
        client.reason = reason;
      },
    };
    const subscription = new Subscription('test', connection, { total: 0 }, 1_000_000);
    client.unsubscribe = await this.transfers.subscribe(watch(subscription));
    subscription.release();
    return client;
  }

  /** Announces the next block, in which Alice pays Bob this many times. */
  announce({ branch = '', payments = 1 } = {}): BlockBatch {
    const batch = this.nextBlock(branch, payments);
    this.publishAnnouncement(this.announcement(batch));
    return batch;
  }

  /** The announcement before the next block is committed. */
  announcement(batch: BlockBatch): CommittingBlocks {
    return { batches: [batch], firstTransfer: (this.fixture.writer.head()?.lastTransfer ?? 0) + 1 };
  }

  publishAnnouncement(blocks: CommittingBlocks): void {
    this.snapshot.release();
    this.transfers.onCommitting(blocks);
  }

  /** Appends a block without a watermark. */
  write(batch: BlockBatch): void {
    this.fixture.writer.append([batch]);
  }

  /** Reports that a block is committed. */
  publish(batch: BlockBatch, from = batch.number[0]!): void {
    this.snapshot.release();
    const to = batch.number[0]!;
    const hash = bytesToHex(batch.hash);
    const committedAt = performance.timeOrigin + performance.now();
    this.transfers.onWatermark({ kind: 'committed', from, to, hash, timestamp: 0, committedAt });
  }

  /** Appends several blocks in one commit. */
  commitAtOnce(count: number): void {
    const first = this.head().to + 1;
    const batches = Array.from({ length: count }, () => {
      const batch = this.nextBlock('', 1);
      this.write(batch);
      return batch;
    });
    this.publish(batches.at(-1)!, first);
  }

  /** A block that follows the last, in which Alice pays Bob this many times. */
  nextBlock(branch: string, payments: number): BlockBatch {
    const block: NamedBlock = {};
    const number = (this.fixture.writer.head()?.number ?? 0) + 1;
    for (let i = 0; i < payments; i++) block[`${number} ${branch} ${i}`] = [{ from: 'alice', to: 'bob' }];
    return this.fixture.batch([block], branch);
  }

  head() {
    const head = this.fixture.writer.head();
    assert.ok(head);
    return { to: head.number, hash: head.hash };
  }
}

export const tells = (client: Client, text: string) =>
  waitFor(() => client.told.join(' ') === text, { what: `"${text}"; told ${client.told}`, everyMs: 5 });
