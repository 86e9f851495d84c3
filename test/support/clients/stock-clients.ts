/** Stock clients as created in their documentation, without settings, each sending a number of calls at once. */
import { JsonRpcProvider } from 'ethers';
import { providers } from 'ethers-v5';
import { createPublicClient, http } from 'viem';
import { Web3 } from 'web3';
import type { Hex } from '../../../src/lib/hex.ts';

/** The address whose balance call `i` reads, and the test node's balance for it. */
export function addressOf(i: number): Hex {
  return `0x${(i + 1).toString(16).padStart(40, '0')}`;
}
export function balanceOf(address: string): bigint {
  return BigInt(address) * 7n;
}

/** Reads the balances of the addresses 0 to `count` - 1 at once. `url` contains the key. */
export type StockClient = (url: string, count: number) => Promise<PromiseSettledResult<bigint>[]>;

const all = (count: number, read: (address: Hex) => Promise<bigint>) =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => read(addressOf(i))));

const viem =
  (batch: boolean): StockClient =>
  (url, count) => {
    const client = createPublicClient({ transport: batch ? http(url, { batch }) : http(url) });
    return all(count, (address) => client.getBalance({ address }));
  };

const ethers6: StockClient = async (url, count) => {
  const provider = new JsonRpcProvider(url);
  const results = await all(count, (address) => provider.getBalance(address));
  provider.destroy();
  return results;
};

const ethers5 =
  (Provider: typeof providers.JsonRpcProvider): StockClient =>
  (url, count) => {
    const provider = new Provider(url);
    return all(count, async (address) => (await provider.getBalance(address)).toBigInt());
  };

const web3Batch =
  (options?: { timeout: number }): StockClient =>
  async (url, count) => {
    const batch = new new Web3(url).BatchRequest();
    const results = all(count, async (address) =>
      BigInt(String(await batch.add({ method: 'eth_getBalance', params: [address, 'latest'] }))),
    );
    await batch.execute(options).catch(() => undefined); // each call rejects with the same error
    return results;
  };

const web3Single: StockClient = (url, count) => {
  const web3 = new Web3(url);
  return all(count, (address) => web3.eth.getBalance(address));
};

/** Clients that batch: every tier answers up to 1,000 of their calls at once. */
export const BATCHING: Record<string, StockClient> = {
  'viem, batch: true': viem(true),
  'ethers 6': ethers6,
  'ethers 5 JsonRpcBatchProvider': ethers5(providers.JsonRpcBatchProvider),
  'web3 4 BatchRequest': web3Batch(),
};

/** web3 gives up on a batch after a second, all of which a loaded machine needs for the client alone. */
export const WEB3_GIVES_UP = 'Batch request timeout';
export const PATIENT_WEB3 = web3Batch({ timeout: 60_000 });

/** Clients that send single calls: the rate determines how many are answered before they give up. */
export const SINGLE: Record<string, StockClient> = {
  viem: viem(false),
  'ethers 5 JsonRpcProvider': ethers5(providers.JsonRpcProvider),
  'web3 4': web3Single,
};
