/** Which holders are contracts, asked from a real node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOddChain } from '../support/chain/odd-tokens.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { createIndex } from '../support/index/index-fixture.ts';
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
