/**
 * `labels.db`: the imported labels of addresses. It lies next to `keys.db`, apart from the index, which may be deleted
 * and rebuilt at any time.
 */
import { FatalError } from '../lib/errors.ts';
import { hexToBytes } from '../lib/hex.ts';
import { LABEL_CATEGORIES, type Label, type LabelCategory } from '../model/label.ts';
import { type Db, isEmpty, openDatabase } from '../store/open-database.ts';
import { toOpenError, toStorageError } from '../store/storage-error.ts';

/** `PRAGMA application_id` of a labels file: "atll". */
const LABELS_APPLICATION_ID = 0x61746c6c;

const SCHEMA_VERSION = 1;

const SCHEMA = /* sql */ `
CREATE TABLE labels (
  address BLOB PRIMARY KEY,             -- 20 bytes
  name TEXT NOT NULL,
  category INTEGER NOT NULL,            -- index into LABEL_CATEGORIES (model/label.ts)
  source TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX labels_by_name ON labels (name COLLATE NOCASE);

-- One row: which addresses may have a label, so that most lookups need no read (AddressFilter).
CREATE TABLE filter (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  labels INTEGER NOT NULL,              -- rows of labels
  bits BLOB NOT NULL
);

-- How many labels each source and category has, so that the panel need not count a million of them.
CREATE TABLE sources (
  source TEXT NOT NULL,
  category INTEGER NOT NULL,
  labels INTEGER NOT NULL
);
`;

/** Page cache during an import, MiB: rows arrive in random order. */
const IMPORT_CACHE_MB = 128;

const CORRUPTION_ADVICE = 'move it away and import the labels again';

export interface LabelRow extends Label {
  /** `0x` and 40 hex digits, in any case. */
  address: string;
}

/** How many labels a source has in a category. */
export interface LabelCount {
  source: string;
  category: LabelCategory;
  labels: number;
}

/** Which labels to remove. */
export type LabelSelection = { address: string } | { source: string } | 'all';

/** Opens `labels.db` for writing; creates it if missing. Throws FatalError when it is not a usable labels file. */
export function openLabelsFile(path: string): LabelsFile {
  let db: Db | undefined;
  try {
    db = openDatabase(path, { cacheMb: IMPORT_CACHE_MB });
    createTables(db, path);
    return new LabelsFile(db, path);
  } catch (error) {
    db?.close();
    throw toOpenError(path, error, CORRUPTION_ADVICE);
  }
}

/** Opens an existing file for reading. */
export function openLabelsForReading(path: string): Db {
  const db = openDatabase(path, { readonly: true, cacheMb: 8 });
  if (Number(db.pragma('application_id', { simple: true })) === LABELS_APPLICATION_ID) return db;
  db.close();
  throw foreignFile(path);
}

function createTables(db: Db, path: string): void {
  db.transaction(() => {
    if (isEmpty(db)) {
      db.exec(SCHEMA);
      db.pragma(`application_id = ${LABELS_APPLICATION_ID}`);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
    } else if (Number(db.pragma('application_id', { simple: true })) !== LABELS_APPLICATION_ID) {
      throw foreignFile(path);
    }
  }).immediate();
}

function foreignFile(path: string): FatalError {
  return new FatalError(`${path} is a SQLite file but does not hold atlas-node labels; move it away`);
}

export class LabelsFile {
  private readonly db: Db;
  private readonly path: string;

  constructor(db: Db, path: string) {
    this.db = db;
    this.path = path;
  }

  /** Adds labels, all or none. The last label of an address replaces earlier ones. Returns the number of rows. */
  import(rows: Iterable<LabelRow>): number {
    const upsert = this.db.prepare(
      'INSERT OR REPLACE INTO labels (address, name, category, source) VALUES (?, ?, ?, ?)',
    );
    return this.change(() => {
      let count = 0;
      for (const { address, name, category, source } of rows) {
        upsert.run(hexToBytes(address), name, LABEL_CATEGORIES.indexOf(category), source);
        count++;
      }
      return count;
    });
  }

