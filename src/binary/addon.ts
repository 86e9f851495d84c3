/**
 * Native modules of the single binary. The system loads them only from files, so each is unpacked once, under a name
 * that contains its SHA-256, and verified against that hash before every load.
 */

import { createHash, randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { FatalError, messageOf } from '../lib/errors.ts';
import { makePrivateFolder } from '../lib/files.ts';
import { CHECKSUMS_ASSET } from './asset-names.ts';

/** The folder for unpacked parts of the single binary: only this user can write there. */
const PRIVATE = 0o700;

interface Environment {
  env: Record<string, string | undefined>;
  /** Home folder according to the user database; it may not exist. */
  home: string;
  temp: string;
  uid: number;
}

let folder: string | undefined;

/** The folder of this process, created if it is missing. */
function privateFolder(): string {
  folder ??= choosePrivateFolder({
    env: process.env,
    home: homedir(),
    temp: tmpdir(),
    uid: process.getuid?.() ?? 0,
  });
  return folder;
}

/**
 * The first usable folder that belongs only to this user: `$XDG_CACHE_HOME/atlas-node`, `~/.cache/atlas-node`, or
 * `atlas-node-<uid>` in the folder for temporary files. Throws FatalError if there is none.
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
    `native modules cannot be unpacked to ${candidates.join(' or ')}, which must be writable and owned by ` +
      'this user only: set XDG_CACHE_HOME to another folder',
  );
}

/** Creates the folder if missing. Returns false if it cannot be created or written, or belongs to another user. */
function ensurePrivateFolder(path: string, uid: number): boolean {
  try {
    makePrivateFolder(path);
    // Does not follow links, because in a shared folder anybody may have created one.
    const found = lstatSync(path);
    if (!found.isDirectory() || found.uid !== uid) return false;
    if ((found.mode & 0o777) !== PRIVATE) chmodSync(path, PRIVATE);
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The exports of an embedded native module. Throws FatalError when it cannot be unpacked or loaded. */
export function loadAddon(name: string): unknown {
  const path = ensureUnpacked(name);
  const module = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (error) {
    throw loadError(path, error);
  }
  return module.exports;
}

/**
 * The error has no `cause`; otherwise it would be reported as a module that npm did not install. Returns the error of
 * an old glibc unchanged.
 */
function loadError(path: string, error: unknown): unknown {
  const reason = messageOf(error);
  if (reason.includes('GLIBC')) return error;
  // The system loader's error for a file system that is mounted noexec.
  if (reason.includes('failed to map segment')) {
    return new FatalError(
      `cannot run code from ${path}: set XDG_CACHE_HOME to a folder on a file system that is not mounted noexec`,
    );
  }
  return new FatalError(`cannot load ${path}: ${reason}`);
}

function ensureUnpacked(name: string): string {
  const wanted = checksumOf(name);
  const path = join(privateFolder(), `${wanted.slice(0, 16)}-${name}`);
  if (sha256OfFile(path) !== wanted) unpack(name, path);
  if (sha256OfFile(path) !== wanted) {
    throw new FatalError(
      `${path} has changed since it was unpacked: the disk is failing, or somebody modifies the file`,
    );
  }
  return path;
}

/** Unpacks by a rename, because another process may be unpacking the same file. */
function unpack(name: string, path: string): void {
  const temporaryPath = `${path}.${randomUUID()}`;
  try {
    writeFileSync(temporaryPath, new Uint8Array(getRawAsset(name)), { flag: 'wx', mode: 0o500 });
    renameSync(temporaryPath, path);
  } catch (error) {
    rmSync(temporaryPath, { force: true }); // otherwise each restart on a full disk would leave another one
    throw new FatalError(`cannot unpack ${name}: ${messageOf(error)}; set XDG_CACHE_HOME to another folder`, {
      cause: error,
    });
  }
}

function checksumOf(name: string): string {
  const checksums: Record<string, string> = JSON.parse(getAsset(CHECKSUMS_ASSET, 'utf8'));
  const checksum = checksums[name];
  if (checksum === undefined) throw new Error(`no native module ${name} is embedded`);
  return checksum;
}

/** Null when the file does not exist. */
function sha256OfFile(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}
