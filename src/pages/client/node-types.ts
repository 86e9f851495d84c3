/** The node's answers through /rpc, as far as the pages use them. Numbers are hexadecimal. */

export interface NodeTransaction {
  hash: string;
  blockHash: string | null;
  blockNumber: string | null;
  from: string;
  to: string | null;
  value: string;
  input?: string;
  nonce?: string;
  gas?: string;
  gasPrice?: string;
  type?: string;
}

export interface NodeLog {
  address: string;
  topics: string[];
  data: string;
  blockNumber: string;
  transactionHash: string;
  logIndex: string;
}

export interface NodeReceipt {
  /** Absent in receipts from before the field existed. */
  status?: string;
  contractAddress: string | null;
  gasUsed?: string;
  effectiveGasPrice?: string;
  logs: NodeLog[];
}

export interface NodeBlock<T = string> {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  miner?: string;
  gasUsed?: string;
  gasLimit?: string;
  baseFeePerGas?: string;
  size?: string;
  transactions: T[];
}
