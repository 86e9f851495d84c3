/** A node's chain of told transactions, one per block: value paid, logs emitted, native coins sent on or back. */
import { createHash } from 'node:crypto';
import type { GeneratedBlock } from '../../../scripts/simulator/chain/block.ts';
import {
  blockJson,
  type IncludedTransaction,
  receiptJson,
  traceJson,
  transactionJson,
} from '../../../scripts/simulator/chain/block-json.ts';
import { Ledger } from '../../../scripts/simulator/chain/ledger.ts';
import { Transaction, type TransactionLog } from '../../../scripts/simulator/chain/transaction.ts';
import { type Hex, toQuantity } from '../../../src/lib/hex.ts';
import { address, partyAddress } from '../index/index-fixture.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const FIRST_TIMESTAMP = 1_700_000_000;

/** A transfer between parties as `partyAddress` names them: of such a token, or sent on by the contract without one. */
export interface ToldTransfer {
  from: string;
  to: string;
  token?: string;
  amount?: bigint;
  /** Makes it an ERC-721 token, or with an amount an ERC-1155 one. */
  tokenId?: bigint;
}

export interface ToldTransaction {
  from: string;
  to: string;
  value?: bigint;
  transfers: readonly ToldTransfer[];
  /** Further logs, after those of the transfers. */
  logs?: readonly TransactionLog[];
  /** Further members of the transaction as a node shows it, such as its type. */
  members?: Readonly<Record<string, unknown>>;
}

/** Blocks from 0 on; the first is empty. */
export function toldChain(transactions: readonly ToldTransaction[]): GeneratedBlock[] {
  const blocks: GeneratedBlock[] = [];
  for (const transaction of [null, ...transactions])
    blocks.push(toldBlock(blocks.length, blocks.at(-1)?.hash ?? hashOf('no parent'), transaction));
  return blocks;
}

function toldBlock(number: number, parentHash: Hex, told: ToldTransaction | null): GeneratedBlock {
  const hash = hashOf(`block ${number} ${parentHash}`);
  const included = told === null ? [] : [includedIn(number, hash, told)];
  const root = hashOf('root');
  const header = {
    number,
    hash,
    parentHash,
    timestamp: FIRST_TIMESTAMP + number,
    miner: address('miner'),
    baseFee: 1n,
    gasUsed: 1_000_000 * included.length,
    hasLogs: included.some(({ transaction }) => transaction.logs.length > 0),
    mixHash: root,
    receiptsRoot: root,
    stateRoot: root,
    transactionsRoot: root,
  };
  return {
    number,
    hash,
    block: blockJson(
      header,
      included.map((each) => JSON.stringify({ ...JSON.parse(transactionJson(each)), ...told?.members })),
    ),
    receipts: `[${included.map(receiptJson).join(',')}]`,
    trace: `[${included.map(traceJson).join(',')}]`,
    transfers: [],
  };
}

function includedIn(blockNumber: number, blockHash: Hex, told: ToldTransaction): IncludedTransaction {
  const { value = 0n, transfers, logs = [] } = told;
  const transaction = new Transaction(
    new Ledger(),
    partyAddress(told.from),
    partyAddress(told.to),
    value,
    '0x01',
  );
  const sent = transfers.filter(({ token }) => token === undefined);
  transaction.root.calls = sent.map(({ from, to, amount = 1n }) => ({
    type: 'CALL',
    from: partyAddress(from),
    to: partyAddress(to),
    value: amount,
    input: '0x',
  }));
  for (const { token, ...transfer } of transfers)
    if (token !== undefined) transaction.emit(partyAddress(token), ...logOf(transfer));
  for (const log of logs) transaction.emit(log.address, log.topics, log.data);
  return {
    transaction,
    chainId: 1,
    blockHash,
    blockNumber,
    hash: hashOf(`transaction ${blockNumber} ${blockHash}`),
    index: 0,
    nonce: blockNumber,
    type: 0,
    gasUsed: 1_000_000,
    cumulativeGasUsed: 1_000_000,
    gasPrice: 1n,
    priorityFee: 0n,
    r: '0x1',
    s: '0x1',
    firstLogIndex: 0,
  };
}

function logOf({ from, to, amount, tokenId }: Omit<ToldTransfer, 'token'>): [Hex[], Hex] {
  const parties = [word(partyAddress(from)), word(partyAddress(to))];
  if (tokenId === undefined) return [[TRANSFER, ...parties], word(toQuantity(amount ?? 1n))];
  if (amount === undefined) return [[TRANSFER, ...parties, word(toQuantity(tokenId))], '0x'];
  const data: Hex = `0x${word(toQuantity(tokenId)).slice(2)}${word(toQuantity(amount)).slice(2)}`;
  return [[SINGLE, word(partyAddress(from)), ...parties], data];
}

function word(hex: Hex): Hex {
  return `0x${hex.slice(2).padStart(64, '0')}`;
}

function hashOf(text: string): Hex {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}
