/** Compares counters, facts and history pages of sampled wallets and tokens with a recount of their transfers. */

import { setImmediate } from 'node:timers/promises';
import { bytesToHex } from '../lib/hex.ts';
import { type Random, randomInt } from '../lib/random.ts';
import { hashAt, readLastBlock, type Tip } from '../store/chain.ts';
import { type Db, highest, inReadTransaction, type Statement } from '../store/open-database.ts';
import { ADDRESS_PREFIX_BYTES } from '../store/schema.ts';
import { isCorruption } from '../store/storage-error.ts';
import { ENTRIES_PER_PAGE } from '../store/wallet-history.ts';
import { checkZoneMap } from './check-zone-map.ts';
import { TokenComparer, WalletComparer } from './comparers.ts';
import type { Check } from './report.ts';
import { IDS_PER_READ, type SampleIds, SampleScan } from './sample.ts';

/**
 * Most entries that a recount keeps for one wallet or token, and for a whole sample: the entries of a history page, the
 * tokens of a wallet, the wallets of a token. Bounds memory independently of the number of transfers.
 */
const MAX_KEPT_EACH = 200_000;
const MAX_KEPT_ALL = 600_000;

/** Most transfers read per unit of the sample size. In a larger index, reads the newest ones. */
const SCANNED_PER_SAMPLE = 100_000;

/** Most scans. A scan restarts when a reorg removes transfers that it has read. */
const MAX_TRIES = 5;

export interface CounterChecks {
  wallets: Check;
  tokens: Check;
}

interface CounterOptions {
  /** Most wallets to examine, and four times the number of tokens. */
  sample: number;
  /** Wallets and tokens to examine in place of a sample, within the bounds. */
  only?: SampleIds;
  /** Like `only`, without bounds and without the checks that do not concern single wallets and tokens. */
  all?: SampleIds;
  random: Random;
  signal: AbortSignal;
  onProgress(done: number): void;
}

/** Scans in short pieces, so that the indexer can continue. Compares within one commit. */
export async function checkCounters(db: Db, checks: CounterChecks, options: CounterOptions): Promise<void> {
  for (let attempt = 1; attempt <= MAX_TRIES && !options.signal.aborted; attempt++) {
    if (await scanAndCompare(db, checks, options)) return;
  }
  checks.wallets.addNote('not compared: reorgs kept interrupting the scan');
}