  /** Returns the number of removed labels. */
  remove(selection: LabelSelection): number {
    return this.change(() => {
      if (selection === 'all') return this.db.prepare('DELETE FROM labels').run().changes;
      if ('source' in selection)
        return this.db.prepare('DELETE FROM labels WHERE source = ?').run(selection.source).changes;
      return this.db.prepare('DELETE FROM labels WHERE address = ?').run(hexToBytes(selection.address))
        .changes;
    });
  }

  /** Number of labels per source and category. */
  summary(): LabelCount[] {
    return prepareLabelCounts(this.db)();
  }

  close(): void {
    this.db.close();
  }

  /** Changes labels and their filter in one transaction. */
  private change(action: () => number): number {
    try {
      return this.db
        .transaction(() => {
          const changed = action();
          this.saveFilter();
          this.saveCounts();
          return changed;
        })
        .immediate();
    } catch (error) {
      throw toStorageError(error, this.path, CORRUPTION_ADVICE);
    }
  }

  private saveFilter(): void {
    const count = this.db.prepare<[], number>('SELECT count(*) FROM labels').pluck().get() ?? 0;
    const filter = AddressFilter.forCount(count);
    const addresses = this.db.prepare<[], Buffer>('SELECT address FROM labels').pluck();
    for (const address of addresses.iterate()) filter.add(address);
    this.db
      .prepare('INSERT OR REPLACE INTO filter (one, labels, bits) VALUES (1, ?, ?)')
      .run(count, filter.bits);
  }

  private saveCounts(): void {
    this.db.exec(/* sql */ `
      DELETE FROM sources;
      INSERT INTO sources SELECT source, category, count(*) FROM labels GROUP BY source, category`);
  }
}

/** How many labels each source and category has. */
export function prepareLabelCounts(db: Db): () => LabelCount[] {
  const read = db.prepare<[], Omit<LabelCount, 'category'> & { category: number }>(
    'SELECT source, category, labels FROM sources ORDER BY source, category',
  );
  return () => read.all().map((row) => ({ ...row, category: LABEL_CATEGORIES[row.category] ?? 'other' }));
}

/** Fewest bits per label. */
const BITS_PER_LABEL = 16;
const MIN_BITS = 2 ** 13;
/** 64 MiB. More than 30 million labels share bits. */
const MAX_BITS = 2 ** 29;

/**
 * A bitmap of the labelled addresses, by their last four bytes. One bit rules out all but some 6 % of the unlabelled
 * addresses, in 100 ns instead of the microseconds of a lookup.
 */
export class AddressFilter {
  readonly bits: Uint8Array;
  private readonly mask: number;

  /** The length of `bits` must be a power of two. */
  constructor(bits: Uint8Array) {
    this.bits = bits;
    this.mask = bits.length * 8 - 1;
  }

  /** An empty filter, sized for `count` addresses. */
  static forCount(count: number): AddressFilter {
    let size = MIN_BITS;
    while (size < count * BITS_PER_LABEL && size < MAX_BITS) size *= 2;
    return new AddressFilter(new Uint8Array(size / 8));
  }

  /** Adds a 20-byte address. */
  add(address: Uint8Array): void {
    const end = address.length;
    const tail =
      (address[end - 4]! << 24) | (address[end - 3]! << 16) | (address[end - 2]! << 8) | address[end - 1]!;
    const bit = tail & this.mask;
    this.bits[bit >>> 3]! |= 1 << (bit & 7);
  }

  /** Whether an address, `0x` and 40 hex digits, may have been added. */
  mayHave(address: string): boolean {
    const bit = Number.parseInt(address.slice(34), 16) & this.mask;
    return (this.bits[bit >>> 3]! & (1 << (bit & 7))) !== 0;
  }
}
