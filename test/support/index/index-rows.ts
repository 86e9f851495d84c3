/** Reads an index in tests with separate SQL, independent of the program's queries. */
import { join } from 'node:path';
import { bytesToBigInt, bytesToHex } from '../../../src/lib/hex.ts';
import { decodeSigned } from '../../../src/lib/signed.ts';
import {
  TRANSFER_KIND_NAMES,
  TransferKind,
  type TransferKindName,
} from '../../../src/model/transfer-kind.ts';
import { type Db, openDatabase } from '../../../src/store/open-database.ts';

export interface IndexedTransfer {
  id: number;
  block: number;
  blockHash: string;
  hash: string;
  kind: TransferKindName;
  from: string;
  to: string;
  token: string | null;
  amount: bigint;
  tokenId: bigint | null;
  logIndex: number | null;
  /** Position among the transfers of its transaction. */
  eventIndex: number;
}

interface Row {
  id: number;
  tx: Buffer | number;
  kind: number;
  sender: Buffer;
  receiver: Buffer;
  token: Buffer | null;
  amount: Buffer | null;
  token_number: Buffer | null;
  log_index: number | null;
}

/** Every transfer of the index in a data folder, in chain order. */
export function indexedTransfers(dataDir: string): IndexedTransfer[] {
  return readIndex(dataDir, readTransfers);
}

/** Unix seconds of every block of the index in a data folder, by number. */
export function blockTimes(dataDir: string): Map<number, number> {
  return readIndex(dataDir, readBlockTimes);
}

function readIndex<T>(dataDir: string, read: (db: Db) => T): T {
  const db = openDatabase(join(dataDir, 'index.db'), { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Whether it changes what a wallet has: only such a transfer is a signal, and delivered. */
export function isSignal({ token, from, to, amount }: IndexedTransfer): boolean {
  return amount > 0n && (token === null || from !== to);
}

export function readTransfers(db: Db): IndexedTransfer[] {
  const blocks = db
    .prepare<[], { number: number; hash: Buffer; last_transfer: number }>(
      'SELECT number, hash, last_transfer FROM blocks ORDER BY number',
    )
    .all();
  const rows = db
    .prepare<[], Row>(
      /* sql */ `SELECT t.id, t.tx, t.kind, s.address AS sender, r.address AS receiver, c.address AS token, t.amount,
            t.token_number, t.log_index
          FROM transfers t JOIN wallets s ON s.id = t.sender JOIN wallets r ON r.id = t.receiver
          LEFT JOIN tokens k ON k.id = t.token LEFT JOIN wallets c ON c.id = k.wallet ORDER BY t.id`,
    )
    .all();
  let hash = '';
  let at = 0;
  return rows.map((row) => {
    while ((blocks[at]?.last_transfer ?? 0) < row.id) at++;
    if (typeof row.tx !== 'number') hash = bytesToHex(row.tx);
    return {
      id: row.id,
      block: blocks[at]?.number ?? -1,
      blockHash: bytesToHex(blocks[at]?.hash ?? Buffer.alloc(0)),
      hash,
      kind: TRANSFER_KIND_NAMES[row.kind] ?? 'erc20',
      from: bytesToHex(row.sender),
      to: bytesToHex(row.receiver),
      token: row.token === null ? null : bytesToHex(row.token),
      amount: row.kind === TransferKind.erc721 ? 1n : bytesToBigInt(row.amount ?? Buffer.alloc(0)),
      tokenId: row.token_number === null ? null : bytesToBigInt(row.token_number),
      logIndex: row.log_index,
      eventIndex: typeof row.tx === 'number' ? row.tx : 0,
    };
  });
}

export function readBlockTimes(db: Db): Map<number, number> {
  const rows = db
    .prepare<[], { number: number; timestamp: number }>('SELECT number, timestamp FROM blocks')
    .all();
  return new Map(rows.map(({ number, timestamp }) => [number, timestamp]));
}

/** The balance of each wallet that results from its transfers of a token, by address. */
export function indexedBalances(dataDir: string, token: string): Map<string, bigint> {
  return readIndex(dataDir, (db) => {
    const rows = db
      .prepare<[Buffer], { address: Buffer; balance: Buffer }>(
        /* sql */ `SELECT w.address, h.balance FROM wallets c JOIN tokens k ON k.wallet = c.id
          JOIN holdings h ON h.token = k.id JOIN wallets w ON w.id = h.wallet WHERE c.address = ?`,
      )
      .all(Buffer.from(token.slice(2), 'hex'));
    return new Map(rows.map((row) => [bytesToHex(row.address), decodeSigned(row.balance)]));
  });
}
