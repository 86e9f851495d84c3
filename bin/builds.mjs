/**
 * What the build wrote below dist/, and whether it is current. Plain JavaScript, because the launcher's script imports
 * it: stripping types would leave Node's TypeScript parser in the daemon's memory.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The builds, each a folder of dist/. */
export const BUILDS = /** @type {const} */ (['program', 'pages']);

/** Lists the files of a build. Written last. */
const MANIFEST = 'manifest.json';

/**
 * @typedef {object} Manifest
 * @property {string[]} files relative to the folder of the build
 * @property {string[]} sources every input file, relative to the project's root
 * @property {string} digest of the input files
 */

/** @param {string} name */
export function buildFolder(name) {
  return join(ROOT, 'dist', name);
}

/** @param {string} name */
export function manifestFile(name) {
  return join(buildFolder(name), MANIFEST);
}

/**
 * The last build; null when there is none.
 * @param {string} name
 * @returns {Manifest | null}
 */
export function readManifest(name) {
  const text = readIfPresent(manifestFile(name));
  return text === null ? null : JSON.parse(text.toString('utf8'));
}

/**
 * Whether the sources are those of the last build.
 * @param {string} name
 */
export function isCurrent(name) {
  const manifest = readManifest(name);
  return manifest !== null && digestOf(manifest.sources) === manifest.digest;
}

/**
 * A digest of the named files; null when one is missing.
 * @param {readonly string[]} names
 */
export function digestOf(names) {
  const hash = createHash('sha256');
  for (const name of names) {
    const content = readIfPresent(join(ROOT, name));
    if (content === null) return null;
    hash.update(`${name}\n`).update(content);
  }
  return hash.digest('hex');
}

/** @param {string} path */
function readIfPresent(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
