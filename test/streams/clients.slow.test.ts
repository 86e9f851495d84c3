/** Popular clients on a demo chain: viem and ethers. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { Contract, WebSocketProvider } from 'ethers';
import { createPublicClient, type Log, parseAbiItem, webSocket } from 'viem';
import { WebSocket } from 'ws';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import type { DemoContracts } from '../../src/dev/contracts.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { generateTraffic } from '../../src/dev/traffic.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { suiteCleanup } from '../support/nodes/replay.ts';
import { startTcpProxy } from '../support/nodes/tcp-proxy.ts';
import { waitFor } from '../support/wait.ts';

const TRANSFER = 'event Transfer(address indexed from, address indexed to, uint256 value)';

suite('real clients', () => {
  const owner = suiteCleanup();
  let anvil: Anvil;
  let contracts: DemoContracts;
  let served: TestDaemon;
  let seed = 10;

  before(async () => {
    anvil = await startAnvil({ manual: true });
    owner.after(() => anvil.stop());
    contracts = await deployDemo(anvil.url, { mine: true });
    served = await startTestDaemon(owner, { flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl } });
  });

  const address = (url: string) => `${url.replace('http', 'ws')}/ws?api_key=${served.key}`;
  /** Some blocks with transfers. */
  const traffic = () => generateTraffic(anvil.url, contracts, { rounds: 1, mine: true, seed: seed++ });
  const height = async () => Number(await anvil.call('eth_blockNumber'));
  /** Positions of the token's transfers in blocks after `from`. */
  const transfersAfter = async (from: number) => {
    const filter = { fromBlock: `0x${(from + 1).toString(16)}`, toBlock: 'latest', address: contracts.token };
    const logs = (await anvil.call('eth_getLogs', [filter])) as {
      blockNumber: string;
      logIndex: string;
      topics: string[];
    }[];
    const signature = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
    return logs
      .filter(({ topics }) => topics[0] === signature && topics.length === 3)
      .map(({ blockNumber, logIndex }) => `${Number(blockNumber)}.${Number(logIndex)}`);
  };

  test('viem watches blocks and events and resumes after a dropped connection', async () => {
    const proxy = await startTcpProxy(owner, Number(new URL(served.url).port));
    const client = createPublicClient({
      transport: webSocket(address(proxy.url), { reconnect: { delay: 50, attempts: 20 }, retryCount: 0 }),
    });
    const blocks: bigint[] = [];
    const events: Log[] = [];
    const endBlocks = client.watchBlocks({
      // viem reports a block that it could not fetch, for example because the connection ended, as undefined.
      onBlock: (block: { number: bigint } | undefined) => {
        if (block !== undefined) blocks.push(block.number);
      },
      onError: () => undefined,
    });
    const endEvents = client.watchEvent({
      address: contracts.token,
      event: parseAbiItem(TRANSFER),
      onLogs: (logs) => events.push(...logs),
      onError: () => undefined,
    });
    const rpc = await client.transport.getRpcClient();
    owner.after(() => rpc.close());
    /** Waits for the two renewed subscriptions, after those with the given ids. */
    const subscribed = async (old: ReadonlySet<unknown>) => {
      const ids = () => [...rpc.subscriptions.keys()].filter((id) => !old.has(id));
      await waitFor(() => ids().length === 2, { what: 'both subscriptions' });
      return new Set<unknown>(ids());
    };
    const follows = async () => {
      const from = await height();
      const known = events.length;
      await traffic();
      const last = await height();
      // viem fetches each announced block separately, and a later one may arrive first.
      await waitFor(() => blocks.includes(BigInt(last)), { what: `block ${last}` });
      const expected = await transfersAfter(from);
      await waitFor(() => events.length >= known + expected.length, { what: 'the transfers' });
      assert.deepEqual(
        events.slice(known).map(({ blockNumber, logIndex }) => `${blockNumber}.${logIndex}`),
        expected,
      );
    };
    assert.equal(await client.getChainId(), 31337);
    const first = await subscribed(new Set());
    await follows();
    proxy.cut();
    await subscribed(first);
    await follows();
    endBlocks();
    endEvents();
  });

  test('ethers gets blocks and contract events', async () => {
    const socket = new WebSocket(address(served.url));
    let subscriptions = 0;
    socket.on('message', (data) => {
      if (/"result":"0x[0-9a-f]{32}"/.test(String(data))) subscriptions++;
    });
    const provider = new WebSocketProvider(() => socket);
    const contract = new Contract(contracts.token, [TRANSFER], provider);
    const blocks: number[] = [];
    const events: string[] = [];
    await provider.on('block', (number: number) => blocks.push(number));
    await contract.on(
      'Transfer',
      (_from, _to, _value, { log }: { log: { blockNumber: number; index: number } }) => {
        events.push(`${log.blockNumber}.${log.index}`);
      },
    );
    // ethers does not wait for its subscriptions.
    await waitFor(() => subscriptions === 2, { what: 'both subscriptions' });
    const from = await height();
    await traffic();
    const expected = await transfersAfter(from);
    const last = await height();
    await waitFor(() => blocks.at(-1) === last && events.length >= expected.length, {
      what: 'blocks and events',
    });
    assert.deepEqual(events, expected);
    assert.deepEqual(
      blocks,
      Array.from({ length: last - from }, (_, i) => from + 1 + i),
    );
    await contract.removeAllListeners();
    await provider.removeAllListeners();
    // The unsubscribes, which ethers does not await, are answered before this call.
    await provider.send('eth_chainId', []);
    await provider.destroy();
  });
});