/** Returns false when a reorg removed transfers that the scan had read. */
async function scanAndCompare(db: Db, checks: CounterChecks, options: CounterOptions): Promise<boolean> {
  const begin = readLastBlock(db);
  if (begin === null) return true;
  const after =
    options.only || options.all ? 0 : Math.max(0, begin.lastTransfer - options.sample * SCANNED_PER_SAMPLE);
  const { missing, ...sample } = inReadTransaction(db, () => chooseSample(db, begin, after, options));
  const wallets = new WalletComparer(db);
  const scan = new SampleScan(db, sample, after, wallets);
  /** Runs reads that see one commit; returns false instead when that commit no longer contains block `begin`. */
  const readUnlessRolledBack = (read: () => void): boolean =>
    inReadTransaction(db, () => {
      if (hashAt(db, begin.number) !== begin.hash) return false;
      read();
      return true;
    });
  while (begin.lastTransfer - scan.position > IDS_PER_READ) {
    if (options.signal.aborted) return true;
    if (!readUnlessRolledBack(() => scan.advance(begin.lastTransfer))) return false;
    options.onProgress((scan.position - after) / (begin.lastTransfer - after));
    await setImmediate();
  }
  return readUnlessRolledBack(() => {
    const end = readLastBlock(db)?.lastTransfer ?? 0;
    while (scan.position < end) scan.advance(end);
    // Only now, because a restarted scan would report them again.
    for (const gap of options.all ? [] : scan.gaps) checks.wallets.addDifference(gap);
    for (const wallet of missing.wallets) checks.wallets.addDifference(`wallet ${wallet} has no row`);
    for (const token of missing.tokens) checks.tokens.addDifference(`token ${token} has no row`);
    for (const recount of scan.wallets.values())
      decoding(checks.wallets, `wallet ${recount.id}`, () => wallets.compare(recount, checks.wallets));
    const tokens = new TokenComparer(db);
    for (const recount of scan.tokens.values())
      decoding(checks.tokens, `token ${recount.id}`, () => tokens.compare(recount, checks.tokens));
    noteTooLarge(checks, scan);
    if (options.all) return;
    checkAddresses(db, checks.wallets, readLastBlock(db)?.lastWallet ?? 0);
    checkZoneMap(db, checks.wallets, { ...options, last: end });
    reportCoverage(db, checks, scan, after, end);
  });
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

function noteTooLarge(checks: CounterChecks, { tooLarge }: SampleScan): void {
  for (const name of ['wallets', 'tokens'] as const) {
    const [first] = tooLarge[name];
    if (first !== undefined)
      checks[name].addNote(
        `${tooLarge[name].length} were not recounted, such as number ${first}: they would take too much memory`,
      );
  }
}

function reportCoverage(db: Db, checks: CounterChecks, scan: SampleScan, after: number, end: number): void {
  const { wallets, tokens } = scan;
  checks.wallets.share = wallets.size / (highest(db, 'wallets') + 1);
  checks.tokens.share = tokens.size / Math.max(1, highest(db, 'tokens'));
  checks.wallets.compared = `${wallets.size.toLocaleString('en-US')} wallets recounted from ${(end - after).toLocaleString('en-US')} transfers`;
  checks.tokens.compared = `${tokens.size.toLocaleString('en-US')} tokens with all holdings and first buyers recounted`;
  if (after > 0)
    checks.wallets.addNote(
      `only the newest ${(end - after).toLocaleString('en-US')} of ${end.toLocaleString('en-US')} transfers were read, for wallets and tokens that began among them; a larger --sample reads more`,
    );
}

/** Wallets and tokens with all transfers after `after`: half random, half from random transfers, which hits busy ones. */
function chooseSample(
  db: Db,
  tip: Tip,
  after: number,
  { sample, only, all, random }: CounterOptions,
): SampleIds & { missing: SampleIds } {
  const transfer = db.prepare<[number], { sender: number; receiver: number; token: number | null }>(
    'SELECT sender, receiver, token FROM transfers WHERE id = ?',
  );
  const randomTransfer = () =>
    tip.lastTransfer > after ? transfer.get(randomInt(random, after + 1, tip.lastTransfer)) : undefined;
  const lastToken = highest(db, 'tokens');
  const wallets = new IdSampler(
    db.prepare(
      `SELECT min(transfers, ${ENTRIES_PER_PAGE}) + tokens AS kept, first_transfer FROM wallets WHERE id = ?`,
    ),
    tip.lastWallet,
    after,
  );
  const tokens = new IdSampler(
    db.prepare('SELECT wallets AS kept, first_transfer FROM tokens WHERE id = ?'),
    lastToken,
    after,
  );
  const chosen = () => ({
    wallets: [...wallets.chosen],
    tokens: [...tokens.chosen],
    missing: { wallets: [...wallets.missing], tokens: [...tokens.missing] },
  });
  if (all) {
    for (const id of all.wallets) wallets.add(id);
    for (const id of all.tokens) tokens.add(id);
    return chosen();
  }
  if (only) {
    for (const id of only.wallets) wallets.addIfFits(id);
    for (const id of only.tokens) tokens.addIfFits(id);
    return chosen();
  }
  const count = Math.ceil(sample / 4);
  addRange(wallets, 0, tip.lastWallet, sample);
  addRange(tokens, 1, lastToken, count);
  for (let i = 0; i < sample; i++) {
    const { sender = 0, receiver = 0 } = randomTransfer() ?? {};
    wallets.addIfFits(
      [randomInt(random, 0, tip.lastWallet), sender, randomInt(random, 0, tip.lastWallet), receiver][i % 4]!,
    );
    if (i < count)
      tokens.addIfFits(i % 2 === 0 ? randomInt(random, 1, lastToken) : (randomTransfer()?.token ?? 1));
  }
  return chosen();
}

/** Takes the whole range if it is not larger than the sample. */
function addRange(sampler: IdSampler, from: number, to: number, sample: number): void {
  if (to - from + 1 > sample) return;
  for (let id = from; id <= to; id++) sampler.addIfFits(id);
}

interface Counted {
  kept: number;
  first_transfer: number | null;
}

/** Samples ids while their entries fit the bounds. */
class IdSampler {
  readonly chosen = new Set<number>();
  /** Ids without a row although higher ones have one. */
  readonly missing = new Set<number>();
  private readonly row: Statement<[number], Counted>;
  private readonly last: number;
  private readonly after: number;
  private total = 0;

  constructor(row: Statement<[number], Counted>, last: number, after: number) {
    this.row = row;
    this.last = last;
    this.after = after;
  }

  add(id: number): void {
    if (this.row.get(id) === undefined) this.missing.add(id);
    else this.chosen.add(id);
  }

  addIfFits(id: number): void {
    const row = this.row.get(id);
    if (row === undefined && id <= this.last) this.missing.add(id);
    if (row === undefined || this.chosen.has(id) || row.kept > MAX_KEPT_EACH) return;
    if (this.total + row.kept > MAX_KEPT_ALL) return;
    if (this.after > 0 && (row.first_transfer ?? 0) <= this.after) return;
    this.total += row.kept;
    this.chosen.add(id);
  }
}

/** Reads the keys of all addresses, a few bytes each. */
export function checkAddresses(db: Db, check: Check, lastWallet: number): void {
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
