/** The daemon's view of the labels. Changes made on the command line show within a second. */

import { existsSync } from 'node:fs';
import { guarded } from '../lib/guard.ts';
import { hexToBytes } from '../lib/hex.ts';
import { LruMap } from '../lib/lru-map.ts';
import { LABEL_CATEGORIES, type Label } from '../model/label.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { AddressFilter, type LabelCount, openLabelsForReading, prepareLabelCounts } from './labels-file.ts';

/** How often the file is checked for changes, milliseconds. */
const REFRESH_MS = 500;

/** Fewest labels cached. */
const MIN_CACHED = 1_024;

/** A label with its address. */
export interface LabelledAddress extends Label {
  address: string;
}

interface StoredLabel {
  name: string;
  category: number;
  source: string;
}

type NamedAddress = StoredLabel & { address: string };

/** The open file and its derived state. */
interface OpenFile {
  db: Db;
  byAddress: Statement<[Uint8Array], StoredLabel>;
  byName: Statement<[string, string, number], NamedAddress>;
  byWords: Statement<[string, string, string, string, number], NamedAddress>;
  byAddresses: Statement<[Uint8Array, Uint8Array, string, number], NamedAddress>;
  counts: () => LabelCount[];
  /** Null while there are no labels. */
  filter: AddressFilter | null;
  count: number;
  version: unknown;
}

/** Most labels whose names one search compares. A million take some 0.5 s. */
const MAX_NAMES = 1_000_000;

/** Most labels whose addresses one search compares. */
const MAX_ADDRESSES = 5_000;

/** Sorts after every text with the same prefix. */
const AFTER_ALL = '\u{10ffff}';

export class Labels {
  private readonly path: string;
  private readonly onUnreadable: (error: unknown) => void;
  private readonly timer: NodeJS.Timeout;
  private file: OpenFile | null = null;
  private readonly cache = new LruMap<string, Label>(MIN_CACHED);
  private isUnreadable = false;
  private changes = 0;

  /** `onUnreadable` runs once when the file cannot be read; then no address has a label. */
  constructor(path: string, onUnreadable: (error: unknown) => void = () => undefined) {
    this.path = path;
    this.onUnreadable = onUnreadable;
    this.refresh();
    this.timer = setInterval(
      guarded('labels', () => this.refresh()),
      REFRESH_MS,
    ).unref();
  }

  /** Changes with every change to the labels; 0 until the first label. */
  get revision(): number {
    return this.changes;
  }

  /** Whether no address has a label. */
  get isEmpty(): boolean {
    return this.file === null || this.file.filter === null;
  }

  get count(): number {
    return this.file?.count ?? 0;
  }

  /** The label of a lower-case address, undefined without one. */
  of(address: string): Label | undefined {
    const { file } = this;
    if (file === null || file.filter === null || !file.filter.mayHave(address)) return undefined;
    const cached = this.cache.get(address);
    if (cached !== undefined) return cached;
    const row = this.read(() => file.byAddress.get(hexToBytes(address)));
    if (row === undefined) return undefined;
    const label = toLabel(row);
    this.cache.set(address, label);
    return label;
  }

  /** Labels whose name starts with a text, ignoring ASCII case, ordered by name. */
  search(text: string, limit: number): LabelledAddress[] {
    return this.list(({ byName }) => byName.all(text, text + AFTER_ALL, limit));
  }

  /**
   * Labels whose name contains each word of a text (from the fourth on, in their order), ignoring ASCII case, ordered
   * by name. Reads the names of up to MAX_NAMES labels.
   */
  searchWords(text: string, limit: number): LabelledAddress[] {
    const words = text.split(/\s+/).map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`);
    const [a, b = '%', c = '%', ...rest] = words;
    if (a === undefined) return [];
    return this.list(({ byWords }) => byWords.all(a, b, c, rest.join('') || '%', limit));
  }

  /** Labels of addresses by their first and last digits, hex in lower case, in the order of their addresses. */
  searchAddresses(start: string, end: string, limit: number): LabelledAddress[] {
    const [first, last] = ['0', 'f'].map((digit) => hexToBytes(`0x${start.padEnd(40, digit)}`));
    if (first === undefined || last === undefined) return [];
    return this.list(({ byAddresses }) => byAddresses.all(first, last, `${start}%${end}`, limit));
  }

  /** How many labels each source and category has. */
  summary(): LabelCount[] {
    return this.read(() => this.file?.counts()) ?? [];
  }

  close(): void {
    clearInterval(this.timer);
    this.file?.db.close();
    this.file = null;
  }

  private list(rowsOf: (file: OpenFile) => NamedAddress[]): LabelledAddress[] {
    const rows = this.read(() => (this.file === null ? [] : rowsOf(this.file))) ?? [];
    return rows.map((row) => ({ ...toLabel(row), address: row.address }));
  }

  /** Opens the file once it exists and picks up changes. */
  refresh(): void {
    this.read(() => {
      this.file ??= existsSync(this.path) ? openFile(this.path) : null;
      if (this.file !== null) this.readChanges(this.file);
      this.isUnreadable = false;
    });
  }

  /** The result, undefined when the file cannot be read: broken labels must not fail requests. */
  private read<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!this.isUnreadable) this.onUnreadable(error);
      this.isUnreadable = true;
      return undefined;
    }
  }

  private readChanges(file: OpenFile): void {
    const version = file.db.pragma('data_version', { simple: true });
    if (version === file.version) return;
    const stored = file.db
      .prepare<[], { bits: Buffer; labels: number }>('SELECT bits, labels FROM filter WHERE labels > 0')
      .get();
    this.cache.clear();
    file.filter = stored === undefined ? null : new AddressFilter(stored.bits);
    file.count = stored?.labels ?? 0;
    file.version = version;
    this.changes++;
  }
}

/** SQL: a NamedAddress of the table `labels l`. */
const NAMED_ADDRESS = /* sql */ `SELECT '0x' || lower(hex(l.address)) AS address, l.name, l.category, l.source`;

function openFile(path: string): OpenFile {
  const db = openLabelsForReading(path);
  return {
    db,
    byAddress: db.prepare('SELECT name, category, source FROM labels WHERE address = ?'),
    byName: db.prepare(/* sql */ `
      ${NAMED_ADDRESS} FROM labels l
      WHERE name COLLATE NOCASE >= ? AND name COLLATE NOCASE <= ? ORDER BY name COLLATE NOCASE LIMIT ?`),
    // The inner query reads the index of names only.
    byWords: db.prepare(/* sql */ `
      ${NAMED_ADDRESS} FROM (
        SELECT address AS key, name AS compared FROM labels ORDER BY name COLLATE NOCASE LIMIT ${MAX_NAMES}
      ) names CROSS JOIN labels l ON l.address = names.key
      WHERE compared LIKE ? ESCAPE '\\' AND compared LIKE ? ESCAPE '\\' AND compared LIKE ? ESCAPE '\\'
        AND compared LIKE ? ESCAPE '\\' LIMIT ?`),
    byAddresses: db.prepare(/* sql */ `
      ${NAMED_ADDRESS} FROM (
        SELECT address AS key FROM labels WHERE address >= ? AND address <= ? LIMIT ${MAX_ADDRESSES}
      ) keys CROSS JOIN labels l ON l.address = keys.key WHERE hex(keys.key) LIKE ? LIMIT ?`),
    counts: prepareLabelCounts(db),
    filter: null,
    count: 0,
    version: null,
  };
}

function toLabel({ name, category, source }: StoredLabel): Label {
  return { name, category: LABEL_CATEGORIES[category] ?? 'other', source };
}
