/** Streams of transfers over a development node: reorgs, and the words of tokens. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { encodeFunctionData, type Hex } from 'viem';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { abis, type DemoContracts } from '../../src/dev/contracts.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { address as addressOf } from '../support/index/index-fixture.ts';
import { suiteCleanup } from '../support/nodes/replay.ts';
import { waitFor } from '../support/wait.ts';
import { StreamClient } from './client.ts';
import { asRecord, remaining, type StreamedTransfer, transfersOf } from './record.ts';

suite('streams over a development node', () => {
  const owner = suiteCleanup();
  let anvil: Anvil;
  let contracts: DemoContracts;
  let served: TestDaemon;

  before(async () => {
    anvil = await startAnvil({ manual: true });
    owner.after(() => anvil.stop());
    contracts = await deployDemo(anvil.url, { mine: true });
    served = await startTestDaemon(owner, { flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl } });
  });

  test('a reorg removes transfers, newest first, before the new branch is pushed', async () => {
    const client = await StreamClient.open(owner, served.url, served.key);
    const [wallet] = (await anvil.call('eth_accounts')) as string[];
    const feed = await client.subscribe<StreamedTransfer>('wallet_transfers', {
      address: wallet,
      fromBlock: 1,
    });
    const send = (value: string) => anvil.call('eth_sendTransaction', [{ from: wallet, to: wallet, value }]);
    for (const value of ['0x1', '0x2']) {
      await send(value);
      await anvil.call('evm_mine');
    }
    const shown = async () => (await transfersOf(served, wallet ?? '')).slice(-2).map(({ amount }) => amount);
    await waitFor(async () => String(await shown()) === '1,2', { what: 'both transfers in the index' });
    await anvil.call('anvil_reorg', [2, []]);
    await send('0x3');
    await anvil.call('evm_mine');
    await waitFor(async () => (await shown()).at(-1) === '3', { what: 'the new transfer in the index' });
    await waitFor(() => feed.results.at(-1)?.amount === '3', { what: 'the new transfer in the stream' });
    assert.deepEqual(
      feed.results.slice(-5).map(({ amount, removed }) => (removed ? `-${amount}` : amount)),
      ['1', '2', '-2', '-1', '3'],
    );
    // The metadata of a token may have become known meanwhile.
    const ids = (transfers: readonly { id: number; txHash: string }[]) =>
      transfers.map(({ id, txHash }) => [id, txHash]);
    assert.deepEqual(ids(remaining(feed.results)), ids(await transfersOf(served, wallet ?? '')));
    client.socket.close();
  });

  test('live, replayed and removed transfers carry the symbol and decimals of their asset', async () => {
    interface Told extends StreamedTransfer {
      decimals: number | null;
    }
    const wallet = addressOf('holder of dollars');
    const { stable } = contracts;
    const [from] = (await anvil.call('eth_accounts')) as string[];
    const send = async (transaction: { to: string; value?: string; data?: Hex }) => {
      await anvil.call('eth_sendTransaction', [{ from, gas: '0x2dc6c0', ...transaction }]);
      await anvil.call('evm_mine');
    };
    const mint = (amount: bigint) => {
      const call = { abi: abis.DemoToken, functionName: 'mint', args: [wallet, amount] } as const;
      return send({ to: stable, data: encodeFunctionData(call) });
    };
    await mint(1_000_000n);
    await served.reaches(Number(await anvil.call('eth_blockNumber')));
    const known = async () => (await served.get('token_stats', { token: stable })).decimals === 6;
    await waitFor(known, { what: 'the words of the contract' });

    const client = await StreamClient.open(owner, served.url, served.key);
    const signals = await StreamClient.open(owner, served.url, served.key, '/ws/signals');
    const live = await client.subscribe<Told>('wallet_transfers', { address: wallet });
    const replayed = await client.subscribe<Told>('wallet_transfers', { address: wallet, fromBlock: 1 });
    const bought = await signals.signals<{ symbol: string; decimals: number }>({ wallets: [wallet] });
    await mint(2_000_000n);
    await send({ to: wallet, value: '0x5' });
    await waitFor(() => live.results.length === 2 && replayed.results.length === 3, {
      what: 'all transfers',
    });
    await waitFor(() => bought.results.length === 2, { what: 'both signals' });
    const words = ({ symbol, decimals, amount }: Told) => [amount, symbol, decimals];
    assert.deepEqual(replayed.results.map(words), [
      ['1000000', 'DUSD', 6],
      ['2000000', 'DUSD', 6],
      ['5', 'MON', 18],
    ]);
    assert.deepEqual(live.results, replayed.results.slice(1));
    assert.deepEqual(replayed.results.map(asRecord), await transfersOf(served, wallet));
    assert.deepEqual(
      bought.results.map(({ symbol, decimals }) => [symbol, decimals]),
      [
        ['DUSD', 6],
        ['MON', 18],
      ],
    );
    const { symbol, decimals } = await served.get('token_holders', { token: stable });
    assert.deepEqual([symbol, decimals], ['DUSD', 6]);

    await anvil.call('anvil_reorg', [2, []]);
    await anvil.call('evm_mine');
    await waitFor(() => live.results.length === 4, { what: 'both to be taken back' });
    assert.deepEqual(
      live.results.slice(2),
      live.results
        .slice(0, 2)
        .reverse()
        .map((transfer) => ({ ...transfer, removed: true })),
    );
    client.socket.close();
    signals.socket.close();
  });
});
