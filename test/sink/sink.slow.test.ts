import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import postgres from 'postgres';
import { randomSource } from '../support/chain/random-chain.ts';
import { nestedCleanup, suiteCleanup } from '../support/cleanup.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { startTcpProxy } from '../support/nodes/tcp-proxy.ts';
import { startPostgres, type TestPostgres } from '../support/sink/postgres.ts';
import { grow, reorg, startSink, WITHOUT_TRADES } from '../support/sink/sink.ts';
import { storedSinkRows } from '../support/sink/sink-rows.ts';
import { waitFor } from '../support/wait.ts';

describe('the PostgreSQL sink', () => {
  const cleanup = suiteCleanup();
  let server: TestPostgres;
  before(async () => {
    server = await startPostgres(cleanup);
  });

  /** Runs statements in a database. */
  async function run(url: string, statements: string): Promise<void> {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    try {
      await sql.unsafe(statements);
    } finally {
      await sql.end();
    }
  }

  test('writes what the index has and follows it through reorgs of any depth', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 100, 1);
    const sink = startSink(own, index, { url: await server.createDatabase('reorgs') });
    await sink.equals();
    for (const [round, depth] of [0, 3, 60, 99].entries()) {
      reorg(index, depth, depth + 7, 10 + round);
      await sink.equals();
    }
    assert.equal(sink.client.status.rollbacks, 3);
  });

  test('equals the index after kills, restarts, cut networks and reorgs at random moments', async (t) => {
    const own = nestedCleanup(t);
    const random = randomSource(7);
    const int = (n: number) => Math.floor(random() * n);
    const index = createIndex(own, 1);
    grow(index, 50, 1);
    const direct = await server.createDatabase('failures');
    const proxy = await startTcpProxy(own, server.port);
    const url = direct.replace(`:${server.port}/`, `:${proxy.port}/`);
    let sink = startSink(own, index, { url, direct });
    await sink.reaches(50);
    const failures = [
      () => proxy.cut(),
      () =>
        run(
          direct,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'atlas-node sink'",
        ),
      () => run(direct, 'UPDATE atlas.sink SET fence = fence + 1'),
      async () => {
        await sink.client.stop();
        sink = startSink(own, index, { url, direct });
      },
      async () => {
        await server.kill();
        await server.start();
      },
    ];
    for (let round = 0; round < 10; round++) {
      if (int(3) === 0) reorg(index, int(30), int(40) + 1, 100 + round);
      else grow(index, int(40) + 1, 200 + round);
      sink.client.wake(null);
      // Somewhere within a transaction, or before or after it.
      await new Promise((resolve) => setTimeout(resolve, int(15)));
      await failures[round % failures.length]?.();
      if (round % 5 === 4) await sink.equals();
    }
    await sink.equals();
  });

  test('removes no rows with finality = "finalized", and writes only final blocks', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 60, 1);
    index.writer.setFinalized(40);
    const sink = startSink(own, index, {
      url: await server.createDatabase('finalized'),
      finality: 'finalized',
    });
    await sink.equals({ last: 40 });
    reorg(index, 20, 30, 2);
    await sink.equals({ last: 40 });
    index.writer.setFinalized(55);
    await sink.equals({ last: 55 });
    assert.equal(sink.client.status.rollbacks, 0);

    index.writer.rollback(30); // like a repair, which may go below final blocks
    grow(index, 40, 3);
    index.writer.setFinalized(60);
    sink.client.wake(null);
    const refusal = /differs from PostgreSQL above block 30.*no row is taken back/;
    await waitFor(() => refusal.test(sink.client.status.reason ?? ''), { what: 'the sink to stop' });
  });

  test('copies again what a repair has rewritten under the same hashes and ids', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    const blocks = (from: number, amount: bigint, count = 30) =>
      Array.from({ length: count }, (_, i) => ({
        [`tx ${from + i}`]: [{ from: 'alice', to: 'bob', amount: amount + BigInt(i) }],
      }));
    index.append(blocks(1, 1n));
    const url = await server.createDatabase('rewrites');
    let sink = startSink(own, index, { url });
    await sink.equals();
    const follows = async (rollbacks: number) => {
      const hasNoticed = () => {
        sink.client.wake(null);
        return sink.client.status.rollbacks >= rollbacks;
      };
      await waitFor(hasNoticed, { what: `rollback ${rollbacks}` }); // the last block may be the same as before
      await sink.equals();
    };
    index.rewrite(12, blocks(12, 100n, 19));
    await follows(1);
    index.rewrite(20, blocks(20, 200n, 5)); // the second is lower than the first, and a reorg comes with it
    index.rewrite(8, blocks(8, 300n, 10), 'other branch');
    await follows(2);
    index.rewrite(1, blocks(1, 400n));
    await follows(3);
    assert.deepEqual(
      sink.logs.filter((line) => /different chains/.test(line)),
      [],
    );

    await sink.client.stop();
    index.rewrite(15, blocks(15, 500n, 16));
    await run(
      url,
      `${WITHOUT_TRADES}; ALTER TABLE atlas.sink DROP COLUMN mark; UPDATE atlas.sink SET version = 1`,
    ); // of 0.1.0
    sink = startSink(own, index, { url });
    await follows(1);
  });

  test('copies a repair again even with finality = "finalized"', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 60, 1);
    index.writer.setFinalized(40);
    const url = await server.createDatabase('final_rewrites');
    const sink = startSink(own, index, { url, finality: 'finalized' });
    await sink.equals({ last: 40 });
    index.writer.rollbackStep(30, { number: null });
    grow(index, 30, 1);
    index.writer.setFinalized(45);
    await sink.equals({ last: 45 });
    assert.equal(sink.client.status.rollbacks, 1);
  });

  test('lets one sink at a time write a schema, and the next one continue', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 20, 1);
    const url = await server.createDatabase('two_sinks');
    const first = startSink(own, index, { url });
    await first.reaches(20);
    const second = startSink(own, index, { url });
    const isKeptOut = () => second.client.status.reason?.startsWith('another sink writes the schema "atlas"');
    await waitFor(isKeptOut, { what: 'the second sink to be kept out' });
    grow(index, 5, 2);
    await first.reaches(25);
    await first.client.stop();
    await second.equals();
  });

  test('refuses tables of another chain and of other settings, and says which', async (t) => {
    const own = nestedCleanup(t);
    const url = await server.createDatabase('mismatch');
    const index = createIndex(own, 1);
    grow(index, 20, 1);
    const sink = startSink(own, index, { url });
    await sink.reaches(20);
    const before = await storedSinkRows(url);
    await sink.client.stop();
    const refused = async (other: typeof index, options: object, reason: RegExp) => {
      const wrong = startSink(own, other, { url, ...options });
      await waitFor(() => wrong.client.status.state === 'waiting', { what: 'the refusal' });
      assert.match(wrong.client.status.reason ?? '', reason);
      await wrong.client.stop();
    };
    const otherChain = createIndex(own, 1);
    grow(otherChain, 30, 2);
    await refused(otherChain, {}, /no block in common from block 1 on: they hold different chains/);
    await refused(index, { fromBlock: 5 }, /sink.postgres.from_block 1, this daemon has 5/);
    await refused(index, { wallets: false }, /sink.postgres.wallets true, this daemon has false/);
    const otherStart = createIndex(own, 3);
    otherStart.append([{}, {}]);
    await refused(otherStart, {}, /first block of the index 1, this daemon has 3/);
    assert.deepEqual(await storedSinkRows(url), before);
  });

  test('waits for an index that was rebuilt, and repeats nothing', async (t) => {
    const own = nestedCleanup(t);
    const url = await server.createDatabase('rebuilt');
    const index = createIndex(own, 1);
    for (const count of [20, 20, 5]) grow(index, count, 1);
    const sink = startSink(own, index, { url });
    await sink.reaches(45);
    await sink.client.stop();
    const rebuilt = createIndex(own, 1);
    grow(rebuilt, 20, 1);
    const next = startSink(own, rebuilt, { url });
    await waitFor(() => next.client.status.reason?.startsWith('the index ends at block 20'), {
      what: 'the wait',
    });
    grow(rebuilt, 20, 1);
    grow(rebuilt, 9, 1);
    await next.equals();
    assert.equal(next.client.status.rollbacks, 0);
  });

  test('starts at from_block, with every earlier token', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 90, 1);
    const sink = startSink(own, index, { url: await server.createDatabase('later'), fromBlock: 45 });
    await sink.equals({ first: 45 });
    reorg(index, 30, 33, 2);
    await sink.equals({ first: 45 });
  });

  test('copies token names that the index learns later', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 40, 1);
    const url = await server.createDatabase('names');
    const sink = startSink(own, index, { url });
    await sink.equals();
    for (const { address, tries } of index.writer.unreadTokens(0, 2)) {
      const metadata = { name: 'Näme\0 ✓', symbol: 'SYM', decimals: 6, tries: tries + 1, retryAt: null };
      index.writer.saveMetadata([{ address, ...metadata }]);
    }
    const named = async () =>
      (await storedSinkRows(url)).filter((row) => row.includes('Näme ✓ SYM 6')).length;
    await waitFor(async () => (await named()) === 2, { what: 'both names' });
  });

  test('reports a full disk of PostgreSQL, and resumes when there is space', async (t) => {
    const own = nestedCleanup(t);
    const url = await server.createDatabase('full');
    const index = createIndex(own, 1);
    grow(index, 20, 1);
    const sink = startSink(own, index, { url });
    await sink.equals();
    await run(
      url,
      `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON atlas.blocks EXECUTE FUNCTION fill()`,
    );
    grow(index, 20, 2);
    sink.client.wake(null);
    await waitFor(() => sink.client.status.reason?.endsWith('its disk is full: free some space'), {
      what: 'the reason',
    });
    await run(url, 'DROP TRIGGER full_disk ON atlas.blocks');
    await sink.equals();
  });

  test('reports what is wrong with the address without naming hosts and users', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 5, 1);
    const reasonOf = async (url: string) => {
      const { client } = startSink(own, index, { url });
      const reason = await waitFor(() => client.status.reason, { what: 'a reason' });
      await client.stop();
      return reason;
    };
    assert.equal(
      await reasonOf(server.url('nowhere')),
      'PostgreSQL refuses: the database of sink.postgres.url does not exist: create it',
    );
    assert.equal(
      await reasonOf('postgres://someone@127.0.0.1:1/x'),
      'PostgreSQL cannot be reached (ECONNREFUSED)',
    );
  });
});
