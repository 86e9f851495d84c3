/** A real chain whose blocks a test mines, and the filters of a gateway before it. */
import type { TestContext } from 'node:test';
import { createWalletClient, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { type Anvil, startAnvil } from '../../../src/dev/anvil.ts';
import contracts from '../../../src/dev/contracts.json' with { type: 'json' };
import type { Hex } from '../../../src/lib/hex.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../gateway.ts';

const SECRET: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

export const WRAPPED = parseAbi([
  'function deposit() payable',
  'event Deposit(address indexed dst, uint256 wad)',
]);

export interface Log {
  blockHash: string;
  blockNumber: string;
  data: string;
  removed: boolean;
}

interface Chain {
  anvil: Anvil;
  gateway: TestGateway;
  /** The contract that emits a log for each deposit. */
  address: Hex;
  deposit(value: number): Promise<void>;
  mine(blocks?: number): Promise<void>;
  reorganise(depth: number): Promise<void>;
  newestHashes(count: number): Promise<string[]>;
}

export async function setUp(t: TestContext, options: Partial<TestGatewayOptions> = {}): Promise<Chain> {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const gateway = startGateway(t, { url: anvil.url, ...options });
  const account = privateKeyToAccount(SECRET);
  const wallet = createWalletClient({ account, chain: foundry, transport: http(anvil.url) });
  const mine = async (blocks = 1) => {
    await anvil.call('anvil_mine', [`0x${blocks.toString(16)}`]);
    gateway.handler.headChanged();
  };
  const hash = await wallet.deployContract({ abi: WRAPPED, bytecode: contracts.DemoWrapped.bytecode as Hex });
  await mine();
  const { contractAddress } = (await anvil.call('eth_getTransactionReceipt', [hash])) as {
    contractAddress: Hex;
  };
  await mine(40);
  return {
    anvil,
    gateway,
    address: contractAddress,
    mine,
    async deposit(value) {
      await wallet.writeContract({
        address: contractAddress,
        abi: WRAPPED,
        functionName: 'deposit',
        value: BigInt(value),
        gas: 100_000n,
      });
    },
    async reorganise(depth) {
      await anvil.call('anvil_reorg', [depth, []]);
      gateway.handler.headChanged();
    },
    async newestHashes(count) {
      const head = Number(await anvil.call('eth_blockNumber'));
      const blocks = Array.from({ length: count }, (_, i) => `0x${(head - count + 1 + i).toString(16)}`);
      return Promise.all(
        blocks.map(
          async (id) => ((await anvil.call('eth_getBlockByNumber', [id, false])) as { hash: string }).hash,
        ),
      );
    },
  };
}

export async function changes(gateway: TestGateway, id: unknown): Promise<Log[]> {
  return (await gateway.result('eth_getFilterChanges', id)) as Log[];
}

/** Values of deposits; negative for removed ones. */
export const values = (logs: readonly Log[]) =>
  logs.map(({ data, removed }) => Number(data) * (removed ? -1 : 1));
