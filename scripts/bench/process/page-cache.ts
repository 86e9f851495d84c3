/** The system's cache of file pages. */
import { spawnSync } from 'node:child_process';

/** Drops what the system caches of a file. Pages that are not on the disk yet are written first. */
export function dropFromPageCache(path: string): void {
  const { status, stderr } = spawnSync('dd', [
    `of=${path}`,
    'oflag=nocache',
    'conv=notrunc,fdatasync',
    'count=0',
  ]);
  if (status !== 0) throw new Error(`dd: ${stderr}`);
}
