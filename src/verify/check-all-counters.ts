/** Recounts every wallet and token from the transfers, in passes that fit into memory. */

import { readLastBlock } from '../store/chain.ts';
import { type Db, highest, inReadTransaction, type Statement } from '../store/open-database.ts';
import { ENTRIES_PER_PAGE } from '../store/wallet-history.ts';
import { type CounterChecks, checkAddresses, checkCounters } from './check-counters.ts';
import { checkAllPeaks } from './check-zone-map.ts';
import { RECOUNT_BYTES } from './recount.ts';
import type { Check } from './report.ts';
import type { SampleIds } from './sample.ts';

/** Memory limit for the recounts of one pass over the transfers, bytes: half for wallets, half for tokens. */
const BYTES_PER_PASS = 300_000_000;

interface FullRecountOptions {
  signal: AbortSignal;
  onProgress(done: number): void;
  /** Called before each pass with the wallets and tokens that it recounts. */
  onPass?(ids: SampleIds): void;
  /** Tests pass fewer. */
  bytesPerPass?: number;
}

/** Costs one pass over all transfers per `bytesPerPass` of recounts. */
export async function checkAllCounters(
  db: Db,
  checks: CounterChecks,
  { signal, onProgress, onPass, bytesPerPass = BYTES_PER_PASS }: FullRecountOptions,
): Promise<void> {
  const lastWallet = readLastBlock(db)?.lastWallet ?? 0;
  const lastToken = highest(db, 'tokens');
  const total = lastWallet + 1 + lastToken;
  const packer = new PassPacker(db, bytesPerPass / 2);
  for (let wallet = 0, token = 1; (wallet <= lastWallet || token <= lastToken) && !signal.aborted; ) {
    const all = { wallets: packer.wallets(wallet, lastWallet), tokens: packer.tokens(token, lastToken) };
    onPass?.(all);
    const done = wallet + token - 1;
    const size = all.wallets.length + all.tokens.length;
    await checkCounters(db, checks, {
      sample: 0,
      all,
      random: Math.random,
      signal,
      onProgress: (part) => onProgress((done + part * size) / total),
    });
    wallet += all.wallets.length;
    token += all.tokens.length;
  }
  if (signal.aborted) return;
  const last = readLastBlock(db)?.lastTransfer ?? 0;
  await checkAllPeaks(db, checks.wallets, { last, signal });
  inReadTransaction(db, () => {
    checkAddresses(db, checks.wallets, readLastBlock(db)?.lastWallet ?? 0);
    checkFundings(db, checks.wallets);
  });
  checks.wallets.compared = `all ${(lastWallet + 1).toLocaleString('en-US')} wallets recounted from their transfers`;
  checks.tokens.compared = `all ${lastToken.toLocaleString('en-US')} tokens with holdings and first buyers recounted`;
  checks.wallets.share = 1;
  checks.tokens.share = 1;
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

/** Chooses the consecutive ids of the next pass. Estimates sizes from the stored counters. */
class PassPacker {
  private readonly walletSizes: Statement<[number, number], number | null>;
  private readonly tokenSizes: Statement<[number, number], number | null>;
  private readonly maxBytes: number;

  constructor(db: Db, maxBytes: number) {
    this.maxBytes = maxBytes;
    this.walletSizes = db
      .prepare<[number, number], number | null>(
        /* sql */ `
        SELECT min(transfers, ${ENTRIES_PER_PAGE}) * ${RECOUNT_BYTES.entry}
          + tokens * ${RECOUNT_BYTES.walletToken} + ${RECOUNT_BYTES.wallet}
        FROM wallets WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .pluck();
    this.tokenSizes = db
      .prepare<[number, number], number | null>(
        /* sql */ `
        SELECT wallets * ${RECOUNT_BYTES.holding} + ${RECOUNT_BYTES.token}
        FROM tokens WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .pluck();
  }

  wallets(from: number, to: number): number[] {
    return pack(this.walletSizes, from, to, this.maxBytes);
  }

  tokens(from: number, to: number): number[] {
    return pack(this.tokenSizes, from, to, this.maxBytes);
  }
}

/** The ids from `from` on whose sizes add up to at most `maxBytes`; at least one id. */
function pack(
  sizes: Statement<[number, number], number | null>,
  from: number,
  to: number,
  maxBytes: number,
): number[] {
  let bytes = 0;
  let count = 0;
  for (const size of sizes.iterate(from, to)) {
    bytes += Math.max(0, size ?? 0); // damage may give any number
    if (count > 0 && bytes > maxBytes) break;
    count++;
  }
  // If rows are missing, the pass ends early; the next one includes their ids and reports them.
  const end = count === 0 ? to : Math.min(to, from + count - 1);
  return Array.from({ length: Math.max(0, end - from + 1) }, (_, i) => from + i);
}
