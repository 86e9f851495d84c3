/**
 * Runs the tests: all of them after lint and types, or those of single files at once. Runs under the pinned Node, after
 * setup (see `test` in package.json). See `--help`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { run as runTestFiles } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const USAGE = `Runs the tests.

  npm test                                    lint, types and all tests
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

/** Files that take longest, by the CPU they use or the time they wait. */
const LONGEST = [
  'test/indexer/indexer.test.ts',
  'test/indexer/wrong-chain.test.ts',
  'test/pages/explorer.page.test.ts',
  'test/abuse/http.test.ts',
  'test/docs.test.ts',
  'test/verify/repair.test.ts',
  'test/bench/bench.test.ts',
  'test/pages/panel.page.test.ts',
  'test/abuse/ws.test.ts',
  'test/gateway/answers/large-answers.test.ts',
  'test/daemon/several-nodes.test.ts',
  'test/binary/binary.test.ts',
  'test/crash.test.ts',
  'test/gateway/stock-clients.test.ts',
  'test/indexer/faults.test.ts',
  'test/verify/differences.test.ts',
  'test/cli.test.ts',
  'test/indexer/block-roots.test.ts',
  'test/anvil.test.ts',
  'test/verify/changed-bytes.test.ts',
  'test/cli/service.test.ts',
  'test/verify/repair-kill.test.ts',
  'test/gateway/balanced.test.ts',
  'test/indexer/traces-warning.test.ts',
  'test/daemon/damaged-index.test.ts',
  'test/query/counterparties.test.ts',
  'test/cluster/failover.test.ts',
  'test/dev/dev.test.ts',
  'test/api/openapi/clients.test.ts',
  'test/scripts/options.test.ts',
  'test/gateway/filters/filters.test.ts',
  'test/verify/check-counters.test.ts',
  'test/verify/all.test.ts',
  'test/recorded.test.ts',
  'test/store/backup.test.ts',
  'test/streams/event-keys.test.ts',
];

const NODE_FLAGS = ['--import', import.meta.resolve('tsx')];

const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
if (options.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
process.exitCode = (await (named.length > 0 ? runTests(named) : runAll())) ? 0 : 1;

/** The tests come last and run even if the others fail, so that their summary ends the output. */
async function runAll() {
  const results = [];
  for (const script of ['lint', 'typecheck']) {
    console.log(`\n> ${script}`);
    const passed = run('npm', ['run', '--silent', script]);
    if (!passed) console.error(`> ${script}: FAILED, which fails the whole run`);
    results.push(passed);
  }
  console.log('\n> tests');
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
  results.push(await (options.length > 0 ? runTests(files) : runLongestFirst(files)));
  return results.every((passed) => passed);
}

/**
 * Starts the longest files first, so that none of them runs alone at the end. The command line of the test runner sorts
 * files by name.
 * @param {string[]} files
 */
async function runLongestFirst(files) {
  await provideChromium();
  const isLong = (file) => LONGEST.includes(file);
  const stream = runTestFiles({
    cwd: ROOT,
    files: [...files.filter(isLong), ...files.filter((file) => !isLong(file))],
    concurrency: CONCURRENCY,
    timeout: TEST_TIMEOUT_MS,
    execArgv: NODE_FLAGS,
  });
  let passed = true;
  stream.on('test:fail', ({ todo }) => {
    if (!todo) passed = false;
  });
  await pipeline(stream.compose(new spec()), process.stdout, { end: false });
  return passed;
}

/** @param {string[]} files */
async function runTests(files) {
  if (files.some((file) => file.endsWith('.page.test.ts'))) await provideChromium();
  return run(process.execPath, [
    ...NODE_FLAGS,
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
