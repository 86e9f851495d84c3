/** The folder for unpacked parts of the single binary: only this user can write there. */
import { accessSync, chmodSync, constants, lstatSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { FatalError } from '../errors.ts';
import { makePrivateFolder } from '../lib/make-private-folder.ts';

const PRIVATE = 0o700;

export interface Environment {
  env: Record<string, string | undefined>;
  /** Home folder according to the user database; it may not exist. */
  home: string;
  temp: string;
  uid: number;
}

let folder: string | undefined;

/** The folder of this process, created if it is missing. */
export function privateFolder(): string {
  folder ??= choosePrivateFolder({
    env: process.env,
    home: homedir(),
    temp: tmpdir(),
    uid: process.getuid?.() ?? 0,
  });
  return folder;
}

/**
 * The first of these that can be used and is this user's alone: `$XDG_CACHE_HOME/atlas-node`, `~/.cache/atlas-node`,
 * `atlas-node-<uid>` in the folder for temporary files. Throws FatalError when there is none.
 */
export function choosePrivateFolder({ env, home, temp, uid }: Environment): string {
  const { XDG_CACHE_HOME: cache = '' } = env;
  const candidates = [
    ...(isAbsolute(cache) ? [join(cache, 'atlas-node')] : []),
    ...(isAbsolute(home) ? [join(home, '.cache', 'atlas-node')] : []),
    join(temp, `atlas-node-${uid}`),
  ];
  const folder = candidates.find((path) => ensurePrivateFolder(path, uid));
  if (folder !== undefined) return folder;
  throw new FatalError(
    `native modules cannot be unpacked to ${candidates.join(' or ')}, which must be writable and of this user alone: name a folder in XDG_CACHE_HOME`,
  );
}

/** Creates the folder if it is missing; false when it cannot be created or written, or belongs to another user. */
function ensurePrivateFolder(path: string, uid: number): boolean {
  try {
    makePrivateFolder(path);
    // Links are not followed: in a shared folder anybody may have put one there.
    const found = lstatSync(path);
    if (!found.isDirectory() || found.uid !== uid) return false;
    if ((found.mode & 0o777) !== PRIVATE) chmodSync(path, PRIVATE);
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
