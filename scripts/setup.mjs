/**
 * Installs what package-lock.json names and checks that it runs here. Does nothing when that is already done.
 *
 * The program's packages come with the first command; those that only tests, benchmarks and releases need come with the
 * first of these (`--all`), and then stay. npm does the rest: Node and the server are packages that hold the binary,
 * npm compares every package with the lock file before it unpacks it, and no install script runs. Plain JavaScript
 * without packages, since it runs on whatever Node (18 or newer) the machine has. See `--help`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { areCurrent } from '../bin/builds.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK_FILE = join(ROOT, 'package-lock.json');
const STAMP_FILE = join(ROOT, 'node_modules', '.atlas-setup');
const PLATFORM = `${process.platform}-${process.arch}`;
const PINNED_NODE = join(ROOT, 'node_modules', `node-${PLATFORM}`, 'bin', 'node');
/** The server's native module where package-lock.json has no checksum of its package; 127 is the ABI of Node 22. */
const UWS_FILE = `uws_${process.platform}_${process.arch}_127.node`;
const SERVER =
  PLATFORM === 'linux-x64'
    ? join(ROOT, 'node_modules', '@uwsjs', 'linux-x64-22', 'uws.node')
    : join(ROOT, 'node_modules', 'uWebSockets.js', UWS_FILE);
/** Megabytes to fetch and on disk, measured with an empty cache on Linux: the program's packages, and the others. */
const PROGRAM_MB = { fetch: 155, disk: 450 };
const OTHERS_MB = { fetch: 250, disk: 570 };
/** Returns to the start of a terminal's line and clears it. */
const CLEAR_LINE = '\r\x1b[K';
const NEEDED = 'atlas-node needs Linux with glibc 2.34 or newer, or macOS on arm64';
const LOAD_SCRIPT = join(ROOT, 'scripts', 'load-natives.ts');

const USAGE = `setup.mjs [option]
Installs what package-lock.json names where it is missing, and checks that it runs here.

  --all    also what only tests, benchmarks and releases need
  --help   this text`;

// By hand: the oldest Node that runs this file has no parseArgs.
const [option] = process.argv.slice(2);
if (option === '--help' || option === '-h') {
  console.log(USAGE);
} else if (option === undefined || option === '--all') {
  await setup(option === '--all');
} else {
  console.error(`setup.mjs: Unexpected argument '${option}' (see --help)`);
  process.exitCode = 2;
}

/** @param {boolean} all whether to include the packages for tests, benchmarks and releases */
async function setup(all) {
  const found = readText(STAMP_FILE);
  // Keeps the packages of a test that ran once. Otherwise each change of the lock file would remove and refetch them.
  const withOthers = all || found?.endsWith(' all\n') === true;
  if (found !== stamp(withOthers) || !existsSync(PINNED_NODE)) {
    if (!matchesLockFile(withOthers)) await install(withOthers);
    const problem = loadProblem();
    if (problem !== undefined) stop(problem);
    writeStamp(stamp(withOthers));
    say('everything is in place');
  }
  if (!(await areCurrent())) build();
}

/** By a rename: the stamp of a copy of the project that shares its files by hard links must not change too. */
function writeStamp(text) {
  writeFileSync(`${STAMP_FILE}.new`, text);
  renameSync(`${STAMP_FILE}.new`, STAMP_FILE);
}

/** What the check depends on: the packages and the machine. */
function stamp(all) {
  const hash = createHash('sha256').update(readText(LOCK_FILE) ?? '');
  return `${hash.digest('hex')} ${PLATFORM} ${all ? 'all' : 'program'}\n`;
}

/** Whether every package is installed in the locked version. Optional packages may be for other systems. */
function matchesLockFile(all) {
  const complete = lockedPackages(all).every(([path, { version, optional }]) => {
    const manifest = readText(join(ROOT, path, 'package.json'));
    return manifest === undefined ? optional === true : JSON.parse(manifest).version === version;
  });
  return complete && existsSync(PINNED_NODE) && existsSync(SERVER);
}

