/** The rules that the index was made with: the row of `index_rules`. */
import { FatalError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import { RULES_VERSION, type StoredRules } from '../model/index-rules.ts';
import { CHECKED_TABLES, changedRows, rowChecksum } from './checksum.ts';
import type { Db } from './open-database.ts';
import { DamageError } from './storage-error.ts';

interface RulesRow {
  version: number;
  monad: number | null;
  wrapped_native: string | null;
  native_contracts: string;
  unindexed_erc20: string;
}

/**
 * Null before the first block is chosen. Throws DamageError when the row is damaged, or missing beside blocks,
 * FatalError for rules of a newer program.
 */
export function readRules(db: Db): StoredRules | null {
  const hasBlocks = db.prepare('SELECT 1 FROM blocks LIMIT 1').get() !== undefined;
  const row = selectRow(db);
  if (row === undefined && !hasBlocks) return null;
  if (row === undefined || !areRulesWhole(db))
    throw new DamageError('the rules of the index (index_rules) are missing or damaged');
  if (row.version > RULES_VERSION)
    throw new FatalError(
      `the index was made with rules ${row.version}, and this atlas-node knows them up to ${RULES_VERSION}: ` +
        'run the version that made it, or move the file away to rebuild the index',
    );
  return {
    version: row.version,
    monad: row.monad === null ? null : row.monad === 1,
    wrappedNative: row.wrapped_native === null ? null : parseList(row.wrapped_native),
    nativeContracts: parseList(row.native_contracts),
    unindexedErc20: parseList(row.unindexed_erc20),
  };
}

/**
 * Whether a holding sums only the transfers of its token's own form, the kind of its first transfer. An ERC-404 logs
 * each move in units and once more as NFTs; by rules 1 a holding adds both.
 */
export function sumsOwnForm(db: Db): boolean {
  const version = db.prepare<[], number>('SELECT version FROM index_rules').pluck().get();
  return version !== undefined && version >= 2;
}

/** Whether the row is there and matches its checksum. */
export function areRulesWhole(db: Db): boolean {
  return selectRow(db) !== undefined && changedRows(db, 'index_rules').length === 0;
}

function selectRow(db: Db): RulesRow | undefined {
  return db.prepare<[], RulesRow>('SELECT * FROM index_rules').get();
}

export function writeRules(db: Db, rules: StoredRules): void {
  const { version, monad, wrappedNative, nativeContracts, unindexedErc20 } = rules;
  const row = [
    1,
    version,
    monad === null ? null : Number(monad),
    wrappedNative && formatList(wrappedNative),
    formatList(nativeContracts),
    formatList(unindexedErc20),
  ];
  const columns = CHECKED_TABLES.index_rules.join();
  db.prepare(`REPLACE INTO index_rules (${columns}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(
    ...row,
    rowChecksum(...row),
  );
}

function formatList(addresses: readonly Hex[]): string {
  return addresses.map((address) => address.slice(2)).join(' ');
}

function parseList(text: string): Hex[] {
  return text === '' ? [] : text.split(' ').map((digits): Hex => `0x${digits}`);
}
