/** The whole daemon against a real development node: live following, reorgs, bursts and contracts that come and go. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, suite, type TestContext, test } from 'node:test';
import { createPublicClient, http } from 'viem';
import { type Anvil, startAnvil } from '../src/dev/anvil.ts';
import type { DemoContracts } from '../src/dev/contracts.ts';
import { deployDemo } from '../src/dev/deploy.ts';
import { generateTraffic } from '../src/dev/traffic.ts';
import { toQuantity } from '../src/lib/hex.ts';
import { suiteCleanup } from './support/cleanup.ts';
import { startTestDaemon, type TestDaemon } from './support/daemon/daemon.ts';
import { buildIndex } from './support/index/build-index.ts';
import { dumpIndex } from './support/index/dump.ts';
import { indexedTransfers } from './support/index/index-rows.ts';
import { withClient } from './support/index/verify.ts';
import { tempDir } from './support/temp-dir.ts';
import { waitFor } from './support/wait.ts';

const headOf = async (anvil: Anvil): Promise<number> => Number(await anvil.call('eth_blockNumber'));

async function hashOf(anvil: Anvil, number: number): Promise<string> {
  const block = (await anvil.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as {
    hash: string;
  };
  return block.hash;
}

/** Waits until the index is at the node's current head, by hash. */
async function caughtUp(anvil: Anvil, daemon: TestDaemon): Promise<void> {
  const head = await headOf(anvil);
  const hash = await hashOf(anvil, head);
  await waitFor(() => daemon.daemon.status().head?.hash === hash, {
    what: `the index to reach block ${head} ${hash}`,
  });
}

/** Every row of a fresh index of the same chain. */
async function freshDump(t: TestContext, anvil: Anvil): Promise<string[]> {
  return dumpIndex(await buildIndex({ url: anvil.url, dir: tempDir(t) }));
}

