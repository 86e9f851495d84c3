/**
 * The counters and facts of a wallet and of a token, computed from their transfers alone and in another way than the
 * store does, to compare the two.
 */
import { TransferKind } from '../model/transfer-kind.ts';
import { MAX_FIRST_BUYERS, ZERO_WALLET } from '../store/schema.ts';
import { ENTRIES_PER_PAGE } from '../store/wallet-history.ts';
import type { TransferRow } from '../tokens/transfer-row.ts';
import type { Difference } from './report.ts';

/** One entry of a wallet's activity. */
export interface HistoryEntry {
  transfer: number;
  kind: number;
  out: boolean;
  in: boolean;
  /** A token transfer of amount zero. */
  zero: boolean;
  other: number;
  /** Of a native transfer, else null. */
  wei: bigint | null;
}

/** Keeps one run of activity at a time: a busy wallet has many millions of entries. */
export class WalletRecount {
  readonly id: number;
  /** The newest entries: a run that is unfinished, or has just become full. */
  readonly run: HistoryEntry[] = [];
  /** Full runs before it. */
  runs = 0;
  firstTransfer: number | null = null;
  /** How the stored runs before it first differ. */
  runDifference: Difference | null = null;
  nativeReceived = 0n;
  nativeSent = 0n;
  private readonly compareRun: (recount: WalletRecount) => Difference | null;
  private lastTransfer: number | null = null;
  private lastTransaction = 0;
  private transactions = 0;
  private readonly tokens = new Set<number>();
  private tokenTransfers = 0;
  private internalReceived = 0;
  private readonly firstIn = new Map<number, TransferRow>();
  private readonly latestIn = new Map<number, TransferRow>();

  /** `compareRun` tells how the stored run differs from `run`, which is full. */
  constructor(id: number, compareRun: (recount: WalletRecount) => Difference | null) {
    this.id = id;
    this.compareRun = compareRun;
  }

  /** What takes memory. */
  get kept(): number {
    return this.tokens.size;
  }

  /** Adds a transfer of the wallet; they must come in order. */
  add(row: TransferRow): void {
    const sends = row.sender === this.id;
    const receives = row.receiver === this.id;
    if (this.run.length === ENTRIES_PER_PAGE) {
      this.runDifference ??= this.compareRun(this);
      this.runs++;
      this.run.length = 0;
    }
    this.firstTransfer ??= row.id;
    this.lastTransfer = row.id;
    this.run.push({
      transfer: row.id,
      kind: row.kind,
      out: sends,
      in: receives,
      zero: row.token !== null && row.amount === 0n,
      other: sends ? row.receiver : row.sender,
      wei: row.token === null ? row.amount : null,
    });
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

  /** What the row of `wallets` must hold, by column. */
  expectedColumns(): Record<string, number | null> {
    const direct = this.firstIn.get(TransferKind.nativeDirect);
    const internal = this.firstIn.get(TransferKind.nativeInternal);
    const funding = direct ?? internal;
    return {
      transfers: this.runs * ENTRIES_PER_PAGE + this.run.length,
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

/** What a wallet holds of a token. */
export interface Holding {
  transfers: number;
  balance: bigint;
}

export class TokenRecount {
  readonly id: number;
  readonly holdings = new Map<number, Holding>();
  /** Wallet and transfer of each first receiver. */
  readonly buyers = new Map<number, number>();
  private transfers = 0;
  private first: TransferRow | null = null;

  constructor(id: number) {
    this.id = id;
  }

  /** What takes memory. */
  get kept(): number {
    return this.holdings.size;
  }

  /** Adds a transfer of the token; they must come in order. */
  add(row: TransferRow): void {
    this.transfers++;
    this.first ??= row;
    for (const wallet of new Set([row.sender, row.receiver])) this.holding(wallet).transfers++;
    this.holding(row.sender).balance -= row.amount;
    this.holding(row.receiver).balance += row.amount;
    const buys = row.amount > 0n && row.receiver !== ZERO_WALLET && !this.buyers.has(row.receiver);
    if (buys && this.buyers.size < MAX_FIRST_BUYERS) this.buyers.set(row.receiver, row.id);
  }

  /** What the row of `tokens` must hold, by column. */
  expectedColumns(): Record<string, number | null> {
    const others = [...this.holdings].filter(([wallet]) => wallet !== ZERO_WALLET);
    return {
      transfers: this.transfers,
      holders: others.filter(([, { balance }]) => balance > 0n).length,
      wallets: others.length,
      buyers: this.buyers.size,
      first_transfer: this.first?.id ?? null,
      kind: this.first?.kind ?? null,
    };
  }

  private holding(wallet: number): Holding {
    const known = this.holdings.get(wallet);
    if (known !== undefined) return known;
    const holding = { transfers: 0, balance: 0n };
    this.holdings.set(wallet, holding);
    return holding;
  }
}
