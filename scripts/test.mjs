/**
 * The whole check: lint, types, tests. Runs under the pinned Node, after setup (see `test` in package.json).
 * See `--help`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const USAGE = `Lint, types and tests.

  npm test                                  everything
  npm test -- test/config.test.ts           lint, types and the tests of one file
  npm test -- --test-name-pattern=reorg     other options go to Node's test runner`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHROMIUM = '/usr/bin/chromium';

/**
 * Test files run at the same time: twice the cores of the machines, since those that drive a browser or wait for a time
 * limit leave a core idle most of the time.
 */
const CONCURRENCY = 4;

/** A test or a file that hangs fails after this long; the longest takes a minute on an idle machine. */
const TEST_TIMEOUT_MS = 900_000;

const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
if (options.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const files = named.length > 0 ? named : testFiles();
if (files.some((file) => file.endsWith('.page.test.ts'))) ensureChromium();

// The tests come last and run even if the others fail, so that their summary ends the output.
const results = [
  run('lint', bin('biome'), ['check', '.']),
  run('types', bin('tsc'), ['--noEmit']),
  run('tests', process.execPath, [
    '--import',
    join(ROOT, 'test', 'support', 'loader.mjs'),
    '--test',
    '--test-reporter=spec',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...options,
    ...files,
  ]),
];
process.exitCode = results.every((passed) => passed) ? 0 : 1;

/** Runs one step with its output shown; true when it passed. */
function run(step, command, args) {
  console.log(`\n> ${step}`);
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) console.error(`cannot run ${command}: ${error.message}`);
  if (status !== 0 && step !== 'tests') console.error(`> ${step}: FAILED, which fails the whole run`);
  return status === 0;
}

function testFiles() {
  const below = readdirSync(join(ROOT, 'test'), { recursive: true });
  return below
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file))
    .sort();
}

function bin(name) {
  return join(ROOT, 'node_modules', '.bin', name);
}

/** The browser that page tests drive. Installed where that needs no permission; otherwise those tests are left out. */
function ensureChromium() {
  if (existsSync(CHROMIUM)) return;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('installing chromium for the page tests: apt-get install chromium');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const args of [
      ['update', '-q'],
      ['install', '-y', '-q', '--no-install-recommends', 'chromium'],
    ]) {
      spawnSync('apt-get', args, { stdio: 'ignore', env });
    }
  }
  if (!existsSync(CHROMIUM)) console.log(`there is no ${CHROMIUM}: the page tests will be left out`);
}