suite('a daemon that follows a development node', () => {
  const cleanup = suiteCleanup();
  const dataDir = tempDir(cleanup);
  let anvil: Anvil;
  let daemon: TestDaemon;
  let contracts: DemoContracts;

  const start = () =>
    startTestDaemon(cleanup, {
      flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl, '--start-block': 'earliest' },
      dataDir,
    });
  /** Stops the daemon. Its index must equal a fresh one of the same chain. */
  const stopAndCompare = async (t: TestContext) => {
    await daemon.daemon.close();
    assert.deepEqual(dumpIndex(join(dataDir, 'index.db')), await freshDump(t, anvil));
  };

  before(async () => {
    anvil = await startAnvil({ manual: true });
    cleanup.after(() => anvil.stop());
    daemon = await start();
    contracts = await deployDemo(anvil.url, { mine: true });
    await generateTraffic(anvil.url, contracts, { rounds: 2, mine: true });
    await caughtUp(anvil, daemon);
  });

  test('every account holds what its indexed native transfers and fees explain', async () => {
    const client = createPublicClient({ transport: http(anvil.url) });
    const fees = await feesPaid(anvil);
    const burned = await burnedContracts(anvil);
    const net = new Map<string, bigint>();
    for (const { kind, from, to, amount } of indexedTransfers(daemon.dataDir)) {
      if (!kind.startsWith('native')) continue;
      net.set(from, (net.get(from) ?? 0n) - amount);
      net.set(to, (net.get(to) ?? 0n) + amount);
    }
    assert.ok(net.size > 50, `${net.size} accounts moved native value`);
    for (const [address, sum] of net) {
      const account = address as `0x${string}`;
      const before = await client.getBalance({ address: account, blockNumber: 0n });
      const after = await client.getBalance({ address: account });
      // A contract that destroys itself in its first transaction, in its own favour, burns its balance (EIP-6780).
      const explained = burned.has(address) ? 0n : before + sum - (fees.get(address) ?? 0n);
      assert.equal(after, explained, `balance of ${address}`);
    }
    assert.ok(burned.size > 0, 'the traffic holds a contract that destroyed itself in its own favour');
  });

  test('viem works through /rpc as it does with the node itself', async () => {
    const direct = createPublicClient({ transport: http(anvil.url) });
    const through = createPublicClient({
      transport: http(`${daemon.url}/rpc`, { fetchOptions: { headers: { 'X-API-Key': daemon.key } } }),
    });
    const head = BigInt(await headOf(anvil));
    const asks = (client: typeof direct) =>
      Promise.all([
        client.getBlock({ blockNumber: head, includeTransactions: true }),
        client.getLogs({ fromBlock: 0n, toBlock: head }),
        client.getChainId(),
        client.getBlockNumber(),
        client.getCode({ address: contracts.token }),
      ]);
    assert.deepEqual(await asks(through), await asks(direct));
  });

  test('a burst of 500 pooled transactions in one block is indexed completely and in order', async () => {
    const [from = ''] = (await anvil.call('eth_accounts')) as string[];
    const first = Number(await anvil.call('eth_getTransactionCount', [from, 'latest']));
    const receiver = (i: number): string => `0x${(0x1000 + i).toString(16).padStart(40, '0')}`;
    const payments = Array.from({ length: 500 }, (_, i) => ({
      method: 'eth_sendTransaction',
      params: [
        {
          from,
          to: receiver(i),
          value: toQuantity(i + 1),
          gas: toQuantity(21_000),
          nonce: toQuantity(first + i),
        },
      ],
    }));
    const { txCount: before } = await daemon.get('wallet_summary', { address: from });
    await withClient(anvil.url, (client) => client.batch(payments));
    await anvil.call('anvil_mine', ['0x1']);
    await caughtUp(anvil, daemon);
    const head = await headOf(anvil);
    assert.deepEqual(
      indexedTransfers(dataDir)
        .filter(({ block }) => block === head)
        .map(({ to, amount, kind }) => [to, amount, kind]),
      Array.from({ length: 500 }, (_, i) => [receiver(i), BigInt(i + 1), 'native_direct']),
    );
    const { txCount } = await daemon.get('wallet_summary', { address: from });
    assert.equal(txCount, Number(before) + 500);
  });

  test('anvil_reorg while following: the index equals a fresh index of the winning chain', async (t) => {
    for (const depth of [1, 3, 8]) {
      await anvil.call('anvil_reorg', [depth, []]);
      await caughtUp(anvil, daemon);
    }
    await anvil.call('anvil_mine', ['0x2']);
    await caughtUp(anvil, daemon);
    const { reorgs, deepestReorg } = daemon.daemon.status();
    assert.deepEqual({ reorgs, deepestReorg }, { reorgs: 3, deepestReorg: 8 });
    await stopAndCompare(t);
  });

  test('an index that follows resumes after a stop while the chain went on and was reorganised', async (t) => {
    await anvil.call('anvil_reorg', [5, []]);
    await anvil.call('anvil_mine', ['0x3']);
    daemon = await start();
    await caughtUp(anvil, daemon);
    await stopAndCompare(t);
  });
});

/** Contracts that named themselves as the beneficiary of their SELFDESTRUCT. */
async function burnedContracts(anvil: Anvil): Promise<Set<string>> {
  const burned = new Set<string>();
  const head = await headOf(anvil);
  for (let number = 1; number <= head; number++) {
    const traces = (await anvil.call('trace_block', [`0x${number.toString(16)}`])) as {
      type: string;
      error?: string;
      action: { address?: string; refundAddress?: string };
    }[];
    for (const { type, error, action } of traces) {
      if (type === 'suicide' && !error && action.address && action.address === action.refundAddress)
        burned.add(action.address);
    }
  }
  return burned;
}

/** Gas fees of every sender over the whole chain; anvil's fee recipient is the zero address, which sends nothing. */
async function feesPaid(anvil: Anvil): Promise<Map<string, bigint>> {
  const fees = new Map<string, bigint>();
  const head = await headOf(anvil);
  for (let number = 1; number <= head; number++) {
    const receipts = (await anvil.call('eth_getBlockReceipts', [`0x${number.toString(16)}`])) as Record<
      string,
      string
    >[];
    for (const { from = '', gasUsed = '0x0', effectiveGasPrice = '0x0' } of receipts) {
      fees.set(from, (fees.get(from) ?? 0n) + BigInt(gasUsed) * BigInt(effectiveGasPrice));
    }
  }
  return fees;
}
