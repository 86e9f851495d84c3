/** Which holders are contracts, asked from a real node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedWallets } from '../../src/indexer/asked-wallets.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import { CodeRequests, runWalletCodeLoop } from '../../src/tokens/wallet-code-loop.ts';
import { startOddChain } from '../support/chain/odd-tokens.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { SILENT } from '../support/logs.ts';
import { waitFor } from '../support/wait.ts';

test('the running daemon finds out which holders are contracts, once they are listed', async (t) => {
  const chain = await startOddChain(t);
  const token = await chain.deploy('PlainToken');
  const [, wallet, contract, delegating] = chain.accounts;
  await chain.anvil.call('anvil_setCode', [contract, '0x6001']);
  await chain.anvil.call('anvil_setCode', [delegating, `0xef0100${token.slice(2)}`]);
  for (const [to, amount] of [
    [1, 10],
    [2, 30],
    [3, 20],
  ] as const)
    await chain.mint(token, to, amount);
  const daemon = await startTestDaemon(t, { flags: { '--node-http': chain.anvil.url } });
  const holders = async (query: Record<string, string>) => {
    const answer = await daemon.get('token_holders', { token, ...query });
    assert.ok(Array.isArray(answer.holders));
    return answer.holders.map(({ address, contract }) => [address, contract]);
  };
  await waitFor(async () => (await holders({})).length === 2, { what: 'the contract to be left out' });
  assert.deepEqual(await holders({}), [
    [delegating, false],
    [wallet, false],
  ]);
  assert.deepEqual(await holders({ include_contracts: 'true', limit: '1' }), [[contract, true]]);
});

test('a rollback forgets the code of wallets that was read at a removed block', (t) => {
  const index = createIndex(t);
  for (const name of ['a', 'b', 'c']) index.append([{ [name]: [{ from: 'rich', to: name }] }]);
  const head = index.writer.head()?.number ?? 0;
  index.writer.saveCode(new Map([[1, true]]), head - 1);
  index.writer.saveCode(
    new Map([
      [2, true],
      [3, false],
    ]),
    head,
  );
  const unread = () => index.writer.unreadCode([1, 2, 3]).map(({ wallet }) => wallet);
  assert.deepEqual(unread(), []);
  index.writer.rollback(head - 1);
  assert.deepEqual(unread(), [2, 3]);
});

test('a wallet whose code cannot be read holds up no other', async (t) => {
  const index = createIndex(t);
  index.append([{ a: ['x', 'y', 'z'].map((to) => ({ from: 'rich', to })) }]);
  const head = index.writer.head();
  const requests = new CodeRequests();
  requests.add([1, 2, 3]);
  const stop = new AbortController();
  const client = {
    batch: async () => [
      { result: '0x' },
      { error: new UpstreamError('rpc', 'no state of this account') },
      { result: '0x6001' },
      {
        result: {
          number: `0x${head?.number.toString(16)}`,
          hash: head?.hash,
          parentHash: `0x${'0'.repeat(64)}`,
          timestamp: '0x1',
        },
      },
    ],
  };
  const options = { store: index.writer, client, requests, isFollowing: () => true, log: SILENT };
  const ended = runWalletCodeLoop(options, stop.signal);
  await waitFor(() => requests.next().length === 0, { what: 'the requests to be done' });
  stop.abort();
  await ended;
  assert.deepEqual(
    index.writer.unreadCode([1, 2, 3]).map(({ wallet }) => wallet),
    [2],
  );
});

test('the indexer is asked about a wallet once in ten seconds', () => {
  const asked = new AskedWallets();
  assert.deepEqual(asked.add([1, 2], 0), [1, 2]);
  assert.deepEqual(asked.add([2, 3], 9_999), [3]);
  assert.deepEqual(asked.add([2, 3], 10_000), [2, 3]);
  const many = Array.from({ length: 30_000 }, (_, i) => i + 10);
  assert.equal(asked.add(many, 10_001).length, 19_998);
});
