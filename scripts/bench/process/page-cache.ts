/** The operating system's page cache. */
import { spawnSync } from 'node:child_process';

/** Drops a file's pages from the page cache, after writing dirty ones to disk. */
export function dropFromPageCache(path: string): void {
  const { status, stderr } = spawnSync('dd', [
    `of=${path}`,
    'oflag=nocache',
    'conv=notrunc,fdatasync',
    'count=0',
  ]);
  if (status !== 0) throw new Error(`dd: ${stderr}`);
}
