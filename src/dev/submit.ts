/** Sends planned transactions to a chain and checks that their outcome matches the plan. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPublicClient,
  createTestClient,
  http,
  type PublicClient,
  type RpcTransactionReceipt,
} from 'viem';
import type { Hex } from '../lib/hex.ts';
import { CALL_GAS, type PlannedTransaction, type Stage } from './planned-transaction.ts';

export interface SubmitOptions {
  /** Mine blocks until the transactions are in, instead of waiting for the chain to mine. */
  mine?: boolean;
  /** Ends the wait for blocks; `run` then rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface Submitter {
  /**
   * Sends the transactions, waits until all are mined and returns their receipts in order. Throws when the node refuses
   * a transaction, when one is not mined within half a minute, or when an outcome differs from the plan.
   */
  run(stage: Stage): Promise<RpcTransactionReceipt[]>;
}

const MINED_TIMEOUT_MS = 30_000;
const POLL_MS = 25;
/** Far above the fees of any development chain. */
const MAX_FEE_PER_GAS = 50n * 10n ** 9n;
const PRIORITY_FEE_PER_GAS = 10n ** 9n;
/** Receipts per JSON-RPC batch. */
const BATCH_SIZE = 100;

/** Connects to an anvil chain that mines by itself or, with `mine`, on request. */
export async function createSubmitter(url: string, options: SubmitOptions = {}): Promise<Submitter> {
  const transport = http(url, { batch: { batchSize: BATCH_SIZE } });
  const client = createPublicClient({ transport });
  const miner = createTestClient({ mode: 'anvil', transport });
  const chainId = await client.getChainId();
  return {
    async run(stage) {
      const hashes = await sendAll(client, chainId, stage);
      const receipts = await waitForReceipts(client, hashes, async () => {
        options.signal?.throwIfAborted();
        if (options.mine) await miner.mine({ blocks: 1 });
      });
      for (const [index, planned] of stage.entries()) checkOutcome(planned, receipts[index]);
      return receipts;
    },
  };
}

async function sendAll(client: PublicClient, chainId: number, stage: Stage): Promise<Hex[]> {
  const nonces = new Map<Hex, number>();
  const hashes: Hex[] = [];
  for (const planned of stage) {
    const { address } = planned.from;
    const nonce = nonces.get(address) ?? (await client.getTransactionCount({ address, blockTag: 'pending' }));
    nonces.set(address, nonce + 1);
    const serializedTransaction = await sign(planned, chainId, nonce);
    hashes.push(await client.sendRawTransaction({ serializedTransaction }));
  }
  return hashes;
}

function sign(planned: PlannedTransaction, chainId: number, nonce: number): Promise<Hex> {
  return planned.from.signTransaction({
    chainId,
    nonce,
    to: planned.to,
    data: planned.data,
    value: planned.value,
    gas: planned.gas ?? CALL_GAS,
    maxFeePerGas: MAX_FEE_PER_GAS,
    maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
  });
}

/** Receipts of all hashes, once all exist; calls `beforePoll` before each poll. */
async function waitForReceipts(
  client: PublicClient,
  hashes: readonly Hex[],
  beforePoll: () => Promise<void>,
): Promise<RpcTransactionReceipt[]> {
  const deadline = performance.now() + MINED_TIMEOUT_MS;
  for (;;) {
    await beforePoll();
    const found = await Promise.all(
      hashes.map((hash) => client.request({ method: 'eth_getTransactionReceipt', params: [hash] })),
    );
    const receipts = found.filter((receipt) => receipt !== null);
    if (receipts.length === hashes.length) return receipts;
    if (performance.now() > deadline) {
      const missing = hashes.filter((_, index) => found[index] === null);
      throw new Error(`demo transactions were not mined within half a minute: ${missing.join(', ')}`);
    }
    await sleep(POLL_MS);
  }
}

function checkOutcome(planned: PlannedTransaction, receipt: RpcTransactionReceipt | undefined): void {
  const reverted = receipt?.status !== '0x1';
  if (reverted === (planned.reverts ?? false)) return;
  const outcome = reverted ? 'was reverted' : 'was not reverted';
  throw new Error(`demo transaction ${receipt?.transactionHash} of ${planned.from.address} ${outcome}`);
}
