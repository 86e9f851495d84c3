/**
 * `manifest.json` beside the files of an exported table: their contents, and what an interrupted export still lacks.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FatalError } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import type { Column, Format, WrittenFile } from './files.ts';

/** Incremented when the columns or the meaning of a table change. */
const SCHEMA_VERSION = 1;

interface ManifestFile extends WrittenFile {
  name: string;
  /** First and last block of the file; for a snapshot, twice its block. */
  first: number;
  last: number;
}

export interface Manifest {
  schemaVersion: number;
  table: string;
  format: Format;
  chainId: number;
  /** First block of the index. Nothing earlier is known. */
  startBlock: number;
  columns: readonly Column[];
  /** Ordered by first block. */
  files: ManifestFile[];
}

/** Identifies an export. A folder holds one export. */
type ManifestHeader = Pick<Manifest, 'table' | 'format' | 'chainId' | 'startBlock' | 'columns'>;

/** Reads the folder's manifest, or starts one. Throws FatalError when the folder holds another export. */
export function openManifest(folder: string, header: ManifestHeader): Manifest {
  const path = join(folder, 'manifest.json');
  const fresh = { schemaVersion: SCHEMA_VERSION, ...header, files: [] };
  if (!existsSync(path)) return fresh;
  const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const stored = isObject(read) ? read : {};
  for (const member of ['schemaVersion', 'table', 'format', 'chainId', 'startBlock'] as const) {
    if (stored[member] !== fresh[member])
      throw new FatalError(
        `${path} has ${member} ${JSON.stringify(stored[member])}, this export ${JSON.stringify(fresh[member])}; name another folder with --out`,
      );
  }
  const files: unknown[] = Array.isArray(stored.files) ? stored.files : [];
  return { ...fresh, files: files.filter((file) => isWhole(folder, file)) };
}

/** Replaces the manifest atomically. */
export function saveManifest(folder: string, manifest: Manifest): void {
  const path = join(folder, 'manifest.json');
  writeFileSync(`${path}.partial`, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true });
  renameSync(`${path}.partial`, path);
}

/** Whether the entry's file exists in full size. Otherwise it is written again. */
function isWhole(folder: string, entry: unknown): entry is ManifestFile {
  if (!isObject(entry) || typeof entry.name !== 'string') return false;
  const path = join(folder, entry.name);
  return existsSync(path) && statSync(path).size === entry.bytes;
}
