/**
 * Small random chains for property tests: few wallets and tokens, so that every counter, page and fact is hit often.
 */
import { createHash } from 'node:crypto';
import { BatchBuilder } from '../../../src/decode/batch.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';

export interface PlainTransfer {
  kind: number;
  from: string;
  to: string;
  /** 40 digits, empty for native. */
  token: string;
  logIndex: number;
  amount: bigint;
  number: bigint | null;
}

export interface PlainTransaction {
  hash: string;
  transfers: PlainTransfer[];
  /**
   * Sender and receiver, `0x` and 40 digits: the zero address for one that the node leaves out. Absent: both left out;
   * the batch names none if all are.
   */
  parties?: { from: string; to: string };
}

export interface PlainBlock {
  number: number;
  hash: string;
  parent: string;
  timestamp: number;
  transactions: PlainTransaction[];
}

/** Deterministic numbers in [0, 1) from a seed. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const ZERO = '0'.repeat(40);
const MISSING = `0x${ZERO}`;
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Digits of an address. A third of all addresses start alike (store/addresses.ts). */
function address(name: string): string {
  const digits = digest(name).slice(0, 40);
  return digits < '5' ? `${ZERO.slice(0, 12)}${digits.slice(12)}` : digits;
}

/** Wallets and tokens that occur often. */
export function randomWallet(number: number): string {
  return `0x${address(`wallet ${number}`)}`;
}
export function randomToken(number: number): string {
  return `0x${digest(`token ${number} `).slice(0, 40)}`;
}

/** `count` blocks on top of `parent`. Another `salt` yields another branch at the same heights. */
export function randomBlocks(from: number, count: number, parent: string, salt: number): PlainBlock[] {
  const blocks: PlainBlock[] = [];
  for (let i = 0; i < count; i++) {
    const number = from + i;
    const block = randomBlock(
      number,
      blocks[i - 1]?.hash ?? parent,
      randomSource(salt * 7919 + number * 104729 + 1),
      salt,
    );
    blocks.push(block);
  }
  return blocks;
}

function randomBlock(number: number, parent: string, random: () => number, salt: number): PlainBlock {
  const int = (n: number): number => Math.floor(random() * n);
  const transactions = Array.from({ length: int(4) === 0 ? 0 : int(6) }, (_, t) => {
    const transfers = Array.from({ length: int(12) }, (_, l) => randomTransfer(int, number, salt, l));
    const parties = randomParties(randomSource(salt * 31 + number * 17 + t + 1), transfers);
    return { hash: `0x${digest(`tx ${number} ${salt} ${t}`)}`, transfers, parties };
  });
  return {
    number,
    hash: `0x${digest(`block ${number} ${salt} ${parent}`)}`,
    parent,
    // Now and then earlier than the block before.
    timestamp: 1_700_000_000 + number - ((number * 31 + salt) % 7 === 0 ? 5 : 0),
    transactions,
  };
}

/** Mostly parties of the transfers, sometimes wallets of other transactions, or addresses that never are wallets. */
function randomParties(random: () => number, transfers: readonly PlainTransfer[]) {
  const int = (n: number): number => Math.floor(random() * n);
  const party = (): string => {
    const transfer = transfers[int(transfers.length)];
    const own = transfer && [transfer.from, transfer.to, transfer.token][int(3)];
    if (own && int(4) > 0) return `0x${own}`;
    return int(3) === 0 ? `0x${digest(`router ${int(3)}`).slice(0, 40)}` : randomWallet(int(60));
  };
  return { from: int(9) === 0 ? MISSING : party(), to: int(15) === 0 ? MISSING : party() };
}

function randomTransfer(
  int: (n: number) => number,
  number: number,
  salt: number,
  logIndex: number,
): PlainTransfer {
  // Squared, so that some wallets are hot; occasionally a wallet that only this block has.
  const wallet = (): string => {
    if (int(12) === 0) return ZERO;
    if (int(8) === 0) return address(`new ${number} ${salt} ${int(3)}`);
    return address(`wallet ${Math.floor((int(40) * int(40)) / 40)}`);
  };
  const kind = int(5);
  const native = kind === TransferKind.nativeDirect || kind === TransferKind.nativeInternal;
  const from = wallet();
  const zeroAmount = !native && int(6) === 0;
  const amount =
    kind === TransferKind.erc721 ? 1n : zeroAmount ? 0n : BigInt(1 + int(1000)) * 10n ** BigInt(int(60));
  return {
    kind,
    from,
    to: int(10) === 0 ? from : wallet(),
    token: native ? '' : digest(`token ${int(6)} ${int(20) === 0 ? number : ''}`).slice(0, 40),
    logIndex: native ? -1 : logIndex,
    amount,
    number: kind === TransferKind.erc721 || kind === TransferKind.erc1155 ? BigInt(int(5)) : null,
  };
}

export function toBatch(blocks: readonly PlainBlock[], traced = true): BlockBatch {
  const out = new BatchBuilder();
  const unknown = blocks.some(({ transactions }) => transactions.some(({ parties }) => parties))
    ? MISSING
    : '';
  for (const block of blocks) {
    for (const transaction of block.transactions) {
      const { hash, parties } = transaction;
      out.beginTransaction(hash, parties?.from ?? unknown, parties?.to ?? unknown);
      for (const t of transaction.transfers) {
        const amount = t.kind === TransferKind.erc721 ? '' : t.amount.toString(16);
        const tokenNumber = t.number === null ? '' : t.number.toString(16);
        out.push(t.kind, t.from, t.to, t.token, t.logIndex, amount, 0, amount.length, tokenNumber);
      }
    }
    out.endBlock(block.number, block.hash, block.parent, block.timestamp);
  }
  return out.finish(traced);
}
