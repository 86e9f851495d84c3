/**
 * The node's answers through /rpc, as far as the pages use them. Numbers are hexadecimal. Nodes differ in what they
 * leave out and what they set to null.
 */

export interface NodeTransaction {
  hash: string;
  blockHash?: string | null;
  blockNumber?: string | null;
  from: string;
  to?: string | null;
  value: string;
  input?: string | null;
  nonce?: string | null;
  gas?: string | null;
  gasPrice?: string | null;
  type?: string;
}

export interface NodeLog {
  address: string;
  topics: string[] | null;
  data: string;
  blockNumber: string;
  transactionHash: string;
  logIndex: string;
}

export interface NodeReceipt {
  /** Absent in receipts from before the field existed. */
  status?: string | null;
  contractAddress?: string | null;
  gasUsed?: string | null;
  effectiveGasPrice?: string | null;
  logs: NodeLog[] | null;
}

export interface NodeBlock<T = string> {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  miner?: string | null;
  gasUsed?: string | null;
  gasLimit?: string | null;
  baseFeePerGas?: string | null;
  size?: string | null;
  transactions: T[] | null;
}
