/** Compares an indexed block with the node's: its hash, its time, its transfers and the parties of its transactions. */
import type { Tolerance } from '../decode/tolerance.ts';
import { type LoadRules, loadBlocks } from '../indexer/backfill/load-blocks.ts';
import type { RootCheck } from '../indexer/root-check.ts';
import { pause, retry } from '../lib/async.ts';
import { FatalError, UpstreamError } from '../lib/errors.ts';
import { bytesToBigInt, bytesToHex, type Hex } from '../lib/hex.ts';
import { type BlockBatch, packedHash, packedValue } from '../model/block-batch.ts';
import type { BlockGap } from '../model/block-gap.ts';
import { hasTokenNumber, movesOne, TRANSFER_KIND_NAMES, TransferKind } from '../model/transfer-kind.ts';
import type { RpcClient } from '../node/client.ts';
import { type BlockHeader, fetchHeader } from '../node/methods.ts';
import { gapsBetween, readGaps } from '../store/block-gaps.ts';
import { type BlockEnd, chainOf, EMPTY_INDEX, hashAt, prepareLastBlock, type Tip } from '../store/chain.ts';
import { type Db, inReadTransaction, oncePerConnection } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { partiesDifference } from './parties-difference.ts';

interface IndexedTransfer {
  id: number;
  tx: Buffer | number;
  kind: number;
  /** Null when the wallet has no row. */
  sender: Buffer | null;
  receiver: Buffer | null;
  token_id: number | null;
  token: Buffer | null;
  amount: Buffer | null;
  token_number: Buffer | null;
  log_index: number | null;
}

/** How a comparison of the whole chain reads each block. */
const readersOf = oncePerConnection((db) => ({
  lastBlock: prepareLastBlock(db),
  timestamp: db.prepare<[number], number>('SELECT timestamp FROM blocks WHERE number = ?').pluck(),
  transactions: db
    .prepare<[number, number], number>(
      "SELECT count(*) FROM transfers WHERE id > ? AND id <= ? AND typeof(tx) = 'blob'",
    )
    .pluck(),
  /** The first transfer of a wallet, or of the token that is its contract. */
  firstAppearance: db
    .prepare<[number], number | null>(/* sql */ `
      SELECT min(ifnull(w.first_transfer, t.first_transfer), ifnull(t.first_transfer, w.first_transfer))
      FROM wallets w LEFT JOIN tokens t ON t.wallet = w.id WHERE w.id = ?`)
    .pluck(),
  transfers: db.prepare<[number, number], IndexedTransfer>(/* sql */ `
    SELECT t.id, t.tx, t.kind, s.address AS sender, r.address AS receiver, t.token AS token_id,
      c.address AS token, t.amount, t.token_number, t.log_index
    FROM transfers t LEFT JOIN wallets s ON s.id = t.sender LEFT JOIN wallets r ON r.id = t.receiver
      LEFT JOIN tokens k ON k.id = t.token LEFT JOIN wallets c ON c.id = k.wallet
    WHERE t.id BETWEEN ? AND ? ORDER BY t.id`),
}));

/**
 * Describes the first difference of an indexed block to the node's; null when there is none. Rejects like `loadBlocks`.
 */
export type CompareBlock = (number: number, signal: AbortSignal) => Promise<string | null>;

export function blockComparer(db: Db, client: RpcClient, rules: LoadRules): CompareBlock {
  return async (number, signal) =>
    settledDifference(db, client, await loadBlocks(client, rules, number, number, signal), 0, signal);
}

interface BlockDifference {
  text: string;
  /** Whether the index has another block at that height. */
  isOtherBlock: boolean;
}

/**
 * The first difference between block `i` of a batch and the index. Null when there is none, or when the index does
 * not have the block. In a gap of the node, only transfers of other kinds are compared; in a gap of the index as well,
 * unless it is to be filled.
 */
