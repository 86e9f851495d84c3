/**
 * Compares counters, facts and history pages of wallets and tokens with a recount of their transfers, and the lists
 * over all of them: the zone map, the keys of addresses, and the fundings.
 */

import { setImmediate } from 'node:timers/promises';
import { bytesToHex } from '../lib/hex.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import { hashAt, readLastBlock } from '../store/chain.ts';
import { prepareDerivedEnd } from '../store/derived.ts';
import { type Db, highest, inReadTransaction } from '../store/open-database.ts';
import { ADDRESS_PREFIX_BYTES } from '../store/schema.ts';
import { DamageError, isCorruption } from '../store/storage-error.ts';
import { ZONE_SPAN, zoneOf } from '../store/zone-map.ts';
import { decodeAmount } from '../tokens/decoded-transfer.ts';
import { prepareMintComparer } from './check-mints.ts';
import { TradeComparer } from './check-trades.ts';
import { TokenComparer, WalletComparer } from './comparers.ts';
import { IDS_PER_READ, type Ids, RecountScan } from './recount.ts';
import { type Check, storedNumber } from './report.ts';
import { BYTES_PER_PASS, isAll, type Pass, passesOf, pickNumbers, type Scope } from './scope.ts';

/** Most scans. A scan restarts when a reorg removes transfers that it has read. */
const MAX_TRIES = 5;

export interface CounterChecks {
  wallets: Check;
  tokens: Check;
}

interface CounterOptions {
  signal: AbortSignal;
  onProgress(done: number): void;
  /** Called before each pass with the wallets and tokens that it recounts. */
  onPass?(ids: Ids): void;
  /** Tests pass fewer. */
  bytesPerPass?: number;
}

/** Scans in short pieces, so that the indexer can continue. Compares within one commit. */
export async function checkCounters(
  db: Db,
  checks: CounterChecks,
  scope: Scope,
  { bytesPerPass = BYTES_PER_PASS, ...options }: CounterOptions,
): Promise<void> {
  const tip = readLastBlock(db);
  if (tip === null) return;
  const recounted: Recounted = {
    wallets: 0,
    tokens: 0,
    after: 0,
    end: 0,
    hasHistories: true,
    hasMints: true,
  };
  const trades = inReadTransaction(db, () =>
    TradeComparer.begin(db, checks.wallets, readLastBlock(db)?.lastTransfer ?? 0),
  );
  for (const pass of passesOf(db, tip, scope, bytesPerPass)) {
    const isDone = await recountWithRetry(db, checks, scope, trades, pass, recounted, options);
    if (options.signal.aborted) return;
    if (!isDone) return checks.wallets.addNote('not compared: reorgs kept interrupting the scan');
  }
  const maxTraders = isAll(scope.wallets) ? Number.POSITIVE_INFINITY : MAX_SAMPLED_TRADERS;
  inReadTransaction(db, () => trades?.compareRest(checks.wallets, maxTraders));
  await checkLists(db, checks.wallets, scope, options.signal);
  if (!options.signal.aborted) conclude(db, checks, scope, recounted);
}

/** Most traders of the native coin that a sample reads. */
const MAX_SAMPLED_TRADERS = 200_000;

/** What all passes together have recounted: of the transfers, those above `after` up to `end`. */
interface Recounted {
  wallets: number;
  tokens: number;
  after: number;
  end: number;
  /** Whether the histories of tokens were compared. */
  hasHistories: boolean;
  /** Whether what was minted was compared. */
  hasMints: boolean;
}

async function recountWithRetry(...pass: Parameters<typeof recountPass>): Promise<boolean> {
  const { signal } = pass[6];
  for (let attempt = 1; attempt <= MAX_TRIES && !signal.aborted; attempt++)
    if (await recountPass(...pass)) return true;
  return false;
}

