/**
 * Strips the types from the sources when they are loaded, and caches each result in a file. Node would do so itself, but
 * again at every start and in every thread, and its TypeScript parser would stay in memory: 15 MB or more per thread.
 *
 * The launcher loads this before anything else (`--require`), and so in the threads too. Run by itself it strips all
 * sources, for an installation that cannot write to its own folder later: what cannot be cached is stripped again.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { registerHooks, stripTypeScriptTypes } = require('node:module');
const { dirname, join, relative } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { threadId } = require('node:worker_threads');

const ROOT = join(__dirname, '..');
/** The program, and what its tests consist of. */
const FOLDERS = ['src', 'test', 'scripts'].map((name) => `${pathToFileURL(join(ROOT, name)).href}/`);
const KEPT = join(ROOT, 'node_modules', '.cache', 'atlas-node');

if (require.main === module) stripAll();
else registerHooks({ resolve, load });

/**
 * Sources import each other by file name. Node would look up each file and its package.json again in every thread: a tenth
 * of the CPU time of a start.
 */
function resolve(specifier, context, next) {
  if (!specifier.startsWith('.') || !specifier.endsWith('.ts')) return next(specifier, context);
  const { parentURL } = context;
  if (!FOLDERS.some((folder) => parentURL?.startsWith(folder))) return next(specifier, context);
  return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
}

function load(url, context, next) {
  if (!url.endsWith('.ts') || !FOLDERS.some((folder) => url.startsWith(folder))) return next(url, context);
  return { format: 'module', source: stripped(fileURLToPath(url)), shortCircuit: true };
}

function stripAll() {
  const sources = join(ROOT, 'src');
  for (const name of readdirSync(sources, { recursive: true })) {
    if (name.endsWith('.ts')) stripped(join(sources, name));
  }
}

/** The source as JavaScript. Types become spaces, so that lines and columns in messages stay right. */
function stripped(file) {
  const source = readFileSync(file, 'utf8');
  const mark = `\n// ${createHash('sha256').update(process.version).update(source).digest('hex')}\n`;
  const keptAt = join(KEPT, `${relative(ROOT, file)}.mjs`);
  const kept = readKept(keptAt);
  if (kept?.endsWith(mark)) return kept;
  const made = stripTypeScriptTypes(source) + mark;
  keep(keptAt, made);
  return made;
}

function readKept(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EACCES') return undefined;
    throw error;
  }
}

/** Writes a temporary file and renames it: other threads and processes may do the same at the same time. */
function keep(file, text) {
  const aside = `${file}.${process.pid}.${threadId}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(aside, text);
    renameSync(aside, file);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
  }
}
