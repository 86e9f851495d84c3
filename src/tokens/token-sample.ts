/** A token's balances according to the index, for a few wallets, at its head and at an earlier block. */
import { bytesToBigInt, bytesToHex, type Hex } from '../lib/hex.ts';
import { type Random, randomInt } from '../lib/random.ts';
import { decodeSigned } from '../lib/signed.ts';
import { isNativeKind, isSemiFungible } from '../model/transfer-kind.ts';
import { readLastBlock, type Tip } from '../store/chain.ts';
import { sumsOwnForm } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import { COUNTED_TRANSFER, type CountedTransfer, ZERO_WALLET } from '../store/schema.ts';
import { HistoryCursor, HistoryFlag } from '../store/wallet-history.ts';
import { type DecodedTransfer, decodeStored } from './decoded-transfer.ts';

/** A wallet's balance of a token according to its transfers. */
export interface WalletEstimate {
  wallet: number;
  address: Hex;
  balance: bigint;
  /** For ERC-1155: the ids that the wallet ever sent or received. */
  ids: readonly bigint[];
}

export interface TokenSample {
  token: number;
  address: Hex;
  kind: number;
  tip: Tip;
  /** Total supply according to the transfers: sent from the zero address minus sent back to it. */
  supply: bigint;
  wallets: readonly WalletEstimate[];
}

/** Newest transfers of the index to search for wallets of the token. */
const RECENT_TRANSFERS = 20_000;
/** Most ids of an ERC-1155 token to query per wallet. */
const MAX_IDS = 20;

/**
 * Reads the token at the index's head with up to `count` wallets, some that just moved it and some at random; or
 * exactly the `wanted` ones. Null when the token does not exist.
 */
export function readTokenSample(
  db: Db,
  token: number,
  { count, random, wanted }: { count: number; random: Random; wanted?: readonly number[] },
): TokenSample | null {
  const tip = readLastBlock(db);
  const row = db
    .prepare<[number], { address: Buffer; kind: number }>(
      'SELECT w.address, t.kind FROM tokens t JOIN wallets w ON w.id = t.wallet WHERE t.id = ?',
    )
    .get(token);
  if (tip === null || row === undefined) return null;
  const holding = db.prepare<[number, number], { balance: Buffer; address: Buffer }>(
    'SELECT h.balance, w.address FROM holdings h JOIN wallets w ON w.id = h.wallet WHERE h.token = ? AND h.wallet = ?',
  );
  const minted = holding.get(token, ZERO_WALLET);
  const wallets = (wanted ?? chooseWallets(db, token, tip, count, random)).flatMap(
    (wallet): WalletEstimate[] => {
      const found = holding.get(token, wallet);
      if (found === undefined || wallet === ZERO_WALLET) return [];
      const ids = isSemiFungible(row.kind) ? idsOf(db, token, wallet) : [];
      if (ids === null) return [];
      return [{ wallet, address: bytesToHex(found.address), balance: decodeSigned(found.balance), ids }];
    },
  );
  return {
    token,
    address: bytesToHex(row.address),
    kind: row.kind,
    tip,
    supply: minted ? -decodeSigned(minted.balance) : 0n,
    wallets,
  };
}

/** Most holdings to search for a negative one. */
const HOLDINGS_READ = 10_000;

/** A wallet that sent more than it received, if the search finds one. Its estimate is certainly wrong. */
function negativeHolding(db: Db, token: number): number[] {
  return db
    .prepare<[number], number>(/* sql */ `
      SELECT wallet FROM (SELECT wallet, balance FROM holdings WHERE token = ? LIMIT ${HOLDINGS_READ})
      WHERE balance < x'80' AND wallet <> ${ZERO_WALLET} LIMIT 1`)
    .pluck()
    .all(token);
}

/** The ids of an ERC-1155 token that a wallet ever moved; null when there are too many transfers to search. */
function idsOf(db: Db, token: number, wallet: number): bigint[] | null {
  const transfers = walletTokenTransfers(db, wallet, token);
  if (transfers === null) return null;
  const number = db.prepare<[number], Buffer>('SELECT token_number FROM transfers WHERE id = ?').pluck();
  const ids = new Set(transfers.map(({ id }) => bytesToBigInt(number.get(id) ?? new Uint8Array(0))));
  return ids.size > MAX_IDS ? null : [...ids];
}

