import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startAnvil } from '../../src/dev/anvil.ts';
import type { Hex } from '../../src/lib/hex.ts';
import type { BlockRef } from '../../src/model/block.ts';
import { TRANSFER_KIND_NAMES } from '../../src/model/transfer-kind.ts';
import { type RpcCall, RpcClient, type RpcReply } from '../../src/node/client.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { runMetadataLoop } from '../../src/tokens/metadata-loop.ts';
import { TokenRefresh } from '../../src/tokens/token-refresh.ts';
import { receiptOf } from '../support/chain/receipt.ts';
import { compileFixture } from '../support/chain/solidity.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { address, createIndex, headerOf, txHash } from '../support/index/index-fixture.ts';
import { logTo, SILENT } from '../support/logs.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

/** The API's view of each contract of OddNames.sol: name, symbol, decimals. */
const SHOWN: Record<string, [name: string | null, symbol: string | null, decimals: number | null]> = {
  ProperNames: ['Proper Coin', 'PROP', 6],
  BytesNames: ['Maker', 'MKR', 18],
  NoNames: [null, null, null],
  EmptyNames: [null, null, null],
  HostileNames: ['evil <script>alert(1)</script>', 'USDC', null],
  HugeNames: ['N'.repeat(128), 'A'.repeat(64), 255],
  BrokenNames: [null, null, null],
  EndlessNames: [null, null, null],
};

test('serves metadata as soon as it is read, and hostile contracts affect no other token', async (t) => {
  const anvil = await startAnvil();
  t.after(() => anvil.stop());
  const codes = await compileFixture('OddNames.sol');
  const [from] = (await anvil.call('eth_accounts')) as Hex[];
  const contracts = new Map<string, Hex>();
  for (const name of Object.keys(SHOWN)) {
    const hash = await anvil.call('eth_sendTransaction', [{ from, data: codes[name], gas: '0x2dc6c0' }]);
    const { contractAddress } = await receiptOf(anvil, hash);
    assert.ok(contractAddress);
    contracts.set(name, contractAddress);
  }
  const { get, dataDir, daemon } = await startTestDaemon(t, { flags: { '--node-http': anvil.url } });
  const db = await waitFor(() => openDatabase(join(dataDir, 'index.db'), { readonly: true }), {
    what: 'the index',
  });
  t.after(() => db.close());
  const asked = db.prepare<[], number>('SELECT count(*) FROM token_metadata').pluck();
  await waitFor(() => asked.get() === contracts.size, {
    what: 'all contracts to be asked',
  });

  for (const [contract, [name, symbol, decimals]] of Object.entries(SHOWN)) {
    const stats = await get('token_stats', { token: contracts.get(contract)! });
    assert.deepEqual([stats.name, stats.symbol, stats.decimals], [name, symbol, decimals], contract);
  }
  const { transfers } = await get<{ transfers: Record<string, unknown>[] }>('address_transfers', {
    address: from!,
  });
  assert.deepEqual(
    transfers.map(({ tokenAddress, symbol, decimals }) => [tokenAddress, symbol, decimals]),
    [...contracts].map(([contract, token]) => [token, ...SHOWN[contract]!.slice(1)]).reverse(),
  );
  assert.equal(daemon.status().reason, null);
});

test('reads tokens in order of appearance, and retries after a failed call or a rollback', (t) => {
  const { writer, append } = indexOfTokens(t);
  append(['one', 'two', 'three']);
  const unread = (now: number, limit = 10) => writer.unreadTokens(now, limit).map((token) => token.address);
  assert.deepEqual(unread(0, 2), [address('one'), address('two')]);
  assert.deepEqual(unread(0), [address('one'), address('two'), address('three')]);

  const said = { name: 'One', symbol: 'ONE', decimals: 18 };
  writer.saveMetadata([
    { address: address('one'), ...said, tries: 1, retryAt: null },
    { address: address('two'), name: 'Two', symbol: null, decimals: null, tries: 1, retryAt: 100 },
  ]);
  assert.deepEqual(unread(99), [address('three')]);
  assert.deepEqual(unread(100), [address('three'), address('two')]);
  assert.equal(writer.unreadTokens(100, 10)[1]?.tries, 1);
  const day = 86_400;
  writer.saveMetadata([
    { address: address('two'), name: 'Two', symbol: null, decimals: null, tries: 1, retryAt: 1e9 + day },
  ]);
  assert.deepEqual(unread(1e9), [address('three')]);
  assert.deepEqual(unread(1e9 - 1), [address('three'), address('two')], 'the clock was ahead');

  writer.saveMetadata([
    { address: address('two'), name: null, symbol: 'TWO', decimals: 6, tries: 2, retryAt: null },
    { address: address('three'), ...said, tries: 1, retryAt: null },
  ]);
  assert.deepEqual(unread(1e9), []);

  writer.rollback(0);
  append(['four', 'one', 'five']);
  assert.deepEqual(unread(1e9), [address('four'), address('five')]);
});

test('metadata from a node that lacks the head of the index is not stored: another chain, or one behind', async (t) => {
  const { writer, append } = indexOfTokens(t);
  append(['one']);
  const head = writer.head();
  assert.ok(head);
  const foreign = { ...head, hash: txHash('another chain') };
  let tries = 0;
  const client = {
    async batch(calls: readonly RpcCall[]): Promise<RpcReply[]> {
      const isRight = ++tries > 1;
      return calls.map(({ method }) => ({
        result:
          method === 'eth_call'
            ? `0x${(isRight ? '06' : '12').padStart(64, '0')}`
            : headerOf(isRight ? head : foreign),
      }));
    },
  };
  await readAll(writer, client, 'the metadata');
  assert.equal(tries, 2);
});

