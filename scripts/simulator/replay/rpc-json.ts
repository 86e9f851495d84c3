/** The few fields of a node's answers that the replay node reads. */

export interface RpcTransaction {
  hash: string;
}

export interface RpcBlock {
  hash: string;
  parentHash: string;
  transactions: RpcTransaction[];
}

interface RpcLog {
  address: string;
  topics: string[];
}

export interface RpcReceipt {
  transactionHash: string;
  logs: RpcLog[];
}

export interface RpcFrame {
  type: string;
  from: string;
  to?: string;
  gas: string;
  gasUsed: string;
  input: string;
  output?: string;
  value?: string;
  error?: string;
  calls?: RpcFrame[];
}

export interface RpcTrace {
  txHash?: string;
  result?: RpcFrame;
}

/** JSON text as the bytes of an answer. */
export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
