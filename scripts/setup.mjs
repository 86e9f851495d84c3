/**
 * Installs what package-lock.json names and checks that it runs here. Does nothing when that is already done.
 *
 * One `npm ci --ignore-scripts` is enough: Node and the server come as packages that hold the binary, npm compares every
 * package with the lock file before it unpacks it, and no install script runs. Plain JavaScript without packages, since
 * it runs on whatever Node (18 or newer) the machine has. See `--help`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK_FILE = join(ROOT, 'package-lock.json');
const STAMP_FILE = join(ROOT, 'node_modules', '.atlas-setup');
const PINNED_NODE = join(ROOT, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
const LOAD_SCRIPT = join(ROOT, 'scripts', 'load-natives.ts');

const USAGE = `setup.mjs [option]
Installs what package-lock.json names where it is missing, and checks that it runs here.

  --help   this text`;

// By hand: the oldest Node that runs this file has no parseArgs.
const [option] = process.argv.slice(2);
if (option === '--help' || option === '-h') {
  console.log(USAGE);
} else if (option !== undefined) {
  console.error(`setup.mjs: Unexpected argument '${option}' (see --help)`);
  process.exitCode = 2;
} else {
  setup();
}

function setup() {
  if (readText(STAMP_FILE) !== stamp() || !existsSync(PINNED_NODE)) {
    if (!matchesLockFile()) install();
    const problem = loadProblem();
    if (problem !== undefined) stop(problem);
    prepare('bin/strip-types.cjs');
    writeFileSync(STAMP_FILE, stamp());
    say('everything is in place');
  }
  prepare('scripts/build-pages.ts');
}

/** What the check depends on: the packages and the machine. */
function stamp() {
  const hash = createHash('sha256').update(readText(LOCK_FILE) ?? '');
  return `${hash.digest('hex')} ${process.platform}-${process.arch}\n`;
}

/** Whether every package of the lock file is installed in its version; optional ones may be for other systems. */
function matchesLockFile() {
  const { packages } = JSON.parse(readFileSync(LOCK_FILE, 'utf8'));
  const complete = Object.entries(packages).every(([path, { version, optional }]) => {
    const manifest = readText(join(ROOT, path, 'package.json'));
    return manifest === undefined ? optional === true : JSON.parse(manifest).version === version;
  });
  return complete && existsSync(PINNED_NODE);
}

function install() {
  // Without the log level npm warns that some packages want the pinned Node, under which they run.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error'];
  say(`installing packages: npm ${args.join(' ')}`);
  const { status, error } = spawnSync('npm', args, {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (error) stop(`cannot run npm (${error.code}): install npm, which comes with Node.js`);
  if (status !== 0)
    stop('npm could not install the packages: see its messages above, then run "npm run setup" again');
}

/** Why the pinned Node or a native module does not run here, in one line, or undefined. Runs them. */
function loadProblem() {
  if (!existsSync(PINNED_NODE))
    return `there is no Node.js for ${process.platform}-${process.arch} among the packages: atlas-node needs Linux on x64 with glibc 2.34 or newer`;
  const version = spawnSync(PINNED_NODE, ['--version'], { encoding: 'utf8' });
  if (version.status !== 0) {
    const reason = version.error?.message ?? version.stderr.trim().split('\n').at(-1);
    return `the pinned Node.js does not run on this system, which must be Linux on x64 with glibc 2.34 or newer: ${reason}`;
  }
  const load = spawnSync(PINNED_NODE, ['--disable-warning=ExperimentalWarning', LOAD_SCRIPT], {
    encoding: 'utf8',
  });
  if (load.status === 0) return undefined;
  return load.stderr.trim().split('\n').at(-1) || `the native modules crash on this system (${load.signal})`;
}

/** Strips types and builds the pages at once: the user who starts the program may have no right to write here. */
function prepare(script) {
  const args = ['--disable-warning=ExperimentalWarning', join(ROOT, script)];
  if (spawnSync(PINNED_NODE, args, { stdio: 'inherit' }).status !== 0)
    stop('the sources cannot be prepared: see above');
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
