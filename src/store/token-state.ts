/** Rows of `tokens`, `holdings` and `first_buyers` while a commit changes them. */
import { decodeSigned, encodeSigned } from '../lib/signed.ts';
import type { Db, Statement } from './open.ts';
import { FIRST_BUYERS, ZERO_WALLET } from './schema.ts';

/** One wallet's part in one token. */
export class HoldingState {
  transfers: number;
  balance: bigint;
  readonly stored: boolean;
  private readonly wasPositive: boolean;

  constructor(row: { transfers: number; balance: Buffer } | undefined) {
    this.stored = row !== undefined;
    this.transfers = row?.transfers ?? 0;
    this.balance = row ? decodeSigned(row.balance) : 0n;
    this.wasPositive = this.balance > 0n;
  }

  /** +1 when the wallet became a holder by this commit, -1 when it stopped being one. */
  get holderChange(): number {
    return Number(this.balance > 0n) - Number(this.wasPositive);
  }
}

interface TokenRow {
  id: number;
  wallet: number;
  transfers: number;
  holders: number;
  wallets: number;
  buyers: number;
  first_transfer: number;
  kind: number;
}

/** One token's row with those of its holdings that the commit touches. */
export class TokenState {
  transfers: number;
  holders: number;
  wallets: number;
  buyers: number;
  readonly id: number;
  readonly wallet: number;
  readonly firstTransfer: number;
  readonly kind: number;
  readonly stored: boolean;
  readonly holdings = new Map<number, HoldingState>();
  /** Wallets among the first buyers, while there is room for more; null once the list is full or not looked at. */
  knownBuyers: Set<number> | null = null;

  constructor(row: TokenRow, stored: boolean) {
    this.id = row.id;
    this.wallet = row.wallet;
    this.transfers = row.transfers;
    this.holders = row.holders;
    this.wallets = row.wallets;
    this.buyers = row.buyers;
    this.firstTransfer = row.first_transfer;
    this.kind = row.kind;
    this.stored = stored;
  }
}

/** The statements on the token tables that a commit needs. */
export class TokenTable {
  private readonly db: Db;
  private readonly byWallet: Statement<[number], TokenRow>;
  private readonly byId: Statement<[number], TokenRow>;
  private readonly insert: Statement;
  private readonly update: Statement;
  private readonly holding: Statement<[number, number], { transfers: number; balance: Buffer }>;
  private readonly insertHolding: Statement;
  private readonly updateHolding: Statement;
  private readonly deleteHolding: Statement;
  private readonly buyersOf: Statement<[number], number>;
  private readonly insertBuyer: Statement;

  constructor(db: Db) {
    this.db = db;
    const columns = 'id, wallet, transfers, holders, wallets, buyers, first_transfer, kind';
    this.byWallet = db.prepare(`SELECT ${columns} FROM tokens WHERE wallet = ?`);
    this.byId = db.prepare(`SELECT ${columns} FROM tokens WHERE id = ?`);
    this.insert = db.prepare(`INSERT INTO tokens (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.update = db.prepare(
      'UPDATE tokens SET transfers = ?, holders = ?, wallets = ?, buyers = ? WHERE id = ?',
    );
    this.holding = db.prepare('SELECT transfers, balance FROM holdings WHERE token = ? AND wallet = ?');
    this.insertHolding = db.prepare(
      'INSERT INTO holdings (transfers, balance, token, wallet) VALUES (?, ?, ?, ?)',
    );
    this.updateHolding = db.prepare(
      'UPDATE holdings SET transfers = ?, balance = ? WHERE token = ? AND wallet = ?',
    );
    this.deleteHolding = db.prepare('DELETE FROM holdings WHERE token = ? AND wallet = ?');
    this.buyersOf = db.prepare<[number], number>('SELECT wallet FROM first_buyers WHERE token = ?').pluck();
    this.insertBuyer = db.prepare('INSERT INTO first_buyers (token, transfer, wallet) VALUES (?, ?, ?)');
  }

  /** Highest tokens.id, 0 when there is none. */
  lastId(): number {
    return this.db.prepare<[], number>('SELECT ifnull(max(id), 0) FROM tokens').pluck().get() ?? 0;
  }

  findByWallet(wallet: number): TokenState | null {
    const row = this.byWallet.get(wallet);
    return row ? new TokenState(row, true) : null;
  }

  load(id: number): TokenState {
    const row = this.byId.get(id);
    if (!row) throw new Error(`token ${id} is named by the index but has no row: the index is damaged`);
    return new TokenState(row, true);
  }

  holdingOf(token: TokenState, wallet: number): HoldingState {
    let holding = token.holdings.get(wallet);
    if (!holding) {
      holding = new HoldingState(token.stored ? this.holding.get(token.id, wallet) : undefined);
      token.holdings.set(wallet, holding);
    }
    return holding;
  }

  /** Notes a receiver of a non-zero amount as one of the first buyers while there is room. */
  noteBuyer(token: TokenState, wallet: number, transfer: number): void {
    if (token.buyers >= FIRST_BUYERS || wallet === ZERO_WALLET) return;
    token.knownBuyers ??= new Set(this.buyersOf.all(token.id));
    if (token.knownBuyers.has(wallet)) return;
    token.knownBuyers.add(wallet);
    token.buyers++;
    this.insertBuyer.run(token.id, transfer, wallet);
  }

  /** Writes the token's row and its touched holdings in key order; holdings without transfers left are removed. */
  save(token: TokenState): void {
    const wallets = [...token.holdings.keys()].sort((a, b) => a - b);
    for (const wallet of wallets) {
      const holding = token.holdings.get(wallet)!;
      if (wallet !== ZERO_WALLET) token.holders += holding.holderChange;
      if (holding.transfers === 0) this.deleteHolding.run(token.id, wallet);
      else {
        const statement = holding.stored ? this.updateHolding : this.insertHolding;
        statement.run(holding.transfers, encodeSigned(holding.balance), token.id, wallet);
      }
    }
    if (token.stored) this.update.run(token.transfers, token.holders, token.wallets, token.buyers, token.id);
    else {
      this.insert.run(
        token.id,
        token.wallet,
        token.transfers,
        token.holders,
        token.wallets,
        token.buyers,
        token.firstTransfer,
        token.kind,
      );
    }
  }
}
