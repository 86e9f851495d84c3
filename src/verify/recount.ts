/**
 * Recounts the counters and facts of a wallet or a token from its transfers alone, independently of the store's code,
 * for comparison.
 */
import { TransferKind } from '../model/transfer-kind.ts';
import { sumsOwnForm } from '../store/index-rules.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { COUNTED_TRANSFER, type CountedTransfer, MAX_FIRST_BUYERS, ZERO_WALLET } from '../store/schema.ts';
import { TOKEN_PAGE_BYTES } from '../store/tokens/token-history.ts';
import { ENTRIES_PER_PAGE } from '../store/wallet-history.ts';
import { type DecodedTransfer, decodeStored } from '../tokens/decoded-transfer.ts';
import { type TradeComparer, TradeRecount } from './check-trades.ts';
import type { Difference } from './report.ts';

/** Wallets and tokens by their ids. */
export interface Ids {
  readonly wallets: readonly number[];
  readonly tokens: readonly number[];
}

/**
 * Bytes of memory that a recount takes, by which a full one is divided into passes: of a wallet, for each entry of its
 * open history page, and for each of its tokens; of a token, for each transfer of its open history page, and for each
 * of its holdings.
 */
export const RECOUNT_BYTES = {
  wallet: 1_400,
  entry: 110,
  walletToken: 150, // with the sums of trades, which a fifth of them have
  token: 900,
  tokenEntry: 10,
  holding: 130,
} as const;

/** One entry of a wallet's history. */
export interface RecountedEntry {
  transfer: number;
  kind: number;
  out: boolean;
  in: boolean;
  /** A zero token transfer. */
  zero: boolean;
  other: number;
  /** The amount of a native transfer, else null. */
  wei: bigint | null;
}

/**
 * What is compared. The functions describe how the stored history page differs from the recount's `page`, which is
 * full.
 */
export interface Compared {
  wallet(recount: WalletRecount): Difference | null;
  /** Null while the histories of tokens are incomplete (store/derived.ts). */
  token: ((recount: TokenRecount) => Difference | null) | null;
  /** Null while the sums of trades are incomplete. */
  trades: TradeComparer | null;
}

/** Recounts a wallet. Keeps one history page at a time: a busy wallet has many millions of entries. */
export class WalletRecount {
  readonly id: number;
  /** The newest entries: the open page, or a page that has just become full. */
  readonly page: RecountedEntry[] = [];
  /** Number of full pages before it. */
  pages = 0;
  firstTransfer: number | null = null;
  /** The first difference in the stored pages before it. */
  pageDifference: Difference | null = null;
  nativeReceived = 0n;
  nativeSent = 0n;
  private readonly comparePage: Compared['wallet'];
  private lastTransfer: number | null = null;
  private lastTransaction = 0;
  private transactions = 0;
  private readonly tokens = new Set<number>();
  private tokenTransfers = 0;
  private internalReceived = 0;
  private readonly firstIn = new Map<number, DecodedTransfer>();
  private readonly latestIn = new Map<number, DecodedTransfer>();
  /** Null if trades are not compared. */
  readonly trades: TradeRecount | null;

  constructor(id: number, { wallet, trades }: Pick<Compared, 'wallet' | 'trades'>) {
    this.id = id;
    this.comparePage = wallet;
    this.trades = trades && new TradeRecount(id, trades);
  }

  /** Entries in memory. */
  get kept(): number {
    return this.tokens.size;
  }

  /** The tokens of its transfers. */
  get moved(): Iterable<number> {
    return this.tokens;
  }

  /** Adds a transfer of the wallet, in chain order. */
  add(row: DecodedTransfer): void {
    const sends = row.sender === this.id;
    const receives = row.receiver === this.id;
    if (this.page.length === ENTRIES_PER_PAGE) {
      this.pageDifference ??= this.comparePage(this);
      this.pages++;
      this.page.length = 0;
    }
    this.firstTransfer ??= row.id;
    this.lastTransfer = row.id;
    this.page.push({
      transfer: row.id,
      kind: row.kind,
      out: sends,
      in: receives,
      zero: row.token !== null && row.amount === 0n,
      other: sends ? row.receiver : row.sender,
      wei: row.token === null ? row.amount : null,
    });
    this.trades?.add(row);
    if (row.transaction !== this.lastTransaction) this.transactions++;
    this.lastTransaction = row.transaction;
    if (row.token !== null) {
      this.tokens.add(row.token);
      this.tokenTransfers++;
      return;
    }
    if (sends) this.nativeSent += row.amount;
    if (!receives) return;
    this.nativeReceived += row.amount;
    if (row.kind === TransferKind.nativeInternal) this.internalReceived++;
    if (sends || row.sender === ZERO_WALLET) return;
    if (!this.firstIn.has(row.kind)) this.firstIn.set(row.kind, row);
    this.latestIn.set(row.kind, row);
  }

