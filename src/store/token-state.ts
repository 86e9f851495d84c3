/** Rows of `tokens`, `holdings` and `first_buyers` while a commit changes them. */
import { decodeSigned, encodeSigned } from '../lib/signed.ts';
import { type Db, highest, type Statement } from './open-database.ts';
import { RowWriter } from './row-writer.ts';
import { MAX_FIRST_BUYERS, ZERO_WALLET } from './schema.ts';
import { DamageError } from './storage-error.ts';
import type { WalletState } from './wallet-state.ts';

/** How a commit changes one wallet's holding of one token. */
interface HoldingDelta {
  readonly wallet: WalletState;
  transfers: number;
  balance: bigint;
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

/** One token's row and the holdings that the commit touches. */
export class TokenState {
  transfers: number;
  holders: number;
  wallets: number;
  buyers: number;
  readonly id: number;
  readonly wallet: number;
  readonly firstTransfer: number;
  readonly kind: number;
  readonly isStored: boolean;
  /** By wallets.id. */
  readonly holdings = new Map<number, HoldingDelta>();
  /** The first buyers so far; null until read. A full list is never read. */
  knownBuyers: Set<number> | null = null;
  /** First buyers that the commit adds. */
  readonly newBuyers: { transfer: number; wallet: number }[] = [];

  constructor(row: TokenRow, isStored: boolean) {
    this.id = row.id;
    this.wallet = row.wallet;
    this.transfers = row.transfers;
    this.holders = row.holders;
    this.wallets = row.wallets;
    this.buyers = row.buyers;
    this.firstTransfer = row.first_transfer;
    this.kind = row.kind;
    this.isStored = isStored;
  }
}

/** The statements on the token tables that a commit needs. */
export class TokenTable {
  private readonly db: Db;
  private readonly byWallet: Statement<[number], TokenRow>;
  private readonly byId: Statement<[number], TokenRow>;
  private readonly insert: Statement;
  private readonly update: Statement;
  private readonly holding: Statement<[number, number], [transfers: number, balance: Buffer]>;
  private readonly holdings: RowWriter;
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
    this.holding = db
      .prepare<[number, number], [transfers: number, balance: Buffer]>(
        'SELECT transfers, balance FROM holdings WHERE token = ? AND wallet = ?',
      )
      .raw();
    this.holdings = new RowWriter(
      db,
      'REPLACE INTO holdings (token, wallet, transfers, balance) VALUES (?, ?, ?, ?)',
    );
    this.deleteHolding = db.prepare('DELETE FROM holdings WHERE token = ? AND wallet = ?');
    this.buyersOf = db.prepare<[number], number>('SELECT wallet FROM first_buyers WHERE token = ?').pluck();
    this.insertBuyer = db.prepare('INSERT INTO first_buyers (token, transfer, wallet) VALUES (?, ?, ?)');
  }

  /** Begins a commit. */
  begin(): void {
    this.holdings.reset();
  }

  /** Highest tokens.id, 0 when there is none. */
  lastId(): number {
    return highest(this.db, 'tokens');
  }

  findByWallet(wallet: number): TokenState | null {
    const row = this.byWallet.get(wallet);
    return row ? new TokenState(row, true) : null;
  }

  load(id: number): TokenState {
    const row = this.byId.get(id);
    if (!row) throw new DamageError(`the index refers to token ${id}, which has no row`);
    return new TokenState(row, true);
  }

  /** Adds to a wallet's balance and to its number of transfers of the token. */
  addToHolding(token: TokenState, wallet: WalletState, balance: bigint, transfers: number): void {
    const holding = token.holdings.get(wallet.id);
    if (holding === undefined) token.holdings.set(wallet.id, { wallet, balance, transfers });
    else {
      holding.balance += balance;
      holding.transfers += transfers;
    }
  }

  /** Records a receiver of a non-zero amount, unless the list of first buyers is full. */
  recordBuyer(token: TokenState, wallet: number, transfer: number): void {
    if (token.buyers >= MAX_FIRST_BUYERS || wallet === ZERO_WALLET) return;
    token.knownBuyers ??= new Set(this.buyersOf.all(token.id));
    if (token.knownBuyers.has(wallet)) return;
    token.knownBuyers.add(wallet);
    token.buyers++;
    token.newBuyers.push({ transfer, wallet });
  }

  /**
   * Writes the token's row, its new first buyers, and its touched holdings in key order. Reads each holding right before
   * writing it, so that its page is fetched once; deletes holdings without transfers left. Updates the token counts of
   * the wallets, whose rows are written later.
   */
  save(token: TokenState): void {
    for (const id of [...token.holdings.keys()].sort((a, b) => a - b)) {
      this.saveHolding(token, token.holdings.get(id)!);
    }
    for (const { transfer, wallet } of token.newBuyers) this.insertBuyer.run(token.id, transfer, wallet);
    if (token.isStored)
      this.update.run(token.transfers, token.holders, token.wallets, token.buyers, token.id);
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

  /** Call it after saving all tokens of a commit. */
  flush(): void {
    this.holdings.flush();
  }

  private saveHolding(token: TokenState, change: HoldingDelta): void {
    const { id } = change.wallet;
    const row = token.isStored ? this.holding.get(token.id, id) : undefined;
    const before = row === undefined ? 0n : decodeSigned(row[1]);
    const balance = before + change.balance;
    const transfers = (row?.[0] ?? 0) + change.transfers;
    if (transfers === 0) this.deleteHolding.run(token.id, id);
    else this.holdings.add(token.id, id, transfers, encodeSigned(balance));
    const holdingsDelta = Number(transfers > 0) - Number(row !== undefined);
    change.wallet.tokens += holdingsDelta;
    if (id === ZERO_WALLET) return;
    token.wallets += holdingsDelta;
    token.holders += Number(balance > 0n) - Number(before > 0n);
  }
}
