import type { Anvil } from '../../../src/dev/anvil.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { waitFor } from '../wait.ts';

/** Addresses are lower case. */
export interface Receipt {
  status: Hex;
  blockNumber: Hex;
  contractAddress: Hex | null;
}

/** Resolves with the receipt once the transaction is mined: anvil answers a send before it has mined. */
export function receiptOf(anvil: Anvil, hash: unknown): Promise<Receipt> {
  return waitFor(async () => (await anvil.call('eth_getTransactionReceipt', [hash])) as Receipt | null, {
    what: `the receipt of ${String(hash)}`,
    everyMs: 5,
  });
}