  /** The expected row of `wallets`, by column. */
  expectedColumns(): Record<string, number | null> {
    const direct = this.firstIn.get(TransferKind.nativeDirect);
    const internal = this.firstIn.get(TransferKind.nativeInternal);
    const funding = direct ?? internal;
    return {
      transfers: this.pages * ENTRIES_PER_PAGE + this.page.length,
      transactions: this.transactions,
      tokens: this.tokens.size,
      token_transfers: this.tokenTransfers,
      internal_received: this.internalReceived,
      first_transfer: this.firstTransfer,
      last_transfer: this.lastTransfer,
      first_direct: direct?.id ?? null,
      first_internal: internal?.id ?? null,
      latest_direct: this.latestIn.get(TransferKind.nativeDirect)?.id ?? null,
      latest_internal: this.latestIn.get(TransferKind.nativeInternal)?.id ?? null,
      funder: funding?.sender ?? null,
      funding: funding?.id ?? null,
    };
  }
}

/** A wallet's holding of a token. */
interface Holding {
  transfers: number;
  balance: bigint;
}

/** Recounts a token. Keeps one history page at a time. */
export class TokenRecount {
  readonly id: number;
  /** The newest transfers: the open page, or a page that the next transfer finds full. */
  readonly page: number[] = [];
  /** Number of full pages before it. */
  pages = 0;
  /** The first difference in the stored pages before it. */
  pageDifference: Difference | null = null;
  /** Null if pages are not compared. */
  readonly comparePage: Compared['token'];
  private pageBytes = 0;
  readonly holdings = new Map<number, Holding>();
  /** The first receivers: wallet to transfer. */
  readonly buyers = new Map<number, number>();
  private transfers = 0;
  /** What the zero address gave to others. */
  minted = 0n;
  private first: DecodedTransfer | null = null;
  private readonly sumsOwnForm: boolean;

  /** `sumsOwnForm`: see store/index-rules.ts. */
  constructor(id: number, sumsOwnForm: boolean, comparePage: Compared['token']) {
    this.id = id;
    this.comparePage = comparePage;
    this.sumsOwnForm = sumsOwnForm;
  }

  /** Entries in memory. */
  get kept(): number {
    return this.holdings.size;
  }

  /** Adds a transfer of the token, in chain order. */
  add(row: DecodedTransfer): void {
    this.transfers++;
    this.first ??= row;
    this.addToPage(row.id, this.first.id);
    for (const wallet of new Set([row.sender, row.receiver])) this.holding(wallet).transfers++;
    const amount = this.sumsOwnForm && row.kind !== this.first.kind ? 0n : row.amount;
    if (row.sender === ZERO_WALLET && row.receiver !== ZERO_WALLET) this.minted += amount;
    this.holding(row.sender).balance -= amount;
    this.holding(row.receiver).balance += amount;
    const buys = amount > 0n && row.receiver !== ZERO_WALLET && !this.buyers.has(row.receiver);
    if (buys && this.buyers.size < MAX_FIRST_BUYERS) this.buyers.set(row.receiver, row.id);
  }

  /** The expected row of `tokens`, by column. */
  expectedColumns(): Record<string, number | null> {
    let holders = 0;
    for (const [wallet, { balance }] of this.holdings) if (wallet !== ZERO_WALLET && balance > 0n) holders++;
    return {
      transfers: this.transfers,
      holders,
      wallets: this.holdings.size - Number(this.holdings.has(ZERO_WALLET)),
      buyers: this.buyers.size,
      first_transfer: this.first?.id ?? null,
      kind: this.first?.kind ?? null,
    };
  }

  /** The first transfer, 0 for a token without any. */
  get firstTransfer(): number {
    return this.first?.id ?? 0;
  }

