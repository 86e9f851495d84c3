import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** For its owner alone. */
const MODE = 0o700;

/**
 * Creates a folder, and those above it that are missing, for this user alone. It recurses itself: Node's `recursive`
 * never ends where a parent exists but cannot contain a new folder, as /proc.
 */
export function makePrivateFolder(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makePrivateFolder(dirname(path));
  try {
    mkdirSync(path, { mode: MODE });
  } catch (error) {
    if (!isFolder(path)) throw error; // else another process has just made it
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
