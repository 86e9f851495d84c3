/** The text of a block, its receipts and its call trees, as a node would send them. */
import type { Hex } from '../../types.ts';
import type { CallFrame, Transaction, TransactionLog } from './transaction.ts';

const EMPTY_BLOOM = `0x${'0'.repeat(512)}`;
/** Every bit set: a bloom that matches whatever is looked for, and costs no hashing. */
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

/** A transaction with its place in the chain and what it cost. */
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

/** `0x`-prefixed quantity without leading zeros. */
function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

function addressOrNull(address: Hex | null): string {
  return address === null ? 'null' : `"${address}"`;
}

/** Result of `eth_getBlockByNumber [n, true]`. */
export function blockJson(header: BlockHeader, transactions: readonly string[]): string {
  return (
    `{"hash":"${header.hash}","parentHash":"${header.parentHash}","number":"${quantity(header.number)}"` +
    `,"timestamp":"${quantity(header.timestamp)}","miner":"${header.miner}"` +
    `,"baseFeePerGas":"${quantity(header.baseFee)}","difficulty":"0x0","extraData":"0x"` +
    `,"gasLimit":"0x11e1a300","gasUsed":"${quantity(header.gasUsed)}"` +
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
      ? `,"maxFeePerGas":"${quantity(gasPrice * 2n)}","maxPriorityFeePerGas":"${quantity(included.priorityFee)}"`
      : '';
  return (
    `{"blockHash":"${included.blockHash}","blockNumber":"${quantity(included.blockNumber)}"` +
    `,"from":"${transaction.from}","gas":"${quantity(included.gasUsed * 2)}","gasPrice":"${quantity(gasPrice)}"` +
    `${fees},"hash":"${included.hash}","input":"${transaction.input}","nonce":"${quantity(included.nonce)}"` +
    `,"to":${addressOrNull(transaction.to)},"transactionIndex":"${quantity(included.index)}"` +
    `,"value":"${quantity(transaction.value)}","type":"${quantity(type)}"` +
    `${type === 2 ? ',"accessList":[],"yParity":"0x1"' : ''},"chainId":"${quantity(included.chainId)}"` +
    `,"v":"0x1","r":"${included.r}","s":"${included.s}"}`
  );
}

/** An element of the result of `eth_getBlockReceipts [n]`. */
export function receiptJson(included: IncludedTransaction): string {
  const { transaction } = included;
  const logs = transaction.logs.map((log, i) => logJson(included, log, included.firstLogIndex + i));
  return (
    `{"blockHash":"${included.blockHash}","blockNumber":"${quantity(included.blockNumber)}"` +
    `,"contractAddress":${addressOrNull(transaction.created)}` +
    `,"cumulativeGasUsed":"${quantity(included.cumulativeGasUsed)}"` +
    `,"effectiveGasPrice":"${quantity(included.gasPrice)}","from":"${transaction.from}"` +
    `,"gasUsed":"${quantity(included.gasUsed)}","logs":[${logs.join(',')}]` +
    `,"logsBloom":"${logs.length > 0 ? FULL_BLOOM : EMPTY_BLOOM}"` +
    `,"status":"${transaction.succeeded ? '0x1' : '0x0'}","to":${addressOrNull(transaction.to)}` +
    `,"transactionHash":"${included.hash}","transactionIndex":"${quantity(included.index)}"` +
    `,"type":"${quantity(included.type)}"}`
  );
}

function logJson(included: IncludedTransaction, log: TransactionLog, logIndex: number): string {
  const topics = log.topics.map((topic) => `"${topic}"`).join(',');
  return (
    `{"address":"${log.address}","topics":[${topics}],"data":"${log.data}"` +
    `,"blockNumber":"${quantity(included.blockNumber)}","transactionHash":"${included.hash}"` +
    `,"transactionIndex":"${quantity(included.index)}","blockHash":"${included.blockHash}"` +
    `,"logIndex":"${quantity(logIndex)}","removed":false}`
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
  const value = frame.type === 'STATICCALL' ? '' : `,"value":"${quantity(frame.value)}"`;
  return (
    `{"from":"${frame.from}","gas":"0x2dc6c0","gasUsed":"0x5a3c",${to}"input":"${frame.input}"` +
    `${output}${error}${calls}${value},"type":"${frame.type}"}`
  );
}
