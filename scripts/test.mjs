/**
 * Runs the tests: the quick ones after lint and types, the slow ones, or those of single files. Runs under the pinned
 * Node, after setup (see `test` in package.json). See `--help`.
 */
import { exec, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run as runTestFiles } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };

const USAGE = `Runs the tests.

  npm test                                    lint, types and every test but the slow ones
  npm run test:slow                           the slow tests: the files named *.slow.test.ts
  npm test -- test/config.test.ts             the tests of one file, at once
  npm run test:watch -- test/config.test.ts   the same, again after each change
  npm test -- --test-name-pattern=reorg       other options go to Node's test runner

TEST_CHROMIUM names the browser of the page tests: "package" for the one inside an npm package, or a path.`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Test files run at the same time: twice the cores of the machines, since those that drive a browser or wait for a time
 * limit leave a core idle most of the time.
 */
const CONCURRENCY = 4;

/** A test or a file that hangs fails after this long; the longest takes a minute on an idle machine. */
const TEST_TIMEOUT_MS = 900_000;
/** So does a process that runs many files, after this long. */
const QUEUE_TIMEOUT_MS = 7_200_000;

/** Milliseconds that each file took when it last ran, JSON. */
const DURATIONS_FILE = fileURLToPath(
  new URL('../node_modules/.cache/atlas-node/test-durations.json', import.meta.url),
);

/** Marks a file of the slow tests; CONTRIBUTING.md says what belongs there. */
const SLOW = '.slow.test.ts';

/** Marks, with a reason, a file whose tests cannot follow others in one process. So does the name of a slow file. */
const OWN_PROCESS = /^\/\/ Own process: /m;

/**
 * The commands of the scripts "lint" and "typecheck" without the setup before them, which has run. The type checker
 * uses one thread: each of its threads would first compute the same types, which doubles the time on two cores.
 */
const CHECKS = [manifest.scripts.lint, manifest.scripts.typecheck].flatMap((script) =>
  script.split(' && ').filter((command) => !command.includes('setup.mjs')),
);

const SHARED_PROCESS = new URL('../test/support/shared-process.mjs', import.meta.url).href;

const NODE_FLAGS = ['--import', import.meta.resolve('tsx')];

/** Threads of the program run from the bundle. Not with --watch, where the sources change after the build. */
const BUNDLED_THREADS = ['--import', new URL('../test/support/threads/preload.mjs', import.meta.url).href];

const { slow, options, named } = readArguments(process.argv.slice(2));
process.exitCode = (await (named.length > 0 ? runTests(named) : runAll())) ? 0 : 1;

/** @param {string[]} given */
function readArguments(given) {
  const flags = given.filter((argument) => argument.startsWith('-'));
  if (flags.includes('--help')) {
    console.log(USAGE);
    process.exit(0);
  }
  return {
    slow: flags.includes('--slow'),
    options: flags.filter((flag) => flag !== '--slow'),
    named: given.filter((argument) => !argument.startsWith('-')),
  };
}

/** The tests come last and run even if the others fail, so that their summary ends the output. */
async function runAll() {
  const results = slow ? [] : await Promise.all(CHECKS.map(check));
  console.log(slow ? '\n> slow tests' : '\n> tests');
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) => file.endsWith(SLOW) === slow);
  results.push(await (options.length > 0 ? runTests(files.sort()) : runLongestFirst(files)));
  return results.every((passed) => passed);
}

/**
 * Shows what a check says once it has ended: several run at the same time.
 * @param {string} command
 */
function check(command) {
  const bin = join(ROOT, 'node_modules', '.bin');
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  return new Promise((resolve) => {
    exec(command, { cwd: ROOT, env, maxBuffer: Infinity }, (error, stdout, stderr) => {
      console.log(`\n> ${command}\n${stdout}${stderr}`);
      if (error) console.error(`> ${command}: FAILED, which fails the whole run`);
      resolve(error === null);
    });
  });
}

/**
 * Starts the longest files first, so that none of them runs alone at the end. Files that may share a process are taken
 * from one queue, by as many processes as run at once.
 * @param {string[]} files
 */
async function runLongestFirst(files) {
  if (files.some(isPageTest)) await provideChromium();
  const durations = readDurations();
  const own = longestFirst(files.filter(needsOwnProcess), durations);
  const shared = longestFirst(
    files.filter((file) => !needsOwnProcess(file)),
    durations,
  );
  const folder = mkdtempSync(join(tmpdir(), 'atlas-tests-'));
  const stream = runTestFiles({
    cwd: ROOT,
    files: [...own, ...(shared.length > 0 ? writeQueue(folder, shared) : [])],
    concurrency: CONCURRENCY,
    timeout: shared.length > 0 ? QUEUE_TIMEOUT_MS : TEST_TIMEOUT_MS,
    execArgv: [...NODE_FLAGS, ...BUNDLED_THREADS],
  });
  const results = collectResults(stream);
  await pipeline(stream.compose(new spec()), process.stdout, { end: false });
  const lost = shared.filter((file) => !results.durations.has(file));
  for (const file of lost) {
    const began = existsSync(join(folder, String(shared.indexOf(file))));
    console.error(
      `${file}: ${began ? 'its process ended before it reported the tests' : 'not run: every process had ended'}`,
    );
  }
  rmSync(folder, { recursive: true });
  keepDurations({ ...durations, ...Object.fromEntries(results.durations) });
  return results.passed && lost.length === 0;
}

