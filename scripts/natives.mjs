/** The native binaries that the program runs on: whether they match the record, and whether they run here. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** SHA-256 by `package@version/file`. */
export const CHECKSUMS_FILE = fileURLToPath(new URL('native-checksums.json', import.meta.url));

const LOAD_SCRIPT = fileURLToPath(new URL('load-natives.ts', import.meta.url));

/**
 * Whether the pinned Node and the server's binary for it are present. An `npm install` under another Node installs the
 * binary for that one, or none.
 */
export function hasBinaries(root) {
  const [major] = (manifestOf(join(root, 'node_modules', 'node')).version ?? '').split('.');
  const names = binaries(root).map(({ name }) => name);
  const forPinned = new RegExp(`^@uwsjs/[^@]+-${major}@`);
  return names.some((name) => name.startsWith('node-')) && names.some((name) => forPinned.test(name));
}

/** Records the checksums of the binaries present; those of other systems and versions stay as they are. */
export function recordChecksums(root) {
  const record = { ...readRecord() };
  for (const { name, file } of binaries(root)) record[name] = sha256(file);
  const sorted = Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(CHECKSUMS_FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** The first binary that does not match the record, in one line, or undefined. */
export function checksumProblem(root) {
  const record = readRecord();
  for (const { name, file } of binaries(root)) {
    if (record[name] === undefined)
      return `no checksum is recorded for ${name}: add it with "node scripts/setup.mjs --record" if you trust it`;
    if (record[name] !== sha256(file))
      return `${name} is not the file that was recorded in scripts/native-checksums.json: do not run it`;
  }
  return undefined;
}

/** Every binary of the runtime, the SQLite driver and the server. npm checks those of development tools. */
function binaries(root) {
  const modules = join(root, 'node_modules');
  const files = [{ name: nodeName(modules), file: join(modules, 'node', 'bin', 'node') }];
  const sqlite = join(modules, 'better-sqlite3');
  for (const file of filesIn(join(sqlite, 'prebuilds'))) {
    files.push({ name: `${packageName(sqlite)}/prebuilds/${file}`, file: join(sqlite, 'prebuilds', file) });
  }
  for (const platform of filesIn(join(modules, '@uwsjs')).filter((name) => name !== 'core')) {
    const folder = join(modules, '@uwsjs', platform);
    files.push({ name: `${packageName(folder)}/uws.node`, file: join(folder, 'uws.node') });
  }
  return files.filter(({ file }) => existsSync(file));
}

/** The package `node` holds the binary of another package, named after the system. */
function nodeName(modules) {
  const { version } = manifestOf(join(modules, 'node'));
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${process.platform}-${process.arch}@${version}/bin/node`;
}

function packageName(folder) {
  const { name, version } = manifestOf(folder);
  return `${name}@${version}`;
}

function manifestOf(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Why the pinned Node or a native module does not run here, in one line, or undefined. Runs them. */
export function loadProblem(root) {
  const node = join(root, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(node))
    return 'the pinned Node.js was not installed: npm must be allowed to run install scripts (ignore-scripts=false)';
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (version.status !== 0) {
    const reason = version.error?.message ?? version.stderr.trim().split('\n').at(-1);
    return `the pinned Node.js does not run on this system, which must be Linux on x64 with glibc 2.34 or newer: ${reason}`;
  }
  const load = spawnSync(node, ['--disable-warning=ExperimentalWarning', LOAD_SCRIPT], { encoding: 'utf8' });
  if (load.status === 0) return undefined;
  return load.stderr.trim().split('\n').at(-1) || `the native modules crash on this system (${load.signal})`;
}

function filesIn(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function readRecord() {
  return existsSync(CHECKSUMS_FILE) ? JSON.parse(readFileSync(CHECKSUMS_FILE, 'utf8')) : {};
}

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
