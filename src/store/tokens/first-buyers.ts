/**
 * The table `first_buyers`: the first receivers of each token, packed into one row per token. One row per receiver
 * would take three times the space.
 */
import { pushVarint, readVarints } from '../../lib/varint.ts';
import type { Db, Statement } from '../open-database.ts';
import { MAX_FIRST_BUYERS } from '../schema.ts';

/** A wallet, and the transfer that made it a holder: wallets.id and transfers.id. */
export interface Buyer {
  transfer: number;
  wallet: number;
}

/** A token and its number of first buyers, which the caller saves. */
interface CountedToken {
  readonly id: number;
  buyers: number;
}

const NOTHING = new Uint8Array(0);

/** The packed form of a token's first buyers, which are in transfer order. */
export function packBuyers(buyers: readonly Buyer[]): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (const { transfer, wallet } of buyers) {
    pushVarint(bytes, transfer - before);
    pushVarint(bytes, wallet);
    before = transfer;
  }
  return new Uint8Array(bytes);
}

/** The first buyers in a packed row. Reading damaged bytes ends early and never fails. */
export function unpackBuyers(bytes: Uint8Array): Buyer[] {
  const numbers = readVarints(bytes);
  const buyers: Buyer[] = [];
  let transfer = 0;
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    transfer += numbers[at]!;
    buyers.push({ transfer, wallet: numbers[at + 1]! });
  }
  return buyers;
}

/** The first buyers of a token, in transfer order. */
export function prepareBuyersOf(db: Db): (token: number) => Buyer[] {
  const statement = db
    .prepare<[number], Uint8Array | null>(
      'SELECT CAST(buyers AS BLOB) FROM first_buyers WHERE token = +?', // damage may change the type
    )
    .pluck();
  return (token) => unpackBuyers(statement.get(token) ?? NOTHING);
}

/** The statements on `first_buyers` that a commit needs. */
export class FirstBuyerTable {
  private readonly buyersOf: (token: number) => Buyer[];
  private readonly write: Statement;
  private readonly deleteRow: Statement;

  constructor(db: Db) {
    this.buyersOf = prepareBuyersOf(db);
    this.write = db.prepare('REPLACE INTO first_buyers (token, buyers) VALUES (?, ?)');
    this.deleteRow = db.prepare('DELETE FROM first_buyers WHERE token = ?');
  }

  /**
   * Adds to the first buyers, until the list is full. `receivers` are those of a non-zero amount in this commit, each
   * with its first transfer, in transfer order.
   */
  add(token: CountedToken, receivers: Iterable<Buyer>): void {
    const stored = this.buyersOf(token.id);
    const known = new Set(stored.map(({ wallet }) => wallet));
    const added: Buyer[] = [];
    for (const receiver of receivers) {
      if (token.buyers >= MAX_FIRST_BUYERS) break;
      if (known.has(receiver.wallet)) continue;
      added.push(receiver);
      token.buyers++;
    }
    if (added.length > 0) this.write.run(token.id, packBuyers([...stored, ...added]));
  }

  /** Removes the buyers after the transfer `last`. */
  rollback(token: CountedToken, last: number): void {
    const stored = this.buyersOf(token.id);
    const kept = stored.filter(({ transfer }) => transfer <= last);
    if (kept.length === stored.length) return;
    token.buyers -= stored.length - kept.length;
    if (kept.length > 0) this.write.run(token.id, packBuyers(kept));
    else this.deleteRow.run(token.id);
  }
}