/** Returns false when a reorg removed transfers that the scan had read, or the signal aborts. */
async function recountPass(
  db: Db,
  checks: CounterChecks,
  scope: Scope,
  trades: TradeComparer | null,
  pass: Pass,
  recounted: Recounted,
  { signal, onProgress, onPass }: CounterOptions,
): Promise<boolean> {
  const begin = readLastBlock(db);
  if (begin === null) return true;
  const after = Math.max(0, begin.lastTransfer - scope.transfers);
  const { missing, ...ids } = inReadTransaction(db, () => pass.choose(begin, after));
  onPass?.(ids);
  const wallets = new WalletComparer(db);
  const tokens = new TokenComparer(db);
  const isComplete = endOf('token_history', db, checks.tokens) >= begin.lastTransfer;
  const hasMints = endOf('token_mints', db, checks.tokens) >= begin.lastTransfer;
  const compareMinted = prepareMintComparer(db);
  const scan = new RecountScan(db, ids, after, {
    wallet: (recount) => wallets.pageDifference(recount),
    token: isComplete ? (recount) => tokens.pageDifference(recount) : null,
    trades,
  });
  /** Runs reads that see one commit; returns false instead when that commit no longer contains block `begin`. */
  const readUnlessRolledBack = (read: () => void): boolean =>
    inReadTransaction(db, () => {
      if (hashAt(db, begin.number) !== begin.hash) return false;
      read();
      return true;
    });
  while (begin.lastTransfer - scan.position > IDS_PER_READ) {
    if (signal.aborted || !readUnlessRolledBack(() => scan.advance(begin.lastTransfer))) return false;
    onProgress(pass.done + (pass.part * (scan.position - after)) / (begin.lastTransfer - after));
    await setImmediate();
  }
  return readUnlessRolledBack(() => {
    const end = readLastBlock(db)?.lastTransfer ?? 0;
    while (scan.position < end) scan.advance(end);
    // Only now, because a restarted scan would report them again. Checksums report them in the scope of all transfers.
    for (const gap of isAll(scope.wallets) ? [] : scan.gaps) checks.wallets.addDifference(gap);
    for (const wallet of missing.wallets) checks.wallets.addDifference(`wallet ${wallet} has no row`);
    for (const token of missing.tokens) checks.tokens.addDifference(`token ${token} has no row`);
    const comparedTrades = trades?.isCurrent() ? trades : null;
    for (const recount of scan.wallets.values())
      decoding(checks.wallets, `wallet ${recount.id}`, () => {
        wallets.compare(recount, checks.wallets);
        comparedTrades?.compareWallet(recount, checks.wallets);
      });
    for (const recount of scan.tokens.values())
      decoding(checks.tokens, `token ${recount.id}`, () => {
        tokens.compare(recount, checks.tokens);
        if (hasMints) compareMinted(recount, checks.tokens);
        comparedTrades?.compareToken(recount.id, recount.holdings, checks.tokens);
      });
    noteTooLarge(checks, scan);
    recounted.wallets += scan.wallets.size;
    recounted.tokens += scan.tokens.size;
    Object.assign(recounted, { after, end });
    recounted.hasHistories &&= isComplete;
    recounted.hasMints &&= hasMints;
  });
}

const INCOMPLETE_HISTORIES =
  'the transfers of each token were not compared: the daemon has not listed all of them yet';
const INCOMPLETE_MINTS =
  'what was minted of each token was not compared: the daemon has not added up all of it yet';

/** The last transfer in a structure; 0 if the index does not say it, which is damage. */
function endOf(name: 'token_history' | 'token_mints', db: Db, check: Check): number {
  try {
    return prepareDerivedEnd(db)(name);
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    check.addDifference(error.message);
    return 0;
  }
}

/** Compares rows. A value that cannot be decoded also counts as a difference. */
function decoding(check: Check, what: string, compare: () => void): void {
  try {
    compare();
  } catch (error) {
    if (!(error instanceof Error) || isCorruption(error)) throw error;
    check.addDifference(`the rows of ${what} cannot be decoded: ${error.message}`);
  }
}

function noteTooLarge(checks: CounterChecks, { tooLarge }: RecountScan): void {
  for (const name of ['wallets', 'tokens'] as const) {
    const [first] = tooLarge[name];
    if (first !== undefined)
      checks[name].addNote(
        `${tooLarge[name].length} were not recounted, such as number ${first}: they would take too much memory`,
      );
  }
}

function conclude(db: Db, { wallets, tokens }: CounterChecks, scope: Scope, recounted: Recounted): void {
  const isWhole = isAll(scope.wallets);
  const [all, read] = [isWhole ? 'all ' : '', recounted.end - recounted.after];
  const from = isWhole ? 'their' : read.toLocaleString('en-US');
  wallets.compared = `${all}${recounted.wallets.toLocaleString('en-US')} wallets recounted from ${from} transfers`;
  tokens.compared =
    `${all}${recounted.tokens.toLocaleString('en-US')} tokens with ` +
    `${isWhole ? '' : 'all '}holdings and first buyers recounted`;
  wallets.share = isWhole ? 1 : recounted.wallets / (highest(db, 'wallets') + 1);
  tokens.share = isWhole ? 1 : recounted.tokens / Math.max(1, highest(db, 'tokens'));
  if (!recounted.hasHistories) tokens.addNote(INCOMPLETE_HISTORIES);
  if (!recounted.hasMints) tokens.addNote(INCOMPLETE_MINTS);
  if (recounted.after > 0)
    wallets.addNote(
      `only the newest ${read.toLocaleString('en-US')} of ${recounted.end.toLocaleString('en-US')} ` +
        'transfers were read, for wallets and tokens that began among them; a larger --sample reads more',
    );
}

