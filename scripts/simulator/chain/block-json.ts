/** The text of a block, its receipts and its call trees, as sent by a node. */

import type { Hex } from '../../../src/lib/hex.ts';
import { toQuantity } from '../../../src/lib/hex.ts';
import type { CallFrame, Transaction, TransactionLog } from './transaction.ts';

const EMPTY_BLOOM = `0x${'0'.repeat(512)}`;
/** Every bit set: a bloom that matches any search and needs no hashing. */
const FULL_BLOOM = `0x${'f'.repeat(512)}`;
const EMPTY_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

export interface BlockHeader {
  number: number;
  hash: Hex;
  parentHash: Hex;
  /** Unix seconds. */
  timestamp: number;
  miner: Hex;
  baseFee: bigint;
  gasUsed: number;
  hasLogs: boolean;
  mixHash: Hex;
  receiptsRoot: Hex;
  stateRoot: Hex;
  transactionsRoot: Hex;
}

/** A transaction with its position in the chain and its cost. */
export interface IncludedTransaction {
  transaction: Transaction;
  chainId: number;
  blockHash: Hex;
  blockNumber: number;
  hash: Hex;
  index: number;
  nonce: number;
  /** 0 legacy, 2 EIP-1559. */
  type: 0 | 2;
  gasUsed: number;
  cumulativeGasUsed: number;
  /** Wei. */
  gasPrice: bigint;
  /** Wei; only a type 2 transaction shows it. */
  priorityFee: bigint;
  r: Hex;
  s: Hex;
  firstLogIndex: number;
}

function addressOrNull(address: Hex | null): string {
  return address === null ? 'null' : `"${address}"`;
}

/** Result of `eth_getBlockByNumber [n, true]`. */
export function blockJson(header: BlockHeader, transactions: readonly string[]): string {
  return (
    `{"hash":"${header.hash}","parentHash":"${header.parentHash}","number":"${toQuantity(header.number)}"` +
    `,"timestamp":"${toQuantity(header.timestamp)}","miner":"${header.miner}"` +
    `,"baseFeePerGas":"${toQuantity(header.baseFee)}","difficulty":"0x0","extraData":"0x"` +
    `,"gasLimit":"0x11e1a300","gasUsed":"${toQuantity(header.gasUsed)}"` +
    `,"logsBloom":"${header.hasLogs ? FULL_BLOOM : EMPTY_BLOOM}","mixHash":"${header.mixHash}"` +
    `,"nonce":"0x0000000000000000","receiptsRoot":"${header.receiptsRoot}","sha3Uncles":"${EMPTY_UNCLES}"` +
    `,"size":"0x400","stateRoot":"${header.stateRoot}","transactionsRoot":"${header.transactionsRoot}"` +
    `,"totalDifficulty":"0x0","uncles":[],"transactions":[${transactions.join(',')}]}`
  );
}

/** An element of the block's `transactions`. */
export function transactionJson(included: IncludedTransaction): string {
  const { transaction, gasPrice, type } = included;
  const fees =
    type === 2
      ? `,"maxFeePerGas":"${toQuantity(gasPrice * 2n)}","maxPriorityFeePerGas":"${toQuantity(included.priorityFee)}"`
      : '';
  return (
    `{"blockHash":"${included.blockHash}","blockNumber":"${toQuantity(included.blockNumber)}"` +
    `,"from":"${transaction.from}","gas":"${toQuantity(included.gasUsed * 2)}","gasPrice":"${toQuantity(gasPrice)}"` +
    `${fees},"hash":"${included.hash}","input":"${transaction.input}","nonce":"${toQuantity(included.nonce)}"` +
    `,"to":${addressOrNull(transaction.to)},"transactionIndex":"${toQuantity(included.index)}"` +
    `,"value":"${toQuantity(transaction.value)}","type":"${toQuantity(type)}"` +
    `${type === 2 ? ',"accessList":[],"yParity":"0x1"' : ''},"chainId":"${toQuantity(included.chainId)}"` +
    `,"v":"0x1","r":"${included.r}","s":"${included.s}"}`
  );
}

/** An element of the result of `eth_getBlockReceipts [n]`. */
export function receiptJson(included: IncludedTransaction): string {
  const { transaction } = included;
  const logs = transaction.logs.map((log, i) => logJson(included, log, included.firstLogIndex + i));
  return (
    `{"blockHash":"${included.blockHash}","blockNumber":"${toQuantity(included.blockNumber)}"` +
    `,"contractAddress":${addressOrNull(transaction.created)}` +
    `,"cumulativeGasUsed":"${toQuantity(included.cumulativeGasUsed)}"` +
    `,"effectiveGasPrice":"${toQuantity(included.gasPrice)}","from":"${transaction.from}"` +
    `,"gasUsed":"${toQuantity(included.gasUsed)}","logs":[${logs.join(',')}]` +
    `,"logsBloom":"${logs.length > 0 ? FULL_BLOOM : EMPTY_BLOOM}"` +
    `,"status":"${transaction.succeeded ? '0x1' : '0x0'}","to":${addressOrNull(transaction.to)}` +
    `,"transactionHash":"${included.hash}","transactionIndex":"${toQuantity(included.index)}"` +
    `,"type":"${toQuantity(included.type)}"}`
  );
}

function logJson(included: IncludedTransaction, log: TransactionLog, logIndex: number): string {
  const topics = log.topics.map((topic) => `"${topic}"`).join(',');
  return (
    `{"address":"${log.address}","topics":[${topics}],"data":"${log.data}"` +
    `,"blockNumber":"${toQuantity(included.blockNumber)}","transactionHash":"${included.hash}"` +
    `,"transactionIndex":"${toQuantity(included.index)}","blockHash":"${included.blockHash}"` +
    `,"logIndex":"${toQuantity(logIndex)}","removed":false}`
  );
}

/** An element of the result of `debug_traceBlockByNumber [n, {tracer: callTracer}]`. */
export function traceJson(included: IncludedTransaction): string {
  return `{"txHash":"${included.hash}","result":${frameJson(included.transaction.root)}}`;
}

function frameJson(frame: CallFrame): string {
  const to = frame.to === null ? '' : `"to":"${frame.to}",`;
  const output = frame.output === undefined ? '' : `,"output":"${frame.output}"`;
  const error = frame.error === undefined ? '' : `,"error":"${frame.error}"`;
  const calls = frame.calls === undefined ? '' : `,"calls":[${frame.calls.map(frameJson).join(',')}]`;
  // A static call carries no value at all, as in the tracer's own answers.
  const value = frame.type === 'STATICCALL' ? '' : `,"value":"${toQuantity(frame.value)}"`;
  return (
    `{"from":"${frame.from}","gas":"0x2dc6c0","gasUsed":"0x5a3c",${to}"input":"${frame.input}"` +
    `${output}${error}${calls}${value},"type":"${frame.type}"}`
  );
}
