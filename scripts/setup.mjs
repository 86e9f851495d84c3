/**
 * Installs what package-lock.json asks for, under the Node the project pins, and checks that it runs here.
 * Does nothing when that was done before. Runs on any Node from 18 on, so it is plain JavaScript without packages.
 * See `--help`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKSUMS_FILE, checksumProblem, hasBinaries, loadProblem, recordChecksums } from './natives.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK_FILE = join(ROOT, 'package-lock.json');
const STAMP_FILE = join(ROOT, 'node_modules', '.atlas-setup');

const USAGE = `setup.mjs [option]
Installs what package-lock.json asks for where it is missing, and checks that it runs here.

  --record   write the checksums of the native binaries at hand to native-checksums.json instead
  --help     this text`;

// By hand: the oldest Node that this runs on has no parseArgs.
const [option, another] = process.argv.slice(2);
if (option === '--help' || option === '-h') {
  console.log(USAGE);
} else if (another !== undefined || (option !== undefined && option !== '--record')) {
  console.error(`setup.mjs: Unexpected argument '${another ?? option}' (see --help)`);
  process.exitCode = 2;
} else if (option === '--record') {
  recordChecksums(ROOT);
} else {
  setup();
}

function setup() {
  if (readText(STAMP_FILE) === stamp() && hasBinaries(ROOT)) return;
  if (!matchesLockFile() || !hasBinaries(ROOT)) install();
  // Compared before any of it is run; installing the same package again would not change it.
  const problem = checksumProblem(ROOT) ?? loadProblem(ROOT);
  if (problem !== undefined) stop(problem);
  stripTypes();
  writeFileSync(STAMP_FILE, stamp());
  say('everything is in place');
}

/** Now, since the user who starts the program may have no right to write here. */
function stripTypes() {
  const node = join(ROOT, 'node_modules', 'node', 'bin', 'node');
  const args = ['--disable-warning=ExperimentalWarning', join(ROOT, 'bin', 'strip-types.cjs')];
  if (spawnSync(node, args, { stdio: 'inherit' }).status !== 0)
    stop('the sources cannot be prepared: see above');
}

/** What the check depends on: the packages, their checksums and the machine. */
function stamp() {
  const hash = createHash('sha256');
  for (const file of [LOCK_FILE, CHECKSUMS_FILE]) hash.update(readText(file) ?? '');
  return `${hash.digest('hex')} ${process.platform}-${process.arch}\n`;
}

/** Whether every package of the lock file is installed in its version; optional ones are left out on other systems. */
function matchesLockFile() {
  const { packages } = JSON.parse(readFileSync(LOCK_FILE, 'utf8'));
  return Object.entries(packages).every(([path, { version, optional }]) => {
    const manifest = readText(join(ROOT, path, 'package.json'));
    return manifest === undefined ? optional === true : JSON.parse(manifest).version === version;
  });
}

/**
 * npm itself must run under the pinned Node: it leaves out the binaries that are not for the Node it runs under.
 * Of all install scripts only that of the pinned Node is run: npm would also call a compiler's tools for the SQLite
 * driver, whose binary comes ready-made, and fail on a machine that has none.
 */
function install() {
  npm('installing packages', ['ci', '--include=dev', '--ignore-scripts']);
  npm('fetching the pinned Node.js', ['rebuild', 'node', '--ignore-scripts=false']);
}

/** npx is started from another folder, or it would take Node from the node_modules that npm is about to change. */
function npm(what, args) {
  const { node } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies;
  const command = ['npx', '-y', '-p', `node@${node}`, '--', 'npm', '--prefix', ROOT, ...args];
  say(`${what}: ${command.join(' ')}`);
  const { status, error } = spawnSync(command[0], command.slice(1), {
    cwd: tmpdir(),
    env: withoutNpmVariables(process.env),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (error) stop(`cannot run npx (${error.code}): install npm, which comes with Node.js`);
  if (status !== 0)
    stop('npm could not install the packages: see its messages above, then run "npm run setup" again');
}

/** The environment without what an outer `npm start` or `npm test` sets for this project, including its PATH. */
function withoutNpmVariables(env) {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(npm_config_local_prefix|npm_package_|npm_lifecycle_|INIT_CWD$)/.test(name),
  );
  const bins = join(ROOT, 'node_modules', '.bin');
  const path = (env.PATH ?? '')
    .split(':')
    .filter((folder) => folder !== bins)
    .join(':');
  return { ...Object.fromEntries(kept), PATH: path };
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
