/** The one writer of `index.db`. */
import { type AppendableBlocks, Appender } from './append.ts';
import { Tables } from './changes.ts';
import { chainOf, hashAt, headOf, openIndexForWriting, setChain } from './index-file.ts';
import type { Db } from './open.ts';
import { Rollback } from './rollback.ts';

export class IndexWriter {
  private readonly db: Db;
  private readonly appender: Appender;
  private readonly rollbacks: Rollback;

  /** Opens or creates the file; throws FatalError when it is not a usable index. `cacheMb` bounds the page cache. */
  constructor(path: string, options: { cacheMb: number }) {
    this.db = openIndexForWriting(path, options);
    const tables = new Tables(this.db);
    this.appender = new Appender(this.db, tables);
    this.rollbacks = new Rollback(this.db, tables);
  }

  chain(): { chainId: number; startBlock: number } | null {
    return chainOf(this.db);
  }

  setChain(chainId: number, startBlock: number): void {
    setChain(this.db, chainId, startBlock);
  }

  head(): ReturnType<typeof headOf> {
    return headOf(this.db);
  }

  hashAt(number: number): ReturnType<typeof hashAt> {
    return hashAt(this.db, number);
  }

  /** Transfers in the index. */
  transferCount(): number {
    return this.db.prepare<[], number>('SELECT ifnull(max(id), 0) FROM transfers').pluck().get() ?? 0;
  }

  /** Appends consecutive blocks that follow the head, all or none. */
  append(batches: readonly AppendableBlocks[]): void {
    this.appender.append(batches);
  }

  /** Removes every block above `to` and all their traces. */
  rollback(to: number): void {
    const head = this.head();
    if (head !== null) this.rollbacks.rollback(head.number, to);
  }

  close(): void {
    this.db.pragma('optimize');
    this.db.close();
  }
}
