/**
 * Native modules of the single binary. The system loads them only from files, so each is unpacked once, under a name
 * that contains its SHA-256, and verified against that before every load.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { FatalError } from '../errors.ts';
import { messageOf } from '../lib/error-text.ts';
import { CHECKSUMS_ASSET } from './asset-names.ts';
import { privateFolder } from './private-folder.ts';

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
 * Has no `cause`: that would be reported as a module that npm did not install. The error of an old glibc is passed on.
 */
function loadError(path: string, error: unknown): unknown {
  const reason = messageOf(error);
  if (reason.includes('GLIBC')) return error;
  // The system loader's error for a file system that is mounted noexec.
  if (reason.includes('failed to map segment')) {
    return new FatalError(
      `cannot run code from ${path}: name a folder on a file system that is not mounted noexec in XDG_CACHE_HOME`,
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
      `${path} is not what was unpacked: the disk is failing, or somebody changes the file`,
    );
  }
  return path;
}

/** Another process may do the same, so the file appears whole, by a rename. */
function unpack(name: string, path: string): void {
  const temporaryPath = `${path}.${randomUUID()}`;
  try {
    writeFileSync(temporaryPath, new Uint8Array(getRawAsset(name)), { flag: 'wx', mode: 0o500 });
    renameSync(temporaryPath, path);
  } catch (error) {
    rmSync(temporaryPath, { force: true }); // each restart on a full disk would leave another one
    throw new FatalError(
      `cannot unpack ${name}: ${messageOf(error)}; name another folder in XDG_CACHE_HOME`,
      {
        cause: error,
      },
    );
  }
}

function checksumOf(name: string): string {
  const checksums: Record<string, string> = JSON.parse(getAsset(CHECKSUMS_ASSET, 'utf8'));
  const checksum = checksums[name];
  if (checksum === undefined) throw new Error(`no native module ${name} is embedded`);
  return checksum;
}

/** Null when there is no such file. */
function sha256OfFile(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}