  private addToPage(id: number, first: number): void {
    let bytes = distanceBytes(id - (this.page.at(-1) ?? first));
    if (this.pageBytes + bytes > TOKEN_PAGE_BYTES) {
      this.pageDifference ??= this.comparePage?.(this) ?? null;
      this.pages++;
      this.page.length = 0;
      this.pageBytes = 0;
      bytes = distanceBytes(id - first);
    }
    this.page.push(id);
    this.pageBytes += bytes;
  }

  private holding(wallet: number): Holding {
    const known = this.holdings.get(wallet);
    if (known !== undefined) return known;
    const holding = { transfers: 0, balance: 0n };
    this.holdings.set(wallet, holding);
    return holding;
  }
}

/** Bytes of a distance in a history page, seven bits each. */
function distanceBytes(distance: number): number {
  return Math.max(1, Math.ceil(distance.toString(2).length / 7));
}

/** Ids per statement: a fraction of a second. */
export const IDS_PER_READ = 100_000;

/** Most tokens of a wallet, and wallets of a token, that a recount keeps: about 300 MB. */
const MAX_KEPT = 2_000_000;

/** Recounts some wallets and tokens from the transfers; `advance` continues from `position`. */
export class RecountScan {
  readonly wallets: Map<number, WalletRecount>;
  readonly tokens: Map<number, TokenRecount>;
  /** Wallets and tokens dropped because they would take too much memory. */
  readonly tooLarge: { wallets: number[]; tokens: number[] } = { wallets: [], tokens: [] };
  /** Describes missing ids, at most one line per read. */
  readonly gaps: string[] = [];
  /** The last transfer read. */
  position: number;
  private readonly trades: TradeComparer | null;
  private readonly select: Statement<[number, number], CountedTransfer>;
  private readonly count: Statement<[number, number], number>;

  /** Starts after transfer `after`. */
  constructor(db: Db, ids: Ids, after: number, compare: Compared) {
    this.wallets = new Map(ids.wallets.map((id) => [id, new WalletRecount(id, compare)]));
    const ownForm = sumsOwnForm(db);
    this.tokens = new Map(ids.tokens.map((id) => [id, new TokenRecount(id, ownForm, compare.token)]));
    this.position = after;
    this.trades = compare.trades;
    this.select = db.prepare(/* sql */ `
      SELECT ${COUNTED_TRANSFER} FROM transfers
      WHERE id BETWEEN ? AND ?
        AND (${isAmong('sender', ids.wallets)} OR ${isAmong('receiver', ids.wallets)}
          OR ${isAmong('token', ids.tokens)})
      ORDER BY id`);
    this.count = db
      .prepare<[number, number], number>('SELECT count(*) FROM transfers WHERE id BETWEEN ? AND ?')
      .pluck();
  }

  /** Reads the next transfers, none above `to`. */
  advance(to: number): void {
    this.trades?.refresh();
    const from = this.position + 1;
    const end = Math.min(to, this.position + IDS_PER_READ);
    const present = this.count.get(from, end) ?? 0;
    if (present !== end - from + 1)
      this.gaps.push(`of the transfers ${from} to ${end} ${end - from + 1 - present} are missing`);
    for (const raw of this.select.iterate(from, end)) {
      const row = decodeStored(raw);
      addTo(this.wallets, row.sender, row, this.tooLarge.wallets);
      if (row.receiver !== row.sender) addTo(this.wallets, row.receiver, row, this.tooLarge.wallets);
      if (row.token !== null) addTo(this.tokens, row.token, row, this.tooLarge.tokens);
    }
    this.position = end;
  }
}

/** Adds a transfer to a recount, if there is one. Drops the recount when it takes too much memory. */
function addTo(
  recounts: Map<number, WalletRecount | TokenRecount>,
  id: number,
  row: DecodedTransfer,
  tooLarge: number[],
): void {
  const recount = recounts.get(id);
  if (recount === undefined) return;
  recount.add(row);
  if (recount.kept <= MAX_KEPT) return;
  recounts.delete(id);
  tooLarge.push(id);
}

/**
 * SQL: whether a column is among the ids. Uses a range for consecutive ids, because a list of thousands would be too
 * long.
 */
function isAmong(column: string, ids: readonly number[]): string {
  const [first] = ids;
  const isRange = first !== undefined && ids.every((id, i) => id === first + i);
  return isRange ? `${column} BETWEEN ${first} AND ${ids.at(-1)}` : `${column} IN (${ids.join(',')})`;
}
