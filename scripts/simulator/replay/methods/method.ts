import type { BlockReader } from '../blocks/block-reader.ts';
import type { ReplayChain } from '../blocks/chain.ts';
import type { TransactionIndex } from '../blocks/transaction-index.ts';
import type { ReplaySettings } from '../options.ts';

/** Answers one call with the JSON text of its result, or throws an RpcError. */
export type Method = (params: readonly unknown[]) => Buffer;
export type Methods = Record<string, Method>;

export const NULL_RESULT = Buffer.from('null');

/** The data behind the methods. */
export interface NodeState {
  chain: ReplayChain;
  reader: BlockReader;
  transactions: TransactionIndex;
  settings: ReplaySettings;
}
