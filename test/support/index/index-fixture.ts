/** Index files with known content: plain transfers written by the real writer, read through a real reader. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Hex } from '../../../src/lib/hex.ts';
import { ADDRESS_PATTERN } from '../../../src/model/address.ts';
import type { BlockRef } from '../../../src/model/block.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { NOT_TRACED } from '../../../src/model/block-gap.ts';
import {
  TRANSFER_KIND_NAMES,
  TransferKind,
  type TransferKindName,
} from '../../../src/model/transfer-kind.ts';
import { Snapshot } from '../../../src/query/snapshot.ts';
import { WalletIdCache } from '../../../src/query/wallet-id-cache.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { type Db, openDatabase } from '../../../src/store/open-database.ts';
import { type PlainBlock, type PlainTransfer, toBatch } from '../chain/random-chain.ts';
import { tempDir } from '../temp-dir.ts';

const FIRST_TIMESTAMP = 1_700_000_000;

/** An address or hash derived from a name. The same name yields the same one. */
export function address(name: string): Hex {
  return `0x${digest(`address ${name}`).slice(0, 40)}`;
}
/** The address of a named party: `zero` is the zero address, and an address stands for itself. */
export function partyAddress(name: string): Hex {
  if (isAddress(name)) return name;
  return name === 'zero' ? ZERO_ADDRESS : address(name);
}
export function txHash(name: string): Hex {
  return `0x${digest(`transaction ${name}`)}`;
}
/** The hash of a block of a fixture's index. */
export function blockHash(number: number, branch = ''): Hex {
  return `0x${digest(`block ${number} ${branch}`)}`;
}
/** An indexed block as a node's answer. */
export function headerOf({ number, hash }: BlockRef): Record<'number' | 'hash' | 'parentHash', string> {
  return { number: `0x${number.toString(16)}`, hash, parentHash: txHash('its parent') };
}
export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;

/** A transfer between named wallets; `zero` is the zero address. */
export interface NamedTransfer {
  kind?: TransferKindName;
  from: string;
  to: string;
  /** Name of the token contract, for token kinds. */
  token?: string;
  amount?: bigint;
  tokenId?: bigint;
  logIndex?: number;
}

/** Transactions of one block by name. */
export type NamedBlock = Record<string, NamedTransfer[]>;

export class IndexFixture {
  readonly path: string;
  readonly writer: IndexWriter;
  private readonly startBlock: number;
  /** What closes the readers that are open. */
  private readonly readers = new Set<() => void>();

  constructor(path: string, startBlock: number, pagesPerFold?: number) {
    this.path = path;
    this.startBlock = startBlock;
    this.writer = new IndexWriter(path, { cacheMb: 8, ...(pagesPerFold && { pagesPerFold }) });
    this.writer.setChain(143, startBlock);
  }

  /** Appends blocks in one commit. Another `branch` yields other hashes at the same heights. */
  append(blocks: readonly NamedBlock[], branch = ''): void {
    this.writer.append([this.batch(blocks, branch)]);
  }

  /**
   * Removes the blocks from `first` on like a repair, and appends others, of the same hashes unless on another branch.
   */
  rewrite(first: number, blocks: readonly NamedBlock[], branch = ''): void {
    const rewrite = { number: null };
    while (!this.writer.rollbackStep(first - 1, rewrite));
    this.append(blocks, branch);
  }

  /** Appends blocks like `append`, but of a node that did not trace them. */
  appendUntraced(blocks: readonly NamedBlock[]): void {
    const batch = this.batch(blocks);
    const [first = 0, last = first] = [batch.number[0], batch.number.at(-1)];
    this.writer.append([{ ...batch, gaps: [{ kind: 'trace', first, last, reason: NOT_TRACED }] }]);
  }

  /** The blocks that `append` would append. */
  batch(blocks: readonly NamedBlock[], branch = ''): BlockBatch {
    const head = this.writer.head();
    const first = head === null ? this.startBlock : head.number + 1;
    let parent: string = head === null ? txHash('no parent') : head.hash;
    const plain = blocks.map((block, i): PlainBlock => {
      const number = first + i;
      const hash = blockHash(number, branch);
      const made = {
        number,
        hash,
        parent,
        timestamp: timestampOf(number),
        transactions: transactionsOf(block),
      };
      parent = hash;
      return made;
    });
    return toBatch(plain);
  }

  /** Changes rows behind the writer's back, like a broken disk. */
  damage(sql: string): void {
    const db = openDatabase(this.path);
    db.exec(sql);
    db.close();
  }

  /** A separate connection for reading. */
  reader(owner: { after(fn: () => void): void }): Db {
    const db = openIndexForReading(this.path);
    this.closeWith(owner, () => db.close());
    return db;
  }

  /** A reading connection with its snapshot and wallet ids. */
  snapshot(owner: { after(fn: () => void): void }): { db: Db; snapshot: Snapshot; walletIds: WalletIdCache } {
    const db = openIndexForReading(this.path);
    const snapshot = new Snapshot(db);
    this.closeWith(owner, () => {
      snapshot.release();
      db.close();
    });
    return { db, snapshot, walletIds: new WalletIdCache(db, snapshot) };
  }

  close(): void {
    for (const close of [...this.readers].reverse()) close();
    this.writer.close();
  }

  /** Closes a reader with its owner, and in any case before the writer, whose close waits for open reads. */
  private closeWith(owner: { after(fn: () => void): void }, close: () => void): void {
    const once = () => {
      if (this.readers.delete(once)) close();
    };
    this.readers.add(once);
    owner.after(once);
  }
}

/**
 * An index in a temporary folder, closed and removed with its owner. `pagesPerFold`: see store/counterparty-sums.ts.
 */
export function createIndex(
  owner: { after(fn: () => void): void },
  startBlock = 1,
  pagesPerFold?: number,
): IndexFixture {
  const dir = tempDir(owner);
  const fixture = new IndexFixture(join(dir, 'index.db'), startBlock, pagesPerFold);
  owner.after(() => fixture.close());
  return fixture;
}

export function timestampOf(block: number): number {
  return FIRST_TIMESTAMP + block * 2;
}

function transactionsOf(block: NamedBlock): PlainBlock['transactions'] {
  return Object.entries(block).map(([name, transfers]) => ({
    hash: txHash(name),
    transfers: transfers.map(plainTransfer),
  }));
}

function plainTransfer(transfer: NamedTransfer): PlainTransfer {
  const kind = TRANSFER_KIND_NAMES.indexOf(transfer.kind ?? 'native_direct');
  const native = kind === TransferKind.nativeDirect || kind === TransferKind.nativeInternal;
  return {
    kind,
    from: digits(transfer.from),
    to: digits(transfer.to),
    token: native ? '' : digits(transfer.token ?? 'token'),
    logIndex: native ? -1 : (transfer.logIndex ?? 0),
    amount: transfer.amount ?? 1n,
    number: kind === TransferKind.erc721 || kind === TransferKind.erc1155 ? (transfer.tokenId ?? 0n) : null,
  };
}

function digits(name: string): string {
  return partyAddress(name).slice(2);
}

function isAddress(name: string): name is Hex {
  return ADDRESS_PATTERN.test(name);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
