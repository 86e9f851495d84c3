/** Checks file access, with messages for the operator. */
import { accessSync, constants, mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, FatalError, messageOf } from './errors.ts';

/** Accessible only to its owner. */
const PRIVATE_MODE = 0o700;

/** Creates a folder and its missing parents, accessible to this user only. */
export function makePrivateFolder(path: string): void {
  makeFolder(path, PRIVATE_MODE);
}

/**
 * Creates a folder and its missing parents. Recurses itself because Node's `recursive` never returns if a parent exists
 * but cannot contain a new folder, like /proc.
 */
export function makeFolder(path: string, mode?: number): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw error; // otherwise another process has just created it
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const REASONS: Record<string, string> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
  EISDIR: 'it is a folder',
  EEXIST: 'part of the path is not a folder',
  ENOTDIR: 'part of the path is not a folder',
  ENOSPC: 'the disk is full',
};

const ADVICE: Record<string, string> = {
  EACCES: 'let one user own the data folder with its files, and run the daemon and all commands',
  EROFS: 'SQLite writes files beside it: copy it to a writable disk',
};

/** Why the system refused a file. */
export function fileErrorReason(error: unknown): string {
  const code = codeOf(error) || messageOf(error);
  return REASONS[code] ?? code;
}

/** Whether a file exists. Throws FatalError if this user lacks the permission to look. */
export function dataFileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new FatalError(`cannot read ${path}: ${withAdvice(error)}`);
  }
}

/** Why this user cannot access an existing database, with advice; undefined if access is fine. */
export function databaseAccessError(path: string): string | undefined {
  try {
    if (isFolder(path)) return 'it is a folder; move it away, or choose another data_dir';
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dirname(path), constants.W_OK | constants.X_OK); // for the files that SQLite keeps beside it
    return undefined;
  } catch (error) {
    return withAdvice(error);
  }
}

/**
 * Throws FatalError if this user may not write an existing database. Call it before writing: SQLite silently opens a
 * read-only file, and then its locks exclude no other process.
 */
export function requireWritable(path: string): void {
  const refusal = dataFileExists(path) ? databaseAccessError(path) : undefined;
  if (refusal !== undefined) throw new FatalError(`cannot open ${path}: ${refusal}`);
}

function withAdvice(error: unknown): string {
  const advice = ADVICE[codeOf(error)];
  return advice === undefined ? fileErrorReason(error) : `${fileErrorReason(error)}; ${advice}`;
}

/** Size of a file; 0 if it does not exist. */
export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Bytes that this user can still write to the file's disk. */
export function freeDiskBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}
