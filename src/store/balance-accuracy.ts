/** How far a token's balances follow from its transfers: the table `token_quality` and the public names of its values. */

import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';

/**
 * exact: the contract's own balances equal the sums of its transfers. partial: they differ by what happened before
 * the index begins. unreliable: balances move without transfers (rebasing, fee on transfer, minting without an event).
 */
export const BalanceAccuracy = { exact: 0, partial: 1, unreliable: 2 } as const;
export type BalanceAccuracy = (typeof BalanceAccuracy)[keyof typeof BalanceAccuracy];

/** The public name of each, indexed by its number (REST `estimateQuality`). */
export const BALANCE_ACCURACY_NAMES = ['exact', 'partial', 'unreliable'] as const;
export type BalanceAccuracyName = (typeof BALANCE_ACCURACY_NAMES)[number];

/** By how much the contract's balance of a wallet was above the sum of its transfers. */
export interface BalanceOffset {
  /** wallets.id; the zero address stands for the total supply. */
  wallet: number;
  offset: bigint;
}

/** What is known of one token. */
export interface TokenBalanceAccuracy {
  quality: BalanceAccuracy;
  /** Head of the index when it was last examined. */
  block: number;
  /** Offsets when the token first got this quality: one that changes later shows balances moving without transfers. */
  offsets: readonly BalanceOffset[];
}

/** How many of the newest transfers are searched for tokens to examine. */
const RECENT_TRANSFERS = 500;
/** Most tokens looked at to find one that was never examined, so that a search never takes long. */
const MAX_SCANNED_TOKENS = 1_000;

/** After so many blocks a token is examined again if it has just moved; after RECHECK_BLOCKS in any case. */
const RECHECK_MOVED_BLOCKS = 100;
const RECHECK_BLOCKS = 20_000;

/**
 * The tokens to examine next: first those that have just moved and were never examined; then those that moved again and
 * those never examined, taking turns at going first; then those examined long ago. At most `limit`; `head` is the
 * index's last block.
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
  /** As far as was seen, all tokens up to this one were examined; after the last token the search starts over. */
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

/** Reads and writes what is known of tokens; part of the one writer. */
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
