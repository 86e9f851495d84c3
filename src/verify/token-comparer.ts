/** Compares a token's rows with the sums of its transfers. */
import { decodeSigned } from '../lib/signed.ts';
import { blockOfTransfer } from '../store/chain.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { describeWallet } from './read-transaction.ts';
import type { TokenRecount } from './recount.ts';
import type { Check } from './report.ts';

interface HoldingRow {
  wallet: number;
  transfers: number;
  balance: Buffer;
}

export class TokenComparer {
  private readonly db: Db;
  private readonly row: Statement<[number], Record<string, number> & { wallet: number }>;
  private readonly holdings: Statement<[number], HoldingRow>;
  private readonly buyers: Statement<[number], { wallet: number; transfer: number }>;

  constructor(db: Db) {
    this.db = db;
    this.row = db.prepare(
      'SELECT wallet, transfers, holders, wallets, buyers, first_transfer, kind FROM tokens WHERE id = ?',
    );
    this.holdings = db.prepare('SELECT wallet, transfers, balance FROM holdings WHERE token = ?');
    this.buyers = db.prepare('SELECT wallet, transfer FROM first_buyers WHERE token = ? ORDER BY transfer');
  }

  /** Reports every difference between a token's rows and the recount of all its transfers. */
  compare(recount: TokenRecount, check: Check): void {
    const row = this.row.get(recount.id);
    if (row === undefined) return; // named as missing
    const name = `of token ${describeWallet(this.db, row.wallet)}`;
    for (const [column, expected] of Object.entries(recount.expectedColumns()))
      check.expect(`${column} ${name}`, row[column], expected);
    this.compareHoldings(recount, name, check);
    this.compareBuyers(recount, name, check);
  }

  private compareHoldings(recount: TokenRecount, name: string, check: Check): void {
    let seen = 0;
    let sum = 0n;
    for (const { wallet, transfers, balance } of this.holdings.iterate(recount.id)) {
      const expected = recount.holdings.get(wallet);
      const what = `the holding of ${describeWallet(this.db, wallet)} ${name}`;
      sum += decodeSigned(balance);
      if (expected === undefined) {
        check.addDifference(`${what} is there, must not be`);
        continue;
      }
      seen++;
      check.expect(`${what} (transfers)`, transfers, expected.transfers);
      check.expect(`${what} (balance)`, decodeSigned(balance), expected.balance);
    }
    if (seen < recount.holdings.size)
      check.addDifference(`${recount.holdings.size - seen} holdings ${name} are missing`);
    check.expect(`the sum of all holdings ${name}`, sum, 0n);
  }

  private compareBuyers(recount: TokenRecount, name: string, check: Check): void {
    const expected = [...recount.buyers];
    const rows = this.buyers.all(recount.id);
    const at = expected.findIndex(
      ([wallet, transfer], i) => rows[i]?.wallet !== wallet || rows[i]?.transfer !== transfer,
    );
    if (at < 0 && rows.length === expected.length) return;
    const place = at < 0 ? expected.length : at;
    const transfer = expected[place]?.[1] ?? rows[place]?.transfer ?? 0;
    check.addDifference(
      `first buyer ${place + 1} ${name} is wallet ${rows[place]?.wallet}, must be ${expected[place]?.[0]}`,
      blockOfTransfer(this.db, transfer),
    );
  }
}
