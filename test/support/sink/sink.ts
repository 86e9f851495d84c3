/** A sink on a test index, and the comparison of its tables with that index. */
import { SinkClient, type SinkOptions } from '../../../src/sink/sink-client.ts';
import { randomBlocks, toBatch } from '../chain/random-chain.ts';
import type { Cleanup } from '../cleanup.ts';
import type { IndexFixture } from '../index/index-fixture.ts';
import { logTo } from '../logs.ts';
import { assertSameRows } from '../same-rows.ts';
import { TRADE_LISTS } from '../trades/trade-lists.ts';
import { waitFor } from '../wait.ts';
import { type ExpectedRows, expectedSinkRows, storedSinkRows } from './sink-rows.ts';

/** SQL that makes the tables those of version 2, which had no trades. */
export const WITHOUT_TRADES = /* sql */ `
  DROP VIEW IF EXISTS atlas.readable_trades, atlas.named_trades; DROP TABLE IF EXISTS atlas.trades;
  ALTER TABLE atlas.sink DROP COLUMN IF EXISTS trades_block, DROP COLUMN IF EXISTS trade_rules,
    DROP COLUMN IF EXISTS uncertain_blocks;
  UPDATE atlas.sink SET version = 2`;

interface TestSink {
  readonly client: SinkClient;
  readonly logs: string[];
  /** Wakes the sink and waits until its status says so. */
  reaches(block: number): Promise<void>;
  /** Waits until it has the index's last block, then compares every row; `url` is for reading PostgreSQL directly. */
  equals(expected?: ExpectedRows): Promise<void>;
}

/** `direct` is the database's address if `url` goes through a proxy. */
export function startSink(
  cleanup: Cleanup,
  index: Pick<IndexFixture, 'path' | 'writer'>,
  options: Partial<SinkOptions> & { url: string; direct?: string },
): TestSink {
  const { direct = options.url, ...rest } = options;
  const settings: SinkOptions = {
    indexPath: index.path,
    schema: 'atlas',
    fromBlock: 'earliest',
    finality: 'latest',
    maxReorg: 128,
    wallets: true,
    partitionBlocks: 70,
    tradeLists: TRADE_LISTS,
    ...rest,
  };
  const logs: string[] = [];
  const client = new SinkClient(settings, {
    onStatus: () => undefined,
    log: logTo(logs),
  });
  cleanup.after(() => client.stop());
  const reaches = async (block: number) => {
    const isThere = () => {
      client.wake(null);
      return client.status.state === 'following' && client.status.block === block;
    };
    await waitFor(isThere, { what: `block ${block} in PostgreSQL`, timeoutMs: 60_000 }).catch(
      (error: Error) => {
        throw new Error(`${error.message}; ${JSON.stringify(client.status)}\n${logs.join('\n')}`);
      },
    );
  };
  return {
    client,
    logs,
    reaches,
    async equals(expected = {}) {
      await reaches(expected.last ?? index.writer.head()?.number ?? -1);
      const rows = { wallets: settings.wallets, tradeLists: settings.tradeLists, ...expected };
      assertSameRows(await storedSinkRows(direct, settings.schema), expectedSinkRows(index.path, rows));
    },
  };
}

/** Appends random blocks. Another salt yields other blocks at the same heights. */
export function grow({ writer }: Pick<IndexFixture, 'writer'>, count: number, salt: number): void {
  const head = writer.head();
  const from = (head?.number ?? 0) + 1;
  writer.append([toBatch(randomBlocks(from, count, head?.hash ?? `0x${'0'.repeat(64)}`, salt))]);
}

/** Removes the newest blocks, all but the first at most, and appends others. */
export function reorg(index: Pick<IndexFixture, 'writer'>, depth: number, count: number, salt: number): void {
  const head = index.writer.head()?.number ?? 0;
  index.writer.rollback(Math.max(1, head - depth));
  grow(index, count, salt);
}