function chooseWallets(db: Db, token: number, tip: Tip, count: number, random: Random): number[] {
  const chosen = new Set<number>();
  const recent = db
    .prepare<[number, number, number], { sender: number; receiver: number }>(
      'SELECT sender, receiver FROM transfers WHERE id > ? AND token = ? ORDER BY id DESC LIMIT ?',
    )
    .all(tip.lastTransfer - RECENT_TRANSFERS, token, Math.ceil(count / 2));
  for (const { sender, receiver } of recent) {
    chosen.add(receiver);
    if (chosen.size < count / 2) chosen.add(sender);
  }
  const next = db
    .prepare<[number, number], number>(
      'SELECT wallet FROM holdings WHERE token = ? AND wallet >= ? ORDER BY wallet LIMIT 1',
    )
    .pluck();
  for (let tries = 0; tries < count * 2 && chosen.size < count; tries++) {
    const wallet = next.get(token, randomInt(random, 1, tip.lastWallet));
    if (wallet !== undefined) chosen.add(wallet);
  }
  chosen.delete(ZERO_WALLET);
  return [...negativeHolding(db, token), ...chosen].slice(0, count);
}

/** The balances of a sample's wallets (by wallets.id) and the supply, at the end of an earlier block. */
export interface BlockEstimates {
  block: number;
  balances: ReadonlyMap<number, bigint>;
  supply: bigint;
}

/** Distance of the recent baseline from the head. Nodes without an archive keep the state of at least 128 blocks. */
const RECENT_BLOCKS = 64;

/**
 * The estimates RECENT_BLOCKS before the head. Goes back less far, but at least one block, when those blocks hold too
 * many transfers to subtract, and never beyond the index's first block. Null when the head is the first block.
 */
export function readRecentEstimates(db: Db, sample: TokenSample): BlockEstimates | null {
  const { tip, token } = sample;
  const start = db.prepare<[], number>('SELECT min(number) FROM blocks').pluck().get() ?? tip.number;
  for (let back = RECENT_BLOCKS; back >= 1; back = Math.floor(back / 4)) {
    const block = Math.max(start, tip.number - back);
    const from = readLastBlock(db, block)?.lastTransfer ?? 0;
    if (block >= tip.number) return null;
    if (tip.lastTransfer - from > RECENT_TRANSFERS && back > 1) continue;
    const balances = new Map(sample.wallets.map(({ wallet, balance }) => [wallet, balance]));
    let { supply } = sample;
    const moves = db
      .prepare<[number, number], CountedTransfer>(
        `SELECT ${COUNTED_TRANSFER} FROM transfers WHERE id > ? AND token = ? ${ownFormOnly(db)}`,
      )
      .all(from, token)
      .map(decodeStored);
    for (const { sender, receiver, amount } of moves) {
      if (sender === ZERO_WALLET) supply -= amount;
      if (receiver === ZERO_WALLET) supply += amount;
      balances.set(sender, (balances.get(sender) ?? 0n) + amount);
      balances.set(receiver, (balances.get(receiver) ?? 0n) - amount);
    }
    return { block, balances, supply };
  }
  return null;
}

/** Most transfers of a wallet, of any kind, to search. */
const MAX_ENTRIES = 20_000;

/** SQL: the condition for a row of `transfers` to move its token's holdings. */
function ownFormOnly(db: Db): string {
  return sumsOwnForm(db) ? 'AND kind = (SELECT kind FROM tokens WHERE tokens.id = transfers.token)' : '';
}

/** The transfers that move the wallet's holding, in chain order; null when the wallet has too many to search. */
export function walletTokenTransfers(db: Db, wallet: number, token: number): DecodedTransfer[] | null {
  const row = db
    .prepare<[number], { transfers: number; base: number; recent: Buffer }>(
      'SELECT transfers, ifnull(first_transfer, 0) AS base, recent FROM wallets WHERE id = ?',
    )
    .get(wallet);
  if (row === undefined || row.transfers > MAX_ENTRIES) return null;
  const pages = db
    .prepare<[number], Buffer>('SELECT entries FROM activity WHERE wallet = ? ORDER BY first_transfer')
    .pluck()
    .all(wallet);
  const transfer = db.prepare<[number, number], CountedTransfer>(
    `SELECT ${COUNTED_TRANSFER} FROM transfers WHERE id = ? AND token = ? ${ownFormOnly(db)}`,
  );
  const rows: DecodedTransfer[] = [];
  const cursor = new HistoryCursor();
  for (const page of [...pages, row.recent]) {
    cursor.open(page, row.base);
    while (cursor.next()) {
      const raw = isNativeKind(cursor.flags & HistoryFlag.kindMask)
        ? undefined
        : transfer.get(cursor.transfer, token);
      if (raw !== undefined) rows.push(decodeStored(raw));
    }
  }
  return rows;
}

/** A wallet's balance after the transfers up to and including `lastTransfer`. */
export function balanceAfter(rows: readonly DecodedTransfer[], wallet: number, lastTransfer: number): bigint {
  let balance = 0n;
  for (const { id, sender, receiver, amount } of rows) {
    if (id > lastTransfer) break;
    if (sender === wallet) balance -= amount;
    if (receiver === wallet) balance += amount;
  }
  return balance;
}
