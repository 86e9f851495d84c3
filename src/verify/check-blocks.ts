/** Checks that the blocks of the index form one chain without gaps, and that the node has the same chain. */
import { pause } from '../lib/async.ts';
import type { Random } from '../lib/random.ts';
import type { RpcClient } from '../node/client.ts';
import { type BlockHeader, fetchHeader } from '../node/methods.ts';
import { hashAt, readLastBlock } from '../store/chain.ts';
import { type Db, highest, inReadTransaction } from '../store/open-database.ts';
import { traceGapRanges } from '../store/trace-gaps.ts';
import type { Check } from './report.ts';
import { forEachConcurrently, sampleRange } from './sample.ts';

interface BlockRow {
  number: number;
  last_transfer: number;
  last_wallet: number;
  transactions: number;
}

/** Tables whose key starts with the id of a wallet or a token. */
const TABLES_BY_OWNER = [
  ['activity', 'wallet'],
  ['summed_histories', 'wallet'],
  ['counterparty_sums', 'wallet'],
  ['fundings', 'funder'],
  ['holdings', 'token'],
  ['holding_peaks', 'token'],
  ['first_buyers', 'token'],
  ['token_quality', 'token'],
] as const;

/**
 * Checks that block numbers have no gap from the start block on, that ids never decrease, that the last ids match the
 * last rows, and that no table has rows of higher ids.
 */
export function checkContiguity(db: Db, check: Check): void {
  inReadTransaction(db, () => {
    const start = db.prepare<[], number>('SELECT start_block FROM chain').pluck().get() ?? 0;
    let before: BlockRow = { number: start - 1, last_transfer: 0, last_wallet: 0, transactions: 0 };
    const rows = db.prepare<[], BlockRow>(
      'SELECT number, last_transfer, last_wallet, transactions FROM blocks ORDER BY number',
    );
    for (const row of rows.iterate()) {
      if (row.number < start) check.addDifference(`block ${row.number} is before the first one, ${start}`);
      else if (row.number !== before.number + 1)
        check.addDifference(
          `blocks ${before.number + 1} to ${row.number - 1} are missing`,
          before.number + 1,
        );
      if (row.last_transfer < before.last_transfer || row.last_wallet < before.last_wallet)
        check.addDifference(`block ${row.number} ends with lower ids than the block before`, row.number);
      if (row.transactions < before.transactions)
        check.addDifference(
          `block ${row.number} counts fewer transactions than the block before`,
          row.number,
        );
      before = row;
    }
    check.expect('the last transfer', highest(db, 'transfers'), before.last_transfer);
    check.expect('the last wallet', highest(db, 'wallets'), before.last_wallet);
    checkOwners(db, check, before.last_wallet);
    for (const { first, last } of traceGapRanges(db))
      if (first < start || first > last || last > before.number)
        check.addDifference(`untraced_blocks has ${first} to ${last}, which are not in the index`);
    check.compared = `${(before.number - start + 1).toLocaleString('en-US')} blocks without a gap`;
  });
}

/** Checks that no rows exist for ids not assigned yet: a new wallet or token would inherit them. */
function checkOwners(db: Db, check: Check, lastWallet: number): void {
  const lastToken = highest(db, 'tokens');
  for (const [table, owner] of TABLES_BY_OWNER) {
    const id = highest(db, table, owner);
    const last = owner === 'token' ? lastToken : lastWallet;
    if (id > last)
      check.addDifference(
        `${table} has a row of ${owner} ${id}, but ${last} is the last one: rebuild the index`,
      );
  }
}

/** Concurrent header requests. */
const CONCURRENCY = 16;
/**
 * How often and after how long to check a differing hash again, because a reorg may not have reached the index yet.
 * This takes longer while the index is catching up, so a check during which the index moved does not count, up to a
 * total.
 */
const MAX_TRIES = 5;
const RETRY_MS = 600;
const MAX_MOVED_TRIES = 100;

/** Compares the hashes and parent hashes of up to `count` blocks with the node's. */
export async function checkHashes(
  db: Db,
  client: RpcClient,
  check: Check,
  options: { from: number; to: number; count: number; random: Random; signal: AbortSignal },
): Promise<void> {
  const { from, to, count, random } = options;
  const numbers = sampleRange(random, from, to, count);
  const absent: number[] = [];
  const retryBudget = { left: MAX_MOVED_TRIES };
  await forEachConcurrently(numbers, CONCURRENCY, options.signal, async (number, signal) => {
    const found = await compareHash(db, client, number, from, retryBudget, signal);
    if (found === 'absent') absent.push(number);
    else if (found !== null) check.addDifference(found, number);
  });
  check.compared += `, ${numbers.length - absent.length} hashes compared with the node's`;
  if (absent.length > 0)
    check.addNote(
      `the node lacks ${absent.length} of the ${numbers.length} requested blocks, such as ${absent[0]}`,
    );
}

/** Describes the difference; null when there is none, 'absent' when the node does not have the block. */
export async function compareHash(
  db: Db,
  client: RpcClient,
  number: number,
  start: number,
  retryBudget: { left: number },
  signal: AbortSignal,
): Promise<string | null> {
  for (let attempt = 1; ; ) {
    const node = await fetchHeader(client, number, signal);
    if (node === null) return 'absent';
    const difference = hashDifference(db, node, start);
    if (difference === null || attempt === MAX_TRIES) return difference;
    const before = readLastBlock(db)?.hash;
    await pause(RETRY_MS, signal);
    if (readLastBlock(db)?.hash === before || retryBudget.left === 0) attempt++;
    else retryBudget.left--;
  }
}

function hashDifference(db: Db, node: BlockHeader, start: number): string | null {
  const { number } = node;
  return inReadTransaction(db, () => {
    const hash = hashAt(db, number);
    if (hash === null) return null; // rolled back since it was chosen
    if (hash !== node.hash) return `block ${number} is ${hash} in the index and ${node.hash} on the node`;
    const parent = number > start ? hashAt(db, number - 1) : node.parentHash;
    return parent === node.parentHash
      ? null
      : `block ${number} follows ${node.parentHash}, but block ${number - 1} is ${parent} in the index`;
  });
}