test('an upgraded token is read again, a contract without token is not; changed decimals are logged', async (t) => {
  const { writer, append } = indexOfTokens(t);
  append(['one']);
  const one = address('one');
  writer.saveMetadata([{ address: one, name: 'A', symbol: 'A', decimals: 18, tries: 1, retryAt: null }]);
  const asked: unknown[] = [];
  const client = {
    async batch(calls: readonly RpcCall[]): Promise<RpcReply[]> {
      asked.push(...calls.flatMap(({ params }) => (params[0] as { to?: string }).to ?? []));
      return calls.map(({ method }) => ({
        result: method === 'eth_call' ? `0x${'06'.padStart(64, '0')}` : headerOf(writer.head()!),
      }));
    },
  };
  const refresh = new TokenRefresh();
  const none = { token: new Int32Array(0), addresses: new Uint8Array(0) };
  refresh.record({ ...none, upgraded: [address('no token'), one] });
  const logs: string[] = [];
  const stop = new AbortController();
  const loop = runMetadataLoop(writer, client, logTo(logs), stop.signal, undefined, refresh);
  await waitFor(() => writer.readToken(one)?.decimals === 6, { what: 'the new decimals' });
  stop.abort();
  await loop;
  assert.deepEqual([...new Set(asked)], [one]);
  assert.match(logs.join(), /a token changed its decimals/);
});

/** Runs the loop until no token is left to read. */
async function readAll(
  writer: Parameters<typeof runMetadataLoop>[0],
  client: Parameters<typeof runMetadataLoop>[1],
  what: string,
) {
  const stop = new AbortController();
  const reading = runMetadataLoop(writer, client, SILENT, stop.signal);
  await waitFor(() => writer.unreadTokens(Date.now() / 1000, 10).length === 0, { what });
  stop.abort();
  await reading;
}

/** A node that rate-limits every contract call, and a client that treats that as an answer. */
async function startBusyNode(t: TestContext, head: () => BlockRef | null) {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  node.misbehave({
    errorFor: { eth_call: { code: -32005, message: 'rate limit exceeded' } },
    replace(method, _params, result) {
      const block = head();
      return method === 'eth_getBlockByNumber' && block !== null ? headerOf(block) : result;
    },
  });
  const client = new RpcClient({
    url: node.url,
    timeoutMs: 20_000,
    maxSockets: 1,
    maxBatch: 60,
    patienceMs: 0,
  });
  t.after(() => client.close());
  return { node, client };
}

test('a busy node does not count as a contract that did not answer', async (t) => {
  const { writer, append } = indexOfTokens(t);
  append(['one']);
  const { client } = await startBusyNode(t, () => writer.head());
  await readAll(writer, client, 'the token to be put off');
  assert.deepEqual(
    writer.unreadTokens(Date.now() / 1000 + 61, 10).map(({ address, tries }) => [address, tries]),
    [[address('one'), 0]],
  );
});

test('while a node is too busy for every contract the pauses between its batches grow', async (t) => {
  const { writer, append } = indexOfTokens(t);
  append(Array.from({ length: 160 }, (_, i) => `token ${i}`));
  const { node, client } = await startBusyNode(t, () => writer.head());
  const stop = new AbortController();
  const warnings: string[] = [];
  const reading = runMetadataLoop(writer, client, logTo(warnings), stop.signal);
  await Promise.race([reading, waitFor(() => warnings.length > 0, { what: 'the failures to be told' })]);
  stop.abort();
  await reading;
  assert.match(warnings[0] ?? '', /"token metadata".*rate limit exceeded/);
  assert.equal(node.requests.length, 2, 'one batch after the other is put off, with a pause between them');
  assert.equal(writer.unreadTokens(Date.now() / 1000, 160).length, 160 - 2 * 16);
});

test('known values stay when a contract no longer returns them', (t) => {
  const { writer, append, path } = indexOfTokens(t);
  append(['one']);
  const one = { address: address('one'), tries: 1, retryAt: null };
  writer.saveMetadata([{ ...one, name: 'One', symbol: null, decimals: 6 }]);
  writer.saveMetadata([{ ...one, name: null, symbol: 'ONE', decimals: null }]);
  const db = openDatabase(path, { readonly: true });
  t.after(() => db.close());
  assert.deepEqual(db.prepare('SELECT name, symbol, decimals FROM token_metadata').get(), {
    name: 'One',
    symbol: 'ONE',
    decimals: 6,
  });
});

test('resumes the scan for unread tokens where it stopped, a bounded number at a time', (t) => {
  const { writer, append } = indexOfTokens(t);
  const names = Array.from({ length: 2_500 }, (_, i) => `token ${i}`);
  append(names);
  const none = { name: null, symbol: null, decimals: null, tries: 1, retryAt: null };
  writer.saveMetadata(names.slice(0, -1).map((name) => ({ address: address(name), ...none })));
  const looks = [1, 2, 3].map(() => writer.unreadTokens(0, 10).map((token) => token.address));
  assert.deepEqual(looks, [[], [], [address('token 2499')]]);
});

/** An index to which tokens can be added, each with a transfer of its own, of any kind. */
function indexOfTokens(t: { after(close: () => void): void }) {
  const index = createIndex(t);
  return {
    writer: index.writer,
    path: index.path,
    append(tokens: readonly string[]) {
      const kinds = TRANSFER_KIND_NAMES.filter((kind) => !kind.startsWith('native'));
      index.append([
        {
          mint: tokens.map((token, i) => ({
            kind: kinds[i % kinds.length]!,
            from: 'zero',
            to: 'alice',
            token,
          })),
        },
      ]);
    },
  };
}