export function blockDifference(
  db: Db,
  batch: BlockBatch,
  i: number,
  fillsGaps = false,
): BlockDifference | null {
  const number = batch.number[i]!;
  return inReadTransaction(db, () => {
    const other = hashDifference(db, number, batchHash(batch, i));
    if (other !== null) return { text: other, isOtherBlock: true };
    const { lastBlock } = readersOf(db);
    const tip = lastBlock(number);
    if (tip?.number !== number) return null;
    const before = lastBlock(number - 1) ?? EMPTY_INDEX;
    const gaps = batch.gaps.filter(({ first, last }) => first <= number && number <= last);
    if (!fillsGaps) gaps.push(...gapsBetween(db, { first: number, last: number }));
    const isCompared = comparedIn(gaps);
    const indexed = readRows(db, before.lastTransfer + 1, tip.lastTransfer).filter(isCompared);
    const text =
      transfersDifference(indexed, decodedLines(batch, i).filter(isCompared), number) ??
      timeDifference(db, batch, i) ??
      transactionsDifference(db, before, tip) ??
      lastWalletDifference(db, tip) ??
      partiesDifference(db, batch, i, before, tip);
    return text === null ? null : { text, isOtherBlock: false };
  });
}

/** Selects the lines of transfers that a block with these gaps has. */
function comparedIn(gaps: readonly BlockGap[]): (line: string) => boolean {
  const lacksTraces = gaps.some(({ kind }) => kind === 'trace');
  const lacksLogs = gaps.some(({ kind }) => kind === 'log');
  const isInternal = (line: string) =>
    line.startsWith(`${TRANSFER_KIND_NAMES[TransferKind.nativeInternal]} `);
  const isDirect = (line: string) => line.startsWith(`${TRANSFER_KIND_NAMES[TransferKind.nativeDirect]} `);
  return (line) => (isInternal(line) ? !lacksTraces : isDirect(line) || !lacksLogs);
}

/** Like `blockDifference`, but gives a reorg the time to reach the index. */
export async function settledDifference(
  db: Db,
  client: RpcClient,
  batch: BlockBatch,
  i: number,
  signal: AbortSignal,
): Promise<string | null> {
  const found = blockDifference(db, batch, i);
  if (found === null || !found.isOtherBlock) return found?.text ?? null;
  const number = batch.number[i]!;
  const text = await headerDifference(db, client, number, new Retries(true), signal);
  return text === 'absent' ? `the node has no block ${number} any more` : text;
}

/**
 * How often and after how long to check a differing hash again, because a reorg may not have reached the index yet.
 * This takes longer while the index is catching up, so a check during which the index moved does not count, up to a
 * total.
 */
const MAX_TRIES = 5;
const RETRY_MS = 600;
const MAX_MOVED_TRIES = 100;

/** The retries of one or several comparisons. */
export class Retries {
  /** How many are left for an index that moves. */
  left = MAX_MOVED_TRIES;
  /** Whether to request a block again that the node lacks, because it was there before. */
  readonly absent: boolean;

  constructor(absent: boolean) {
    this.absent = absent;
  }
}

/** Compares a block's hash and parent with the node's. 'absent' when the node does not have the block. */
export async function headerDifference(
  db: Db,
  client: RpcClient,
  number: number,
  retries: Retries,
  signal: AbortSignal,
): Promise<string | null> {
  const start = chainOf(db)?.startBlock ?? 0;
  for (let attempt = 1; ; ) {
    const node = await fetchHeader(client, number, signal);
    if (node === null && !retries.absent) return 'absent';
    const difference = node === null ? absence(db, number) : chainDifference(db, node, start);
    if (difference === null || attempt === MAX_TRIES) return difference;
    const { lastBlock } = readersOf(db);
    const before = lastBlock()?.hash;
    await pause(RETRY_MS, signal);
    if (lastBlock()?.hash === before || retries.left === 0) attempt++;
    else retries.left--;
  }
}

/** Null if the index does not have the block either. */
function absence(db: Db, number: number): 'absent' | null {
  return hashAt(db, number) === null ? null : 'absent';
}

