/** `manifest.json` beside the files of an exported table: what they contain, and from which chain. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FatalError, messageOf } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import { MARK_PATTERN } from '../model/rewrites.ts';
import { compareTradeRules, parseTradeRules } from '../model/trade-rules.ts';
import { fsyncDirectory } from '../store/backup.ts';
import type { FileColumn } from './batch.ts';
import type { Format, WrittenFile } from './files.ts';

/** Incremented when the columns or the meaning of a table or of this file change. */
const SCHEMA_VERSION = 2;

export const MANIFEST = 'manifest.json';

/** A block of the exported chain. */
export interface ExportedBlock {
  number: number;
  hash: string;
}

export interface ManifestFile extends WrittenFile {
  name: string;
  /** First and last block of the file; for a snapshot, twice its block. */
  first: number;
  last: number;
  /** Hash of the last block. */
  lastHash: string;
  /** A final block that the rows include or, for a snapshot, precede. It identifies the chain of the rows. */
  final: ExportedBlock;
  /** Whether the file ends before its range does. A later export replaces it. */
  open: boolean;
  /** Mark of the index (model/rewrites.ts) that the rows are from. Earlier versions wrote none. */
  mark?: string;
  /** Of a table whose rows say it: how many blocks of the file lacked transfers. A repair may find them complete. */
  gapBlocks?: number;
}

/** Identifies an export. A folder holds one export. */
export interface ManifestHeader {
  table: string;
  format: Format;
  chainId: number;
  /** First block of the index. Nothing earlier is known. */
  startBlock: number;
  startHash: string;
  /** Files begin at multiples of this. Null for a snapshot. */
  blocksPerFile: number | null;
  /** The lists by which trades are told (model/trade-rules.ts); of that table only. */
  tradeRules?: string;
  columns: readonly FileColumn[];
}

export interface Manifest extends ManifestHeader {
  schemaVersion: number;
  /** Ordered by first block. */
  files: ManifestFile[];
  /** Set while a file is put in place, so that the next export can complete it. */
  pending?: Pending;
}

/** A complete file about to get its name. */
export interface Pending {
  file: ManifestFile;
  /** Name of the file that it replaces, null for none or its own. */
  replaces: string | null;
}

/** Reads the folder's manifest, null if there is none. Throws FatalError when the folder holds another export. */
export function readManifest(folder: string, header: ManifestHeader): Manifest | null {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return null;
  const stored = parseManifest(path);
  requireSameExport(path, stored, header);
  const { files, pending, startHash } = stored;
  if (
    typeof startHash !== 'string' ||
    !(Array.isArray(files) && files.every(isManifestFile)) ||
    !(pending === undefined || isPending(pending))
  )
    throw unreadable(path, 'a member is missing or of the wrong type');
  return { ...newManifest(header), startHash, files, ...(pending !== undefined && { pending }) };
}

export function newManifest(header: ManifestHeader): Manifest {
  return { schemaVersion: SCHEMA_VERSION, ...header, files: [] };
}

/** Replaces the manifest atomically and durably. */
export function saveManifest(folder: string, manifest: Manifest): void {
  const path = join(folder, MANIFEST);
  writeFileSync(`${path}.partial`, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true });
  renameSync(`${path}.partial`, path);
  fsyncDirectory(folder);
}

function parseManifest(path: string): Record<string, unknown> {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw unreadable(path, messageOf(error));
  }
  if (!isObject(read)) throw unreadable(path, 'it is not an object');
  return read;
}

function unreadable(path: string, reason: string): FatalError {
  return new FatalError(`${path} is damaged (${reason}): restore it, or name another folder with --out`);
}

function requireSameExport(path: string, stored: Record<string, unknown>, header: ManifestHeader): void {
  if (stored.schemaVersion !== SCHEMA_VERSION)
    throw new FatalError(
      `${path} is of version ${JSON.stringify(stored.schemaVersion)}, and this atlas-node writes version ` +
        `${SCHEMA_VERSION}: remove that folder and export it again, or name another one with --out`,
    );
  for (const member of ['table', 'format', 'chainId', 'startBlock', 'blocksPerFile'] as const) {
    if (stored[member] === header[member]) continue;
    const way = member === 'blocksPerFile' ? `use --blocks-per-file ${String(stored[member])}, or ` : '';
    throw new FatalError(
      `${path} has ${member} ${JSON.stringify(stored[member])}, this export ${JSON.stringify(header[member])}; ` +
        `${way}name another folder with --out`,
    );
  }
  requireSameRules(path, stored.tradeRules, header.tradeRules);
}

/** Throws FatalError when the trades of a folder are told by other lists than those to be added. */
function requireSameRules(path: string, stored: unknown, wanted: string | undefined): void {
  if (stored === wanted) return;
  const [before, now] = [parseTradeRules(String(stored)), parseTradeRules(wanted ?? '')];
  const changes = before === null || now === null ? [] : compareTradeRules(before, now);
  throw new FatalError(
    `the trades in ${dirname(path)} were told by other ` +
      `lists${changes.length > 0 ? ` (now ${changes.join('; ')})` : ''}: ` +
      'remove that folder and export it again, or name another one with --out',
  );
}

function isManifestFile(entry: unknown): entry is ManifestFile {
  return (
    isObject(entry) &&
    typeof entry.name === 'string' &&
    basename(entry.name) === entry.name &&
    ['first', 'last', 'rows', 'bytes'].every((member) => Number.isSafeInteger(entry[member])) &&
    ['lastHash', 'sha256'].every((member) => typeof entry[member] === 'string') &&
    typeof entry.open === 'boolean' &&
    (entry.gapBlocks === undefined || Number.isSafeInteger(entry.gapBlocks)) &&
    (entry.mark === undefined || (typeof entry.mark === 'string' && MARK_PATTERN.test(entry.mark))) &&
    isObject(entry.final) &&
    Number.isSafeInteger(entry.final.number) &&
    typeof entry.final.hash === 'string'
  );
}

function isPending(value: unknown): value is Pending {
  return (
    isObject(value) &&
    isManifestFile(value.file) &&
    (value.replaces === null ||
      (typeof value.replaces === 'string' && basename(value.replaces) === value.replaces))
  );
}
