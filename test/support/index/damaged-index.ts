/** Index files with damaged pages, as a failing disk leaves them. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { openDatabase } from '../../../src/store/open-database.ts';

/** The leaf pages of a table or an index, in key order. */
export function leafPages(path: string, tree: string): number[] {
  const db = openDatabase(path, { readonly: true });
  try {
    return db
      .prepare<[string], number>(
        "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
      )
      .pluck()
      .all(tree);
  } finally {
    db.close();
  }
}

/** Overwrites a page, which must not be in the WAL. The returned function restores it. */
export function damagePage(path: string, page: number): () => void {
  const bytes = pageSize(path);
  const before = Buffer.alloc(bytes);
  const write = (content: Buffer): void => {
    const file = openSync(path, 'r+');
    readSync(file, before, 0, bytes, (page - 1) * bytes);
    writeSync(file, content, 0, bytes, (page - 1) * bytes);
    closeSync(file);
  };
  write(Buffer.alloc(bytes, 0xff));
  const original = Buffer.from(before);
  return () => write(original);
}

/** Addresses of wallets with readable rows, and ids of those with damaged rows. */
export function readWallets(path: string): { readable: string[]; damaged: number[] } {
  const db = openDatabase(path, { readonly: true });
  try {
    const last = db.prepare<[], number>('SELECT max(last_wallet) FROM blocks').pluck().get() ?? 0;
    const address = db
      .prepare<[number], string>("SELECT '0x' || lower(hex(address)) FROM wallets WHERE id = ?")
      .pluck();
    const readable: string[] = [];
    const damaged: number[] = [];
    for (let id = 1; id <= last; id++) {
      try {
        readable.push(address.get(id) ?? '');
      } catch {
        damaged.push(id);
      }
    }
    return { readable, damaged };
  } finally {
    db.close();
  }
}

function pageSize(path: string): number {
  const db = openDatabase(path, { readonly: true });
  try {
    return Number(db.pragma('page_size', { simple: true }));
  } finally {
    db.close();
  }
}