function chainDifference(db: Db, header: BlockHeader, start: number): string | null {
  const { number, hash } = header;
  return inReadTransaction(db, () => hashDifference(db, number, hash) ?? parentDifference(db, header, start));
}

/** Null also for a block that is not in the index: it was rolled back, or is a gap, which is reported as one. */
function hashDifference(db: Db, number: number, hash: Hex): string | null {
  const indexed = hashAt(db, number);
  if (indexed === null || indexed === hash) return null;
  return `block ${number} is ${indexed} in the index and ${hash} on the node`;
}

function parentDifference(db: Db, { number, parentHash }: BlockHeader, start: number): string | null {
  const parent = number > start && hashAt(db, number) !== null ? hashAt(db, number - 1) : parentHash;
  return parent === parentHash
    ? null
    : `block ${number} follows ${parentHash}, but block ${number - 1} is ${parent} in the index`;
}

/** The hash of block `i` of a batch. */
export function batchHash({ hash }: BlockBatch, i: number): Hex {
  return bytesToHex(packedHash(hash, i));
}

/** The parent hash of block `i` of a batch. */
export function batchParent({ parent }: BlockBatch, i: number): Hex {
  return bytesToHex(packedHash(parent, i));
}

function timeDifference(db: Db, batch: BlockBatch, i: number): string | null {
  const number = batch.number[i]!;
  const timestamp = readersOf(db).timestamp.get(number);
  if (timestamp === batch.timestamp[i]) return null;
  return `block ${number} has the time ${timestamp} in the index and ${batch.timestamp[i]} on the node`;
}

/** The number of transactions that a block adds to the running total. */
function transactionsDifference(db: Db, before: BlockEnd, tip: Tip): string | null {
  const counted = tip.transactions - before.transactions;
  const stored = readersOf(db).transactions.get(before.lastTransfer, tip.lastTransfer);
  return counted === stored
    ? null
    : `block ${tip.number} counts ${counted} transactions, but ${stored} have transfers`;
}

/**
 * A rollback to a block removes the wallets above its last one, so that id must be right. Ids follow the order of first
 * appearance: the last wallet appears up to the block, and the next one does not.
 */
function lastWalletDifference(db: Db, { number, lastTransfer, lastWallet }: Tip): string | null {
  const { firstAppearance } = readersOf(db);
  const appeared = (wallet: number) =>
    (firstAppearance.get(wallet) ?? Number.POSITIVE_INFINITY) <= lastTransfer;
  const ends = `block ${number} ends with wallet ${lastWallet} in the index, but`;
  if (lastWallet !== ZERO_WALLET && !appeared(lastWallet)) return `${ends} that one appears later`;
  return appeared(lastWallet + 1) ? `${ends} the next one appears up to it too` : null;
}

function transfersDifference(
  indexed: readonly string[],
  decoded: readonly string[],
  number: number,
): string | null {
  const at = decoded.findIndex((line, i) => line !== indexed[i]);
  if (at >= 0 || indexed.length > decoded.length) {
    const place = at >= 0 ? at : decoded.length;
    return (
      `transfer ${place + 1} of block ${number} is ${indexed[place] ?? 'missing'} in the index and ` +
      `${decoded[place] ?? 'not there'} on the node`
    );
  }
  return null;
}

/** One line per transfer, with all its fields. */
function readRows(db: Db, from: number, to: number): string[] {
  const lines: string[] = [];
  let transaction: { id: number; hash: Buffer } | null = null;
  let expected = from;
  for (const row of readersOf(db).transfers.iterate(from, to)) {
    if (row.id !== expected++) lines.push(`missing (id ${row.id - 1})`);
    if (Buffer.isBuffer(row.tx)) transaction = { id: row.id, hash: row.tx };
    const fits = transaction !== null && (Buffer.isBuffer(row.tx) || row.id - row.tx === transaction.id);
    lines.push(
      formatTransfer({
        hash: fits && transaction ? bytesToHex(transaction.hash) : `of no transaction (${row.tx})`,
        kind: row.kind,
        from: addressOf('wallet', row.sender),
        to: addressOf('wallet', row.receiver),
        token: row.token_id === null ? null : addressOf('token', row.token),
        amount: row.amount,
        tokenNumber: row.token_number,
        logIndex: row.log_index,
      }),
    );
  }
  return lines;
}

