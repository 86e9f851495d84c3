/** The sink beside the people who own the PostgreSQL: what they change works, or the status says what to do. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import postgres from 'postgres';
import { ClusterSession, publicReason as keysReason } from '../../src/cluster/session.ts';
import type { SinkOptions } from '../../src/sink/sink-client.ts';
import { type Cleanup, nestedCleanup, suiteCleanup } from '../support/cleanup.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { startTransactionPooler } from '../support/nodes/transaction-pooler.ts';
import { startPostgres, type TestPostgres } from '../support/sink/postgres.ts';
import { grow, reorg, startSink } from '../support/sink/sink.ts';
import { waitFor } from '../support/wait.ts';

describe('the sink beside its operator', () => {
  const cleanup = suiteCleanup();
  let server: TestPostgres;
  let databases = 0;
  before(async () => {
    server = await startPostgres(cleanup);
  });

  async function run(url: string, statements: string): Promise<Record<string, unknown>[]> {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    try {
      return [...(await sql.unsafe(statements))];
    } finally {
      await sql.end();
    }
  }

  /** A sink that has written 100 blocks of an index, and what its operator then does. */
  async function written(own: Cleanup, options: Partial<SinkOptions> = {}) {
    const index = createIndex(own, 1);
    grow(index, 100, 1);
    const url = await server.createDatabase(`operator_${++databases}`);
    let sink = startSink(own, index, { url, ...options });
    await sink.equals();
    return {
      index,
      url,
      restart: async () => {
        await sink.client.stop();
        sink = startSink(own, index, { url, ...options });
      },
      stop: () => sink.client.stop(),
      equals: () => sink.equals(),
      /** Appends blocks, and waits for this reason. */
      async isTold(reason: RegExp) {
        grow(index, 20, 2);
        const isShown = () => {
          sink.client.wake(null);
          return reason.test(sink.client.status.reason ?? '');
        };
        await waitFor(isShown, { what: String(reason), timeoutMs: 60_000 }).catch((error: Error) => {
          throw new Error(`${error.message}; ${JSON.stringify(sink.client.status)}\n${sink.logs.join('\n')}`);
        });
      },
    };
  }

  const indexesOf = async (url: string, table: string) =>
    (
      await run(
        url,
        `SELECT pg_get_indexdef(indexrelid) AS def FROM pg_index WHERE indrelid = '${table}'::regclass`,
      )
    ).map(({ def }) => String(def).replace(/^.* USING /, ''));

  test('builds its own missing indexes however many others a partition has', async (t) => {
    const own = nestedCleanup(t);
    const { url, restart, stop, equals } = await written(own);
    await stop();
    await run(
      url,
      `DROP INDEX atlas.transfers_0_from, atlas.transfers_0_to, atlas.transfers_0_token, atlas.transfers_0_time;
       CREATE INDEX transfers_0_from ON atlas.transfers_0 (amount);
       CREATE INDEX ON atlas.transfers (tx_hash); CREATE INDEX ON atlas.transfers (amount);
       CREATE INDEX ON atlas.transfers (token_id); CREATE INDEX ON atlas.transfers (log_index)`,
    );
    await restart();
    await equals();
    const wanted = ['(from_address, block_number)', '(to_address, block_number)', '(block_timestamp)'];
    const isWhole = async () => {
      const found = (await indexesOf(url, 'atlas.transfers_0')).join('; ');
      return (
        wanted.every((columns) => found.includes(columns)) && found.includes('token_address IS NOT NULL')
      );
    };
    await waitFor(isWhole, { what: 'the four indexes' });
    const count = (await indexesOf(url, 'atlas.transfers_0')).length;
    await restart();
    await equals();
    assert.equal((await indexesOf(url, 'atlas.transfers_0')).length, count, 'none is built twice');
  });

  test('fills its own columns beside those of the operator, with views and triggers on the tables', async (t) => {
    const own = nestedCleanup(t);
    const { url, index, restart, equals } = await written(own);
    await run(
      url,
      `ALTER TABLE atlas.transfers ADD note text, ADD added timestamptz NOT NULL DEFAULT now(),
         ADD half numeric GENERATED ALWAYS AS (amount / 2) STORED;
       ALTER TABLE atlas.blocks ADD note text; ALTER TABLE atlas.tokens ADD note text NOT NULL DEFAULT '';
       ALTER TABLE atlas.wallets ADD label text NOT NULL DEFAULT 'none';
       ALTER TABLE atlas.sink ADD note text;
       CREATE VIEW atlas.daily AS SELECT block_number, count(*) FROM atlas.transfers GROUP BY 1;
       CREATE TABLE atlas.seen (id bigint);
       CREATE FUNCTION atlas.note() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO seen VALUES (new.id); RETURN new; END $$;
       CREATE TRIGGER note AFTER INSERT ON atlas.transfers FOR EACH ROW EXECUTE FUNCTION atlas.note()`,
    );
    grow(index, 60, 3);
    await equals();
    await restart();
    reorg(index, 30, 80, 4);
    await equals();
    const [row] = await run(url, 'SELECT count(*)::int AS seen FROM atlas.seen');
    assert.ok(Number(row?.seen) > 0);
  });

  test('works with partitions that were renamed, merged, indexed or added as a default', async (t) => {
    const own = nestedCleanup(t);
    const { url, index, restart, equals } = await written(own);
    await run(
      url,
      `ALTER TABLE atlas.transfers_0 RENAME TO transfers_old;
       CREATE TABLE atlas.transfers_rest PARTITION OF atlas.transfers DEFAULT`,
    );
    grow(index, 30, 3);
    await restart();
    await equals();
    reorg(index, 110, 200, 4);
    await equals();
    const [row] = await run(url, 'SELECT count(*)::int AS rows FROM atlas.transfers_rest');
    assert.equal(row?.rows, 0);
  });

  test('names a detached partition that it writes, and writes on once it is attached', async (t) => {
    const own = nestedCleanup(t);
    const { url, isTold, equals } = await written(own);
    await run(url, 'ALTER TABLE atlas.transfers DETACH PARTITION atlas.transfers_70');
    await isTold(
      /^the table transfers_70 is no partition of transfers any more.*FROM \(70\) TO \(140\)\), or rename it/,
    );
    await run(
      url,
      'ALTER TABLE atlas.transfers ATTACH PARTITION atlas.transfers_70 FOR VALUES FROM (70) TO (140)',
    );
    await equals();
  });

  test('goes on without an old partition that was detached', async (t) => {
    const own = nestedCleanup(t);
    const { url, index, restart, stop } = await written(own);
    await run(url, 'ALTER TABLE atlas.transfers DETACH PARTITION atlas.transfers_0');
    await restart();
    grow(index, 50, 3);
    const isWritten = async () =>
      (await run(url, 'SELECT head_block FROM atlas.sink'))[0]?.head_block ===
      String(index.writer.head()?.number);
    await waitFor(isWritten, { what: 'the new blocks' });
    await stop();
  });

  for (const [what, change, reason, undo] of [
    [
      'a renamed column',
      'ALTER TABLE atlas.transfers RENAME amount TO value',
      /^the column transfers.amount in the schema "atlas" is missing: rename it back/,
      'ALTER TABLE atlas.transfers RENAME value TO amount',
    ],
    [
      'a changed type',
      'ALTER TABLE atlas.blocks ALTER last_transfer TYPE numeric',
      /^the column blocks.last_transfer in the schema "atlas" is numeric, not bigint: change it back/,
      'ALTER TABLE atlas.blocks ALTER last_transfer TYPE bigint',
    ],
    [
      'a new column that must not be null',
      'ALTER TABLE atlas.blocks ADD note text; UPDATE atlas.blocks SET note = 1; ALTER TABLE atlas.blocks ' +
        'ALTER note SET NOT NULL',
      /^the column blocks.note in the schema "atlas", which the sink does not fill, is NOT NULL: give it a default/,
      "ALTER TABLE atlas.blocks ALTER note SET DEFAULT ''",
    ],
    [
      'a trigger that fails',
      `CREATE FUNCTION atlas.boom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
       CREATE TRIGGER boom BEFORE INSERT ON atlas.blocks EXECUTE FUNCTION atlas.boom()`,
      /a function that the operator added to a table, such as a trigger, failed \(P0001\): mend or drop it/,
      'DROP TRIGGER boom ON atlas.blocks',
    ],
    [
      'a constraint',
      'ALTER TABLE atlas.blocks ADD CONSTRAINT few CHECK (number <= 100)',
      /the constraint few of the table blocks refuses a row: drop it/,
      'ALTER TABLE atlas.blocks DROP CONSTRAINT few',
    ],
    [
      'a server that only reads',
      `ALTER DATABASE DATABASE SET default_transaction_read_only = on; SELECT pg_terminate_backend(pid)
       FROM pg_stat_activity WHERE application_name = 'atlas-node sink'`,
      /^PostgreSQL refuses: it is read-only: a standby, or default_transaction_read_only is on; name the primary/,
      'SET TRANSACTION READ WRITE; ALTER DATABASE DATABASE RESET default_transaction_read_only',
    ],
  ] as const) {
    test(`says what to do about ${what}, and goes on after it`, async (t) => {
      const own = nestedCleanup(t);
      const { url, isTold, equals } = await written(own);
      const name = new URL(url).pathname.slice(1);
      await run(url, change.replace('DATABASE DATABASE', `DATABASE ${name}`));
      await isTold(reason);
      await run(url, undo.replace('DATABASE DATABASE', `DATABASE ${name}`));
      await equals();
    });
  }

  test('says that another session holds a lock, and goes on after it', async (t) => {
    const own = nestedCleanup(t);
    const { url, isTold, equals } = await written(own);
    const holder = postgres(url, { max: 1, onnotice: () => undefined });
    own.after(() => holder.end({ timeout: 1 }));
    await holder.unsafe('BEGIN; LOCK TABLE atlas.blocks IN SHARE MODE').simple();
    await isTold(/another session holds a lock on the tables: end it, or wait/);
    await holder.end({ timeout: 1 });
    await equals();
  });

  test('works in a schema that another user made, with that user’s timeouts and search path', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 100, 1);
    const direct = await server.createDatabase('limited');
    // Longer than a busy machine takes to replace the limits, shorter than the trigger sleeps.
    await run(
      direct,
      `CREATE ROLE guest LOGIN; CREATE SCHEMA atlas; CREATE SCHEMA atlas_keys;
       REVOKE CREATE ON DATABASE limited FROM PUBLIC; GRANT USAGE, CREATE ON SCHEMA atlas, atlas_keys TO guest;
       ALTER ROLE guest SET statement_timeout = 3000; ALTER ROLE guest SET transaction_timeout = 3000;
       ALTER ROLE guest SET idle_in_transaction_session_timeout = 3000;
       ALTER ROLE guest SET idle_session_timeout = 3000;
       ALTER ROLE guest SET search_path = nowhere; ALTER ROLE guest SET timezone = 'Asia/Tokyo';
       ALTER ROLE guest SET bytea_output = 'escape'; ALTER ROLE guest SET datestyle = 'SQL, DMY'`,
    );
    const url = direct.replace('atlas@', 'guest@');
    const sink = startSink(own, index, { url, direct });
    await sink.equals();
    await run(
      direct,
      `CREATE FUNCTION atlas.slow() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN PERFORM pg_sleep(4); RETURN new; END $$;
       CREATE TRIGGER slow BEFORE INSERT ON atlas.blocks EXECUTE FUNCTION atlas.slow()`,
    );
    reorg(index, 40, 60, 2);
    await sink.equals();
    assert.equal(sink.client.status.errors, 0, sink.logs.join());
    const session = await ClusterSession.open(url);
    await session.close();
  });

  test('names the limit on connections', async (t) => {
    const own = nestedCleanup(t);
    const url = server.url();
    await run(url, 'CREATE ROLE crowd LOGIN CONNECTION LIMIT 0');
    const index = createIndex(own, 1);
    grow(index, 5, 1);
    const { client } = startSink(own, index, { url: url.replace('atlas@', 'crowd@') });
    const reason = await waitFor(() => client.status.reason, { what: 'the reason' });
    assert.match(reason, /no free connection: raise max_connections, or the limit of the user or database/);
  });

  test('names a pooler in transaction mode, also after it kept the lock, for the sink and the keys', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 20, 1);
    const direct = await server.createDatabase('pooled');
    const url = direct.replace(`:${server.port}/`, `:${await startTransactionPooler(own, server.port)}/`);
    const { client } = startSink(own, index, { url });
    const reasons = new Set<string>();
    await waitFor(
      () => {
        if (client.status.reason !== null) reasons.add(client.status.reason);
        return client.status.errors >= 3;
      },
      { what: 'three attempts' },
    );
    assert.equal(reasons.size, 1, [...reasons].join('\n'));
    assert.match(
      [...reasons].join(),
      /^a pooler .* name PostgreSQL itself in sink.postgres.url, or set pool_mode = session/,
    );
    await assert.rejects(
      async () => {
        const session = await ClusterSession.open(url);
        await session.write(async () => undefined);
      },
      (error) => /^a pooler .* in access.postgres, or set pool_mode/.test(keysReason(error)),
    );
  });
});
