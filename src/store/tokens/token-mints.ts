/**
 * What the zero address gave of each token, by the transfers that move its holdings. What it got follows from it and
 * from its balance (query/minted.ts).
 */
import { bigIntToBytes, bytesToBigInt, digitsToBigInt } from '../../lib/hex.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import { sumsOwnForm } from '../index-rules.ts';
import type { Db, Statement } from '../open-database.ts';
import { ZERO_WALLET } from '../schema.ts';
import { DamageError } from '../storage-error.ts';

/** A transfer of a token from the zero address to another. */
export interface Mint {
  /** tokens.id. */
  token: number;
  /** Whether it is of the kind of the token's first transfer (store/index-rules.ts). */
  isOwnForm: boolean;
  amount: bigint;
}

type StoredMint = [token: number, isOwnForm: 0 | 1, kind: number, amount: string];

/** The statements on `token_mints` that commits, rollbacks and steps need. */
export class TokenMintTable {
  private readonly db: Db;
  private readonly mints: Statement<[number, number], StoredMint>;
  private readonly sum: Statement<[number], Buffer>;
  private readonly replace: Statement;
  private readonly remove: Statement;

  constructor(db: Db) {
    this.db = db;
    this.mints = db
      .prepare<[number, number], StoredMint>(/* sql */ `
        SELECT t.token, t.kind = k.kind, t.kind, hex(t.amount) FROM transfers t CROSS JOIN tokens k ON k.id = t.token
        WHERE t.id >= ? AND t.id <= ? AND t.sender = ${ZERO_WALLET} AND t.receiver <> ${ZERO_WALLET}`)
      .raw();
    this.sum = db.prepare<[number], Buffer>('SELECT minted FROM token_mints WHERE token = ?').pluck();
    this.replace = db.prepare('REPLACE INTO token_mints (token, minted) VALUES (?, ?)');
    this.remove = db.prepare('DELETE FROM token_mints WHERE token = ?');
  }

  /** The mints among the transfers `first..last`, whose tokens have rows. */
  *stored(first: number, last: number): Generator<Mint> {
    for (const [token, isOwnForm, kind, amount] of this.mints.all(first, last))
      yield { token, isOwnForm: isOwnForm === 1, amount: movesOne(kind) ? 1n : digitsToBigInt(amount) };
  }

  add(mints: Iterable<Mint>): void {
    this.change(mints, 1n);
  }

  subtract(mints: Iterable<Mint>): void {
    this.change(mints, -1n);
  }

  private change(mints: Iterable<Mint>, sign: bigint): void {
    const ownForm = sumsOwnForm(this.db);
    const changes = new Map<number, bigint>();
    for (const { token, isOwnForm, amount } of mints)
      if (isOwnForm || !ownForm) changes.set(token, (changes.get(token) ?? 0n) + sign * amount);
    for (const [token, change] of [...changes].sort(([a], [b]) => a - b)) {
      if (change === 0n) continue;
      const stored = this.sum.get(token);
      const sum = (stored === undefined ? 0n : bytesToBigInt(stored)) + change;
      if (sum < 0n) throw new DamageError(`the mints of token ${token} add up to more than their stored sum`);
      if (sum === 0n) this.remove.run(token);
      else this.replace.run(token, bigIntToBytes(sum));
    }
  }
}
