/** The sums of trades as one of the structures of derived.ts: adds and takes back whole transactions. */
import type { PartTransfer } from '../../model/wallet-part.ts';
import type { TradeSumsName } from '../derived-structure.ts';
import type { Db } from '../open-database.ts';
import { StoredTransactions } from './stored-transactions.ts';
import { prepareStoredTradeIds, TradeGenerationTable } from './trade-generations.ts';
import { TradeSumsTable } from './trade-sums-table.ts';

export class TradeSumsStructure {
  readonly generations: TradeGenerationTable;
  readonly stored: StoredTransactions;
  private readonly sums: TradeSumsTable;
  private readonly idsOf: ReturnType<typeof prepareStoredTradeIds>;

  constructor(db: Db) {
    this.generations = new TradeGenerationTable(db);
    this.stored = new StoredTransactions(db);
    this.sums = new TradeSumsTable(db);
    this.idsOf = prepareStoredTradeIds(db);
  }

  /** Adds the trades in these transactions, which are outside gaps and whose wallets and tokens have rows. */
  add(name: TradeSumsName, transactions: Iterable<readonly PartTransfer[]>): void {
    this.change(name, transactions, 1);
  }

  /** Takes back the trades in the transfers `first..last`, while their rows, tokens and gaps are there. */
  remove(name: TradeSumsName, first: number, last: number): void {
    this.change(name, this.stored.trading(first, last), -1);
  }

  private change(name: TradeSumsName, transactions: Iterable<readonly PartTransfer[]>, sign: 1 | -1): void {
    const { current, next } = this.generations.read();
    const changed = name === 'trade_sums' ? current : next;
    if (changed !== null) this.sums.change(changed.generation, transactions, this.idsOf(changed.rules), sign);
  }
}
