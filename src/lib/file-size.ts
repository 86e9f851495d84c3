/** Sizes of files and disks, in bytes. */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** 0 when there is no such file. */
export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** What this user may still write on the disk of a file. */
export function freeDiskBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}
