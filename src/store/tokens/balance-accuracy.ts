/** Balance accuracy: whether a token's balances follow from its transfers. The table `token_quality`. */

import { rowChecksum } from '../checksum.ts';
import type { Db, Statement } from '../open-database.ts';

/**
 * exact: the contract's balances equal the sums of its transfers. partial: they differ by a constant from before the
 * index begins. unreliable: balances move without transfers (rebasing, fee on transfer, minting without an event).
 */
export const BalanceAccuracy = { exact: 0, partial: 1, unreliable: 2 } as const;
export type BalanceAccuracy = (typeof BalanceAccuracy)[keyof typeof BalanceAccuracy];

/** The public names (REST `estimateQuality`), indexed by number. */
export const BALANCE_ACCURACY_NAMES = ['exact', 'partial', 'unreliable'] as const;
export type BalanceAccuracyName = (typeof BALANCE_ACCURACY_NAMES)[number];

/** The contract's balance of a wallet minus the sum of its transfers. */
export interface BalanceOffset {
  /** wallets.id; the zero address means the total supply. */
  wallet: number;
  offset: bigint;
}

/** The last examination of one token. */
export interface TokenBalanceAccuracy {
  quality: BalanceAccuracy;
  /** Head of the index at the last examination. */
  block: number;
  /** Offsets as first found. A later change proves that balances move without transfers. */
  offsets: readonly BalanceOffset[];
}

/** How many of the newest transfers are searched for tokens to examine. */
const RECENT_TRANSFERS = 500;
/** How many tokens may be scanned to find one that was never examined. */
const MAX_SCANNED_TOKENS = 1_000;

/** Blocks until a token that moved recently is examined again. Any other token waits RECHECK_BLOCKS. */
const RECHECK_MOVED_BLOCKS = 100;
const RECHECK_BLOCKS = 20_000;

/**
 * Prepares the choice of the next tokens to examine, at most `limit`: first those that moved recently and were never
 * examined; then, alternately, those that moved again and those never examined; then those examined longest ago. `head`
 * is the last indexed block.
 */
export function prepareTokensToExamine(db: Db): (head: number, limit: number) => number[] {
  const moved = db
    .prepare<[number, number, number], number>(/* sql */ `
      SELECT DISTINCT t.token FROM transfers t LEFT JOIN token_quality q ON q.token = t.token
      WHERE t.id > (SELECT max(id) FROM transfers) - ? AND t.token IS NOT NULL AND ifnull(q.block, -1) < ? LIMIT ?`)
    .pluck();
  const tokensAfter = db.prepare<[number, number], { id: number; examined: number }>(/* sql */ `
    SELECT t.id, q.token IS NOT NULL AS examined FROM tokens t LEFT JOIN token_quality q ON q.token = t.id
    WHERE t.id > ? ORDER BY t.id LIMIT ?`);
  const stale = db
    .prepare<[number, number], number>(
      'SELECT token FROM token_quality WHERE block < ? ORDER BY block LIMIT ?',
    )
    .pluck();
  /** All tokens up to this id were examined when last scanned. The scan restarts after the last token. */
  let examinedUpTo = 0;
  const unexamined = (limit: number): number[] => {
    const next = tokensAfter.all(examinedUpTo, MAX_SCANNED_TOKENS);
    const first = next.findIndex(({ examined }) => examined === 0);
    examinedUpTo = first < 0 ? (next.at(-1)?.id ?? 0) : (next[first - 1]?.id ?? examinedUpTo);
    return next.flatMap(({ id, examined }) => (examined === 0 ? [id] : [])).slice(0, limit);
  };
  let turn = 0;
  return (head, limit) => {
    const movedAgain = (): number[] => moved.all(RECENT_TRANSFERS, head - RECHECK_MOVED_BLOCKS, limit);
    const byTurns = [movedAgain, () => unexamined(limit)];
    if (turn++ % 2 === 1) byTurns.reverse();
    const sources = [
      () => moved.all(RECENT_TRANSFERS, 0, limit),
      ...byTurns,
      () => stale.all(head - RECHECK_BLOCKS, limit),
    ];
    for (const source of sources) {
      const tokens = source();
      if (tokens.length > 0) return tokens;
    }
    return [];
  };
}

/** Reads and writes the results of examinations. */
export class BalanceAccuracyTable {
  private readonly select: Statement<[number], { quality: BalanceAccuracy; block: number; offsets: string }>;
  private readonly upsert: Statement;

  constructor(db: Db) {
    this.select = db.prepare('SELECT quality, block, offsets FROM token_quality WHERE token = ?');
    this.upsert = db.prepare(/* sql */ `
      REPLACE INTO token_quality (token, quality, block, offsets, checksum) VALUES (?, ?, ?, ?, ?)`);
  }

  get(token: number): TokenBalanceAccuracy | null {
    const row = this.select.get(token);
    return row ? { ...row, offsets: parseOffsets(row.offsets) } : null;
  }

  set(token: number, found: TokenBalanceAccuracy): void {
    const row = [token, found.quality, found.block, formatOffsets(found.offsets)];
    this.upsert.run(...row, rowChecksum(...row));
  }
}

function formatOffsets(offsets: readonly BalanceOffset[]): string {
  return offsets.map(({ wallet, offset }) => `${wallet}:${offset}`).join(' ');
}

function parseOffsets(text: string): BalanceOffset[] {
  if (text === '') return [];
  return text.split(' ').map((part) => {
    const [wallet = '', offset = ''] = part.split(':');
    return { wallet: Number(wallet), offset: BigInt(offset) };
  });
}
