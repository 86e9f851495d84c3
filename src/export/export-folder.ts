/**
 * The folder of an exported table. A query reads every file in it, so the rows of a file must never be there under two
 * names, whatever ends the program. A new file therefore takes the place of an old one by renames alone: it first
 * overwrites the old file, under the old name, and then gets its own. The manifest names it beforehand (`pending`), so
 * that the next export can complete what a kill interrupted.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FatalError } from '../lib/errors.ts';
import { isRewritten, NO_REWRITES, type Rewrites } from '../model/rewrites.ts';
import { fsyncDirectory } from '../store/backup.ts';
import { sha256Of } from './files.ts';
import {
  MANIFEST,
  type Manifest,
  type ManifestFile,
  type ManifestHeader,
  newManifest,
  type Pending,
  readManifest,
  saveManifest,
} from './manifest.ts';

const PARTIAL = '.partial';

export class ExportFolder {
  readonly path: string;
  private stored: Manifest;
  /** The files that are there in full size, by first block. The others are written again. */
  private readonly complete: Map<number, ManifestFile>;

  private constructor(path: string, manifest: Manifest) {
    this.path = path;
    const sizes = new Map(manifest.files.map(({ name }) => [name, bytesOf(join(path, name))]));
    const files = manifest.files.filter(({ name }) => sizes.get(name) !== undefined);
    this.stored = { ...manifest, files };
    const whole = files.filter(({ name, bytes }) => sizes.get(name) === bytes);
    this.complete = new Map(whole.map((file) => [file.first, file]));
  }

  /**
   * Opens the folder, completes an interrupted change and removes unfinished files. Throws FatalError when it holds
   * another export, or files of unknown origin. Call it under the folder's lock.
   */
  static async open(path: string, header: ManifestHeader): Promise<ExportFolder> {
    const manifest = readManifest(path, header) ?? newManifest(header);
    requireListed(path, manifest);
    for (const name of readdirSync(path)) if (isLeftover(name, manifest)) rmSync(join(path, name));
    if (manifest.pending === undefined) return new ExportFolder(path, manifest);
    const completed = await completeChange(path, manifest, manifest.pending);
    saveManifest(path, completed);
    return new ExportFolder(path, completed);
  }

  get manifest(): Manifest {
    return this.stored;
  }

  get fileCount(): number {
    return this.complete.size;
  }

  /** Whether the blocks from `first`, the start of a range, to `last` are exported. */
  covers(first: number, last: number): boolean {
    return (this.complete.get(first)?.last ?? -1) >= last;
  }

  /** The files with blocks that the index has rewritten since, or found complete, in block order. */
  stale(rewrites: Rewrites, gapBlocksOf: (first: number, last: number) => number): ManifestFile[] {
    return this.stored.files.filter(
      ({ first, last, mark, gapBlocks }) =>
        isRewritten(rewrites, last, mark ?? NO_REWRITES) ||
        (gapBlocks !== undefined && gapBlocks !== gapBlocksOf(first, last)),
    );
  }

  /** Where to write a file before it is published. */
  partialPath(name: string): string {
    return join(this.path, `${name}${PARTIAL}`);
  }

  /** Puts a complete file in place of the one that begins at the same block, if any. */
  publish(file: ManifestFile): void {
    const { files, pending: _, ...header } = this.stored;
    const replaced = files.find((one) => one.name !== file.name && isSameRange(one, file));
    const pending = { file, replaces: replaced?.name ?? null };
    saveManifest(this.path, { ...header, files, pending });
    const steps = [this.partialPath(file.name), ...(replaced ? [join(this.path, replaced.name)] : [])];
    for (const [i, step] of steps.entries()) renameSync(step, steps[i + 1] ?? join(this.path, file.name));
    fsyncDirectory(this.path);
    this.stored = withFile({ ...header, files }, file);
    saveManifest(this.path, this.stored);
    for (const old of files) if (isSameRange(old, file)) this.complete.delete(old.first);
    this.complete.set(file.first, file);
  }
}

/** Size of a file, undefined if there is none. */
function bytesOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** The manifest with the file in place of the one of the same range. */
function withFile(manifest: Manifest, file: ManifestFile): Manifest {
  const others = manifest.files.filter((one) => !isSameRange(one, file));
  return { ...manifest, files: [...others, file].sort((a, b) => a.first - b.first) };
}

/** Whether both are of the same range. A snapshot is the only file of its folder. */
function isSameRange(a: ManifestFile, b: ManifestFile): boolean {
  return a.name === b.name || a.first === b.first;
}

/** Completes the change that a kill interrupted, or forgets it if the new file never left its temporary name. */
async function completeChange(folder: string, manifest: Manifest, pending: Pending): Promise<Manifest> {
  const { pending: _, ...before } = manifest;
  const { file, replaces } = pending;
  for (const name of [file.name, ...(replaces === null ? [] : [replaces])]) {
    const path = join(folder, name);
    if (!existsSync(path) || (await sha256Of(path)) !== file.sha256) continue;
    renameSync(path, join(folder, file.name));
    fsyncDirectory(folder);
    return withFile(before, file);
  }
  return before;
}

/** Throws FatalError when a query over all files would read one that the manifest does not list. */
function requireListed(folder: string, { files, pending, format }: Manifest): void {
  const known = new Set([...files.map(({ name }) => name), pending?.file.name]);
  const unlisted = readdirSync(folder).find((name) => name.endsWith(`.${format}`) && !known.has(name));
  if (unlisted === undefined) return;
  throw new FatalError(
    `${join(folder, unlisted)} is not listed in ${MANIFEST}, and queries over the folder would read it too: ` +
      'move it away, or name another folder with --out',
  );
}

/** Whether a file was left unfinished by a kill. */
function isLeftover(name: string, { table, format }: Manifest): boolean {
  return (
    name === `${MANIFEST}${PARTIAL}` ||
    ((name.startsWith(`${table}-`) || name.startsWith(`${table}.`)) && name.endsWith(`.${format}${PARTIAL}`))
  );
}