/** Runs npm for the project and for the packages of other platforms than Linux x64, with progress. */
async function install(all) {
  const adds = all && matchesLockFile(false);
  const isInstalled = (path) => existsSync(join(ROOT, path, 'package.json'));
  const wanted = packagesForThisPlatform(all).filter((path) => !adds || !isInstalled(path));
  const sizes = [...(adds ? [] : [PROGRAM_MB]), ...(all ? [OTHERS_MB] : [])];
  const sum = (what) => sizes.reduce((total, size) => total + size[what], 0);
  const purpose = adds ? ' for tests, benchmarks and releases' : '';
  say(
    `fetching ${wanted.length} packages${purpose}, about ${sum('fetch')} MB (${sum('disk')} MB on disk); ` +
      `fewer where npm's cache has them`,
  );
  // `npm ci` would first remove packages that a running program may use.
  const args = [...(adds ? ['install', '--no-save'] : ['ci']), all ? '--include=dev' : '--omit=dev'];
  args.push('--include=optional');
  // The module for Linux on x64 cannot be optional: npm then skips it under a Node other than 22. Elsewhere npm refuses
  // it, unless forced.
  if (PLATFORM !== 'linux-x64') args.push('--force');
  await npm(args, ROOT, () => `${wanted.filter(isInstalled).length} of ${wanted.length} packages`);
  if (PLATFORM !== 'linux-x64' && !existsSync(SERVER)) await installNatives();
}

/**
 * The native module of uWebSockets.js for other platforms: package-lock.json has their packages without checksums. The
 * JavaScript of uWebSockets.js prefers a file beside itself.
 */
async function installNatives() {
  const prefix = join(ROOT, 'scripts', 'natives');
  say(`fetching the native modules for ${PLATFORM}, about 41 MB`);
  await npm(['ci', '--omit=optional'], prefix, () => 'native modules');
  const module = join(prefix, 'node_modules', '@btc-vision', 'uwebsockets.js', UWS_FILE);
  if (!existsSync(module)) stop(`there is no ${UWS_FILE} among the packages: ${NEEDED}`);
  copyFileSync(module, SERVER);
}

/** Paths and entries of the packages in the lock file. */
function lockedPackages(all) {
  const { packages } = JSON.parse(readFileSync(LOCK_FILE, 'utf8'));
  return Object.entries(packages).filter(([path, { dev }]) => path !== '' && (all || !dev));
}

/** Paths of the packages that npm will install here. */
function packagesForThisPlatform(all) {
  const fits = (list, value) => list === undefined || [list].flat().includes(value);
  return lockedPackages(all)
    .filter(
      ([, { os, cpu, libc }]) => fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, 'glibc'),
    )
    .map(([path]) => path);
}

/** Runs npm in a folder and reports progress; shows what npm says only when it fails. */
async function npm(args, cwd, progress) {
  const startedAt = Date.now();
  const report = () => showProgress(`setup: ${progress()}, ${Math.round((Date.now() - startedAt) / 1000)} s`);
  const timer = setInterval(report, process.stdout.isTTY ? 1_000 : 5_000);
  const { code, output, error } = await runNpm([...args, '--ignore-scripts', '--loglevel=error'], cwd);
  clearInterval(timer);
  if (process.stdout.isTTY) process.stdout.write(CLEAR_LINE);
  if (error) stop(`cannot run npm (${error.code}): install npm, which comes with Node.js`);
  if (code === 0) return;
  process.stderr.write(output);
  stop('npm could not install the packages: see its messages above, then run "npm run setup" again');
}

function runNpm(args, cwd) {
  const child = spawn('npm', args, {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  let output = '';
  child.stderr.on('data', (text) => {
    output += text;
  });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ error, output }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** On a terminal each line replaces the one before. */
function showProgress(line) {
  if (process.stdout.isTTY) process.stdout.write(`${CLEAR_LINE}${line}`);
  else console.log(line);
}

/** Why the pinned Node or a native module does not run here, in one line, or undefined. Runs them. */
function loadProblem() {
  if (!existsSync(PINNED_NODE)) return `there is no Node.js for ${PLATFORM} among the packages: ${NEEDED}`;
  const version = spawnSync(PINNED_NODE, ['--version'], { encoding: 'utf8' });
  if (version.status !== 0) {
    const reason = version.error?.message ?? version.stderr.trim().split('\n').at(-1);
    return `the pinned Node.js does not run on this system (${reason}): ${NEEDED}`;
  }
  const load = spawnSync(PINNED_NODE, ['--disable-warning=ExperimentalWarning', LOAD_SCRIPT], {
    encoding: 'utf8',
  });
  if (load.status === 0) return undefined;
  return load.stderr.trim().split('\n').at(-1) || `the native modules crash on this system (${load.signal})`;
}

/** Builds program and pages at once: the user who starts the program may have no right to write here. */
function build() {
  const args = ['--disable-warning=ExperimentalWarning', join(ROOT, 'scripts', 'build', 'build.ts')];
  if (spawnSync(PINNED_NODE, args, { stdio: 'inherit' }).status !== 0)
    stop('program and pages cannot be built: see above');
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function say(message) {
  console.log(`setup: ${message}`);
}

function stop(message) {
  console.error(`setup: ${message}`);
  process.exit(1);
}
