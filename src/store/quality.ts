/** How far a token's balances follow from its transfers: the table `token_quality` and its words. */
import type { Db, Statement } from './open.ts';

/**
 * exact: the contract's own balances equal the sums of its transfers. partial: they differ by what happened before
 * the index begins. unreliable: balances move without transfers (rebasing, fee on transfer, minting without an event).
 */
export const Quality = { exact: 0, partial: 1, unreliable: 2 } as const;
export type Quality = (typeof Quality)[keyof typeof Quality];

/** The public name of each, indexed by its number (REST `estimateQuality`). */
export const QUALITY_NAMES = ['exact', 'partial', 'unreliable'] as const;
export type QualityName = (typeof QUALITY_NAMES)[number];

/** By how much the contract's balance of a wallet was above the sum of its transfers. */
export interface BalanceOffset {
  /** wallets.id; the zero address stands for the total supply. */
  wallet: number;
  offset: bigint;
}

/** What is known of one token. */
export interface TokenQuality {
  quality: Quality;
  /** Head of the index when it was last examined. */
  block: number;
  /** Offsets found when it first was as it is: a later change of one shows balances that move without transfers. */
  offsets: readonly BalanceOffset[];
}

/** The word for a token, null while it was not examined. */
export function qualityReader(db: Db): (token: number) => QualityName | null {
  const read = db.prepare<[number], number>('SELECT quality FROM token_quality WHERE token = +?').pluck();
  return (token) => QUALITY_NAMES[read.get(token) ?? -1] ?? null;
}

/** Reads and writes what is known of tokens; part of the one writer. */
export class QualityTable {
  private readonly select: Statement<[number], { quality: Quality; block: number; offsets: string }>;
  private readonly upsert: Statement;

  constructor(db: Db) {
    this.select = db.prepare('SELECT quality, block, offsets FROM token_quality WHERE token = ?');
    this.upsert = db.prepare(/* sql */ `
      INSERT INTO token_quality (token, quality, block, offsets) VALUES (?, ?, ?, ?)
      ON CONFLICT (token) DO UPDATE SET quality = excluded.quality, block = excluded.block, offsets = excluded.offsets`);
  }

  get(token: number): TokenQuality | null {
    const row = this.select.get(token);
    return row ? { ...row, offsets: parseOffsets(row.offsets) } : null;
  }

  set(token: number, found: TokenQuality): void {
    this.upsert.run(token, found.quality, found.block, formatOffsets(found.offsets));
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