/** Checks what does not belong to a single wallet or token, in short reads. */
async function checkLists(db: Db, check: Check, scope: Scope, signal: AbortSignal): Promise<void> {
  const last = inReadTransaction(db, () => {
    const tip = readLastBlock(db);
    checkAddresses(db, check, tip?.lastWallet ?? 0);
    if (isAll(scope.wallets)) checkFundings(db, check);
    checkLastSpans(db, check, tip?.lastTransfer ?? 0);
    return tip?.lastTransfer ?? 0;
  });
  const compare = peakComparer(db, check);
  for (const [i, level] of LEVELS.entries()) {
    const spansPerRead = ZONE_SPAN ** (2 - level);
    const spans = pickNumbers(scope.random, 0, zoneOf(last, level), scope.spans[i]!);
    for (let isDone = false; !isDone && !signal.aborted; ) {
      inReadTransaction(db, () => {
        for (let read = 0; read < spansPerRead && !isDone; read++) {
          const next = spans.next();
          if (next.done) isDone = true;
          else compare(level, next.value);
        }
      });
      await setImmediate();
    }
  }
}

/** The list must contain no fundings besides those found for each wallet. */
function checkFundings(db: Db, check: Check): void {
  const count = (sql: string) => db.prepare<[], number>(sql).pluck().get();
  check.expect(
    'the number of fundings',
    count('SELECT count(*) FROM fundings'),
    count('SELECT count(*) FROM wallets WHERE funder IS NOT NULL'),
  );
}

/** Reads the keys of all addresses, a few bytes each. */
function checkAddresses(db: Db, check: Check, lastWallet: number): void {
  const count = db.prepare<[], number>('SELECT count(*) FROM addresses').pluck().get();
  check.expect('the number of addresses', count, lastWallet + 1);
  for (const { wallet, key, first, address } of prefixCollisions(db)) {
    const name = `wallet ${wallet} of ${bytesToHex(key)}`;
    if (first === null || first >= wallet)
      check.addDifference(
        `${name} is stored as a prefix collision with an earlier wallet, but there is none`,
      );
    else if (address?.equals(key)) check.addDifference(`${name} has the address of wallet ${first}`);
  }
}

interface PrefixCollision {
  wallet: number;
  /** Its address. */
  key: Buffer;
  /** The wallet keyed by the prefix, and its address. */
  first: number | null;
  address: Buffer | null;
}

/** Wallets whose address shares the prefix of an earlier one: few by chance, but an attacker can create many. */
function prefixCollisions(db: Db): IterableIterator<PrefixCollision> {
  return db
    .prepare<[], PrefixCollision>(/* sql */ `
      SELECT later.wallet, CAST(later.key AS BLOB) AS key, earlier.wallet AS first,
        CAST(w.address AS BLOB) AS address -- damage may change the types
      FROM addresses later LEFT JOIN addresses earlier ON earlier.key = substr(later.key, 1, ${ADDRESS_PREFIX_BYTES})
        LEFT JOIN wallets w ON w.id = earlier.wallet
      WHERE length(later.key) > ${ADDRESS_PREFIX_BYTES}`)
    .iterate();
}

/** Levels of spans. */
const LEVELS = [1, 2] as const;

/** Checks that there are no spans above the last transfer. */
function checkLastSpans(db: Db, check: Check, last: number): void {
  const lastKept = db
    .prepare<[number], number | null>('SELECT max(span) FROM native_peaks WHERE level = ?')
    .pluck();
  const levels = db.prepare<[], number>('SELECT DISTINCT level FROM native_peaks').pluck().all();
  for (const level of levels) {
    const lastSpan = level === 1 || level === 2 ? zoneOf(last, level) : -1;
    const kept = lastKept.get(level) ?? 0;
    if (kept > lastSpan)
      check.addDifference(`native_peaks has span ${kept} of level ${level}, but ${lastSpan} is the last one`);
  }
}

/** Compares one span of a level. */
function peakComparer(db: Db, check: Check): (level: number, span: number) => void {
  const peak = db
    .prepare<[number, number], Buffer>(
      'SELECT CAST(peak AS BLOB) FROM native_peaks WHERE level = ? AND span = ?',
    )
    .pluck();
  const amounts = db
    .prepare<[number, number, number, number], Buffer>(
      'SELECT amount FROM transfers WHERE id >= ? AND id < ? AND kind IN (?, ?)',
    )
    .pluck();
  const largestOf = (from: number, below: number): bigint | null => {
    let largest: bigint | null = null;
    for (const amount of amounts.iterate(
      from,
      below,
      TransferKind.nativeDirect,
      TransferKind.nativeInternal,
    )) {
      const wei = decodeAmount(amount);
      if (largest === null || wei > largest) largest = wei;
    }
    return largest;
  };
  return (level, span) => {
    const size = ZONE_SPAN ** level;
    const [from, below] = [span * size, (span + 1) * size];
    const kept = peak.get(level, span);
    check.expect(
      `the largest native transfer of ${from} to ${below - 1}`,
      kept === undefined ? null : storedNumber(kept),
      largestOf(from, below),
    );
  };
}
