import assert from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { nestedCleanup } from '../support/cleanup.ts';
import { startPostgres } from '../support/sink/postgres.ts';

test('the PostgreSQL of the tests comes back on its port with its data after a kill and a stop', async (t) => {
  const server = await startPostgres(nestedCleanup(t));
  const url = await server.createDatabase('facts');
  const ask = async (statement: string) => {
    const sql = postgres(url, { max: 1 });
    try {
      return (await sql.unsafe(statement)).map((row) => Object.values(row).join());
    } finally {
      await sql.end();
    }
  };
  await ask('CREATE TABLE fact AS SELECT 1 AS n');
  await server.kill();
  assert.equal(server.pid, 0);
  await server.start();
  await ask('INSERT INTO fact VALUES (2)');
  await server.stop();
  await server.start();
  assert.deepEqual(await ask('SELECT n FROM fact ORDER BY n'), ['1', '2']);
});