/** Collects what a run reports: whether everything passed, and the milliseconds of each file that ended. */
function collectResults(stream) {
  const results = { passed: true, durations: new Map() };
  const record = (file, ms) => results.durations.set(file, Math.round(ms));
  // In a shared process, a file is a suite.
  const recordSuite = ({ name, nesting, details }) => {
    if (nesting === 0 && details.type === 'suite') record(name, details.duration_ms);
  };
  stream.on('test:pass', recordSuite);
  stream.on('test:fail', (test) => {
    if (!test.todo) results.passed = false;
    recordSuite(test);
  });
  stream.on('test:summary', ({ file, duration_ms }) => {
    if (file !== undefined) record(file.slice(ROOT.length), duration_ms);
  });
  return results;
}

/** @param {string} file */
function needsOwnProcess(file) {
  return file.endsWith(SLOW) || OWN_PROCESS.test(readFileSync(join(ROOT, file), 'utf8'));
}

/**
 * Writes the programs that take test files from the queue, and returns their paths.
 * @param {string} folder where they note what they have taken
 * @param {string[]} files
 */
function writeQueue(folder, files) {
  const queue = JSON.stringify({ files, folder, timeout: TEST_TIMEOUT_MS });
  return Array.from({ length: CONCURRENCY }, (_, index) => {
    const path = join(folder, `tests-${index + 1}.mjs`);
    writeFileSync(path, `import { runQueue } from '${SHARED_PROCESS}';\nawait runQueue(${queue});\n`);
    return path;
  });
}

/**
 * By the time of their last run. Files that never ran here come first, the largest before the others.
 * @param {string[]} files
 * @param {Record<string, number>} durations
 */
function longestFirst(files, durations) {
  const weigh = (file) => ({ file, time: durations[file], size: statSync(join(ROOT, file)).size });
  const known = (one) => Number(one.time !== undefined);
  return files
    .map(weigh)
    .sort((a, b) => known(a) - known(b) || (b.time ?? 0) - (a.time ?? 0) || b.size - a.size)
    .map(({ file }) => file);
}

/** @returns {Record<string, number>} */
function readDurations() {
  return existsSync(DURATIONS_FILE) ? JSON.parse(readFileSync(DURATIONS_FILE, 'utf8')) : {};
}

/** @param {Record<string, number>} durations */
function keepDurations(durations) {
  mkdirSync(dirname(DURATIONS_FILE), { recursive: true });
  const kept = Object.entries(durations).filter(([file]) => existsSync(join(ROOT, file)));
  writeFileSync(`${DURATIONS_FILE}.new`, JSON.stringify(Object.fromEntries(kept), null, 1));
  renameSync(`${DURATIONS_FILE}.new`, DURATIONS_FILE);
}

/** @param {string} file */
function isPageTest(file) {
  return file.includes('.page.');
}

/** @param {string[]} files */
async function runTests(files) {
  if (files.some(isPageTest)) await provideChromium();
  return run(process.execPath, [
    ...NODE_FLAGS,
    ...(options.includes('--watch') ? [] : BUNDLED_THREADS),
    '--test',
    '--test-reporter=spec',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...options,
    ...files,
  ]);
}

/**
 * Runs a program with its output shown; true when it passed.
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) console.error(`cannot run ${command}: ${error.message}`);
  return status === 0;
}

/** The page tests fail where no Chromium runs. The system's package manager is the last resort: it needs root. */
async function provideChromium() {
  const { chromiumLaunch, SYSTEM_CHROMIUM } = await import('./chromium.ts');
  try {
    chromiumLaunch();
  } catch (error) {
    console.error(`the Chromium of the npm package does not run here: ${String(error)}`);
    if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
    console.log('installing chromium for the page tests: apt-get install chromium');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update', '-q'], { stdio: 'ignore', env });
    const args = ['install', '-y', '-q', '--no-install-recommends', 'chromium'];
    spawnSync('apt-get', args, { stdio: 'ignore', env });
    if (!existsSync(SYSTEM_CHROMIUM)) console.error(`apt-get installed no ${SYSTEM_CHROMIUM}`);
  }
}