function addressOf(what: string, address: Buffer | null): string {
  return address === null ? `a ${what} without a row` : bytesToHex(address);
}

interface TransferFields {
  hash: string;
  kind: number;
  from: string;
  to: string;
  token: string | null;
  /** As stored. */
  amount: Uint8Array | null;
  tokenNumber: Uint8Array | null;
  logIndex: number | null;
}

function formatTransfer({
  hash,
  kind,
  from,
  to,
  token,
  amount,
  tokenNumber,
  logIndex,
}: TransferFields): string {
  const of = token === null ? '' : ` of ${token}`;
  const nft = tokenNumber === null ? '' : ` id ${integerText(tokenNumber)}`;
  const log = logIndex === null ? '' : ` log ${logIndex}`;
  const what = TRANSFER_KIND_NAMES[kind] ?? `kind ${kind}`;
  const units = amount === null ? 'one' : integerText(amount);
  return `${what} ${units}${nft}${of} from ${from} to ${to} in ${hash}${log}`;
}

/** Shows leading zeros, because the index stores the shortest bytes of a number and any other form is a difference. */
function integerText(bytes: Uint8Array): string {
  return `${bytesToBigInt(bytes)}${bytes[0] === 0 ? ' with leading zeros' : ''}`;
}

/** The transfers of one block of a batch, in the form of `readRows`. */
function decodedLines(batch: BlockBatch, block: number): string[] {
  const address = (at: number) => bytesToHex(batch.addresses.subarray(at * 20, at * 20 + 20));
  const lines: string[] = [];
  for (let i = block === 0 ? 0 : batch.transferEnd[block - 1]!; i < batch.transferEnd[block]!; i++) {
    const kind = batch.kind[i]!;
    lines.push(
      formatTransfer({
        hash: bytesToHex(packedHash(batch.txHashes, batch.tx[i]!)),
        kind,
        from: address(batch.from[i]!),
        to: address(batch.to[i]!),
        token: batch.token[i]! < 0 ? null : address(batch.token[i]!),
        amount: movesOne(kind) ? null : packedValue(batch.amounts, batch.amountEnd, i),
        tokenNumber: hasTokenNumber(kind) ? packedValue(batch.tokenNumbers, batch.tokenNumberEnd, i) : null,
        logIndex: batch.logIndex[i]! < 0 ? null : batch.logIndex[i]!,
      }),
    );
  }
  return lines;
}

/**
 * What a comparison puts up with: log gaps, whose rows follow from the same incomplete answers, and root frames that
 * are not the transactions on this chain.
 */
export function toleranceOf(db: Db): Tolerance {
  return { off: ['root_frame'], gaps: readGaps(db, 'log') };
}

/** Most attempts to read a range. */
const MAX_READ_TRIES = 5;
const READ_RETRY_MS = { firstMs: 100, longestMs: 1_000 };

/** Loads a range and retries failures of the node. Throws FatalError when every attempt fails. */
export async function loadWithRetry(
  { client, signal }: { client: RpcClient; signal: AbortSignal },
  rules: LoadRules,
  from: number,
  to: number,
  roots?: RootCheck,
): Promise<BlockBatch> {
  const batch = await retry(() => loadBlocks(client, rules, from, to, signal, roots), {
    ...READ_RETRY_MS,
    signal,
    onFailure(error, failures) {
      if (!(error instanceof UpstreamError)) throw error;
      if (failures < MAX_READ_TRIES) return;
      throw new FatalError(`blocks ${from} to ${to} cannot be read from the node: ${error.message}`, {
        cause: error,
      });
    },
  });
  if (batch === undefined) throw signal.reason;
  return batch;
}
