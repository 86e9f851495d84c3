/**
 * What the build wrote below dist/, and whether it is current. Plain JavaScript, because the launcher's script imports
 * it: stripping types would leave Node's TypeScript parser in the daemon's memory.
 */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The builds, each a folder of dist/. */
export const BUILDS = /** @type {const} */ (['program', 'pages']);

/** Lists the files of a build. Written last. */
const MANIFEST = 'manifest.json';

/**
 * The sizes and times of the sources when their digest last matched the build. As long as they stay the same, a start
 * does not read the sources, which would take half of a short command's time.
 */
const SEEN = 'sources-seen';

/** A source that changed less than this before its time was read may change again within the same tick. */
const TICK_MS = 2_000;

/**
 * @typedef {object} Manifest
 * @property {string[]} files relative to the folder of the build
 * @property {string[]} sources every input file, relative to the project's root
 * @property {string | null} digest of the input files; null when one changed meanwhile
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

/** Whether the sources are those of the last builds. */
export async function areCurrent() {
  for (const name of BUILDS) if (!(await isCurrent(name))) return false;
  return true;
}

/**
 * Whether the sources are those of the last build.
 * @param {string} name
 */
export async function isCurrent(name) {
  const manifest = readManifest(name);
  if (manifest === null || manifest.digest === null) return false;
  const seenFile = join(buildFolder(name), SEEN);
  const { text, isSettled } = look(manifest);
  if (text === readIfPresent(seenFile)?.toString('utf8')) return true;
  if ((await digestOf(manifest.sources)) !== manifest.digest) return false;
  if (isSettled) writeIfAllowed(seenFile, text);
  return true;
}

/**
 * The sizes and times of a build's sources now, and whether each later change must change them.
 * @param {Manifest} manifest
 */
function look({ sources, digest }) {
  const now = Date.now();
  let newest = 0;
  const lines = sources.map((source) => {
    const { size, ctimeMs } = statSync(ROOT + source, { throwIfNoEntry: false }) ?? {}; // join would double the time
    newest = Math.max(newest, ctimeMs ?? now);
    return `${source} ${size} ${ctimeMs}`;
  });
  return { text: [digest, ...lines].join('\n'), isSettled: newest < now - TICK_MS };
}

/**
 * A digest of the named files; null when one is missing.
 * @param {readonly string[]} names relative to the project's root
 */
export async function digestOf(names) {
  const { createHash } = await import('node:crypto'); // which most starts do without
  const hash = createHash('sha256');
  for (const name of names) {
    const content = readIfPresent(join(ROOT, name));
    if (content === null) return null;
    hash.update(`${name}\n`).update(content);
  }
  return hash.digest('hex');
}

/**
 * Where this user may not write, the next start reads the sources again.
 * @param {string} path
 * @param {string} text
 */
function writeIfAllowed(path, text) {
  const aside = `${path}.${process.pid}`;
  try {
    writeFileSync(aside, text);
    renameSync(aside, path);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
  }
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
