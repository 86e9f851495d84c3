import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startAnvil } from '../../src/dev/anvil.ts';
import { ListenError } from '../../src/lib/errors.ts';
import { acquireWriterLock } from '../../src/store/file-guard.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { waitFor } from '../support/wait.ts';

test('a daemon that cannot listen leaves no timer behind', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const begun = t.mock.method(globalThis, 'setInterval').mock;
  const ended = t.mock.method(globalThis, 'clearInterval').mock;

  await assert.rejects(
    startTestDaemon(t, { flags: { '--node-http': 'http://127.0.0.1:1', '--port': String(port) } }),
    ListenError,
  );
  const cleared = new Set(ended.calls.map((call) => call.arguments[0]));
  const left = begun.calls.filter(({ result }) => !cleared.has(result));
  assert.ok(begun.callCount() > 0);
  assert.deepEqual(
    left.map(({ stack }) => stack.stack),
    [],
  );
});

test('only the daemon may write its index, from before it serves until it is closed', async (t) => {
  const { daemon, dataDir } = await startTestDaemon(t, { flags: { '--node-http': 'http://127.0.0.1:1' } });
  const path = join(dataDir, 'index.db');
  assert.throws(() => acquireWriterLock(path), /another atlas-node is writing .*stop it first/);
  await daemon.close();
  acquireWriterLock(path).release();
});

test('when the chain is replaced, indexing stops and no answer comes from the old chain', async (context) => {
  const t = nestedCleanup(context);
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const snapshot = await anvil.call('evm_snapshot');
  await anvil.call('anvil_mine', ['0xc8']);
  const served = await startTestDaemon(t, { flags: { '--node-http': anvil.url } });
  await served.reaches(200);
  const ask = async () => {
    const response = await fetch(`${served.url}/rpc`, {
      method: 'POST',
      headers: { 'X-API-Key': served.key, 'Content-Type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x5",false]}',
    });
    return ((await response.json()) as { result: { hash: string } | null }).result?.hash;
  };
  // Often enough for the block to become final and for its answer to be cached.
  for (let asked = 0; asked < 10; asked++) {
    assert.ok(await ask());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await anvil.call('evm_revert', [snapshot]);
  await anvil.call('anvil_mine', ['0x1', '0x64']);
  await waitFor(() => served.daemon.status().nodeChain === 'behind', { what: 'the new chain to be noticed' });
  await waitFor(async () => (await ask()) === undefined, { what: 'the answer of the new chain' });
  assert.equal(served.daemon.status().head?.number, 200);
});
