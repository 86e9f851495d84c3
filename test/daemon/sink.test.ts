import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { StatusClient, urlTarget } from '../../src/cli/status/status-client.ts';
import { statusTable } from '../../src/cli/status/status-table.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { assertSameRows } from '../support/same-rows.ts';
import { startPostgres } from '../support/sink/postgres.ts';
import { expectedSinkRows, storedSinkRows } from '../support/sink/sink-rows.ts';
import { waitFor } from '../support/wait.ts';

test('a daemon writes PostgreSQL, follows reorgs, and reports its progress', async (t) => {
  const own = nestedCleanup(t);
  const server = await startPostgres(own);
  const chain = { seed: 3, blocks: 60, txPerBlock: 10, wallets: 40, tokens: 8 };
  const { node } = await startGeneratedNode(own, chain, { head: 40, finalizedLag: 60 });
  const url = await server.createDatabase('chain');
  const { daemon, dataDir } = await startTestDaemon(own, {
    flags: { '--node-http': node.url },
    env: {
      ATLAS_ADMIN_TOKEN: 'operator-of-the-test',
      ATLAS_SINK__POSTGRES__URL: url,
      ATLAS_SINK__POSTGRES__WALLETS: 'true',
    },
  });
  const client = new StatusClient(urlTarget(daemon.url));
  const writes = (block: number) =>
    waitFor(
      async () => {
        const { sink } = await client.fetch();
        return sink?.state === 'following' && sink.block === block && sink.lagBlocks === 0 ? sink : null;
      },
      { what: `block ${block} in PostgreSQL` },
    );
  const equals = async () =>
    assertSameRows(await storedSinkRows(url), expectedSinkRows(join(dataDir, 'index.db'), { wallets: true }));

  await writes(40);
  await equals();
  node.fork(35);
  const { rollbacks, transfers } = await writes(node.mine(5));
  await equals();
  assert.equal(rollbacks, 1);
  assert.ok(transfers > 0);

  const text = statusTable(await client.fetch(), Date.now());
  assert.match(text, /PostgreSQL +following\n/);
  assert.match(text, new RegExp(`written +schema atlas up to block ${node.stats().head}\n`));
  const panel = await fetch(`${daemon.url}/admin/api/index`, {
    headers: { authorization: 'Bearer operator-of-the-test' },
  });
  assert.match(await panel.text(), /"sink":\{"state":"following"/);

  await server.stop();
  const down = () => client.fetch().then(({ sink }) => (sink?.state === 'connecting' ? sink.reason : null));
  const reason = await waitFor(down, { what: 'the reason' });
  assert.match(reason, /^PostgreSQL cannot be reached|was lost$|is shutting down$/);
  await server.start();
  await writes(node.mine(3));
  await equals();
});
