/** A process for queries that does not work: each fault ends in one line, and the next query is answered. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pause } from '../../src/lib/async.ts';
import { QueryChild } from '../../src/sql/process/query-child.ts';
import { QueryPool } from '../../src/sql/process/query-pool.ts';
import { QueryProcess } from '../../src/sql/process/query-process.ts';
import { createIndex, type IndexFixture } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const REQUEST = { text: 'SELECT 1', limits: { rows: 10, bytes: 1_000 } };
const ANSWER = `{ columns: ['a'], rows: [[1]], cut: null, head: { number: 1, hash: '0x', timestamp: 0 }, startBlock: 1,
  gaps: 0, damage: null, plan: [], notes: [] }`;
const READY =
  'await new Promise((resolve) => process.once("message", resolve)); process.send({ ready: true });';

function index(t: TestContext): IndexFixture {
  const fixture = createIndex(t, 1);
  fixture.append([{ one: [{ from: 'a', to: 'b', amount: 5n }] }]);
  return fixture;
}

/** The command of a process whose program is this script. */
const scriptCommand = (script: string): [string, ...string[]] => [
  process.execPath,
  '--input-type=module',
  '-e',
  script,
];

/** A process whose program is this script. */
function processOf(t: TestContext, script: string, startMs = 20_000): QueryProcess {
  return commandOf(t, scriptCommand(script), startMs);
}

function commandOf(t: TestContext, command: [string, ...string[]], startMs = 20_000): QueryProcess {
  const queries = new QueryProcess({ startMs }, command).open(index(t).path);
  t.after(() => queries.close());
  return queries;
}

const FAULTS: [what: string, script: string, error: { name: string; message: RegExp }][] = [
  ['ends at once', 'process.exit(0)', { name: 'QueryStartError', message: /ended with code 0$/ }],
  [
    'fails at its start',
    'console.error("first"); console.error("no such command"); process.exit(2)',
    { name: 'QueryStartError', message: /^the process for queries ended with code 2: no such command$/ },
  ],
  [
    'cannot read the index',
    'process.send({ failed: "the index is gone" })',
    { name: 'QueryStartError', message: /^the index is gone$/ },
  ],
  [
    'is killed at its start',
    'process.kill(process.pid, "SIGKILL")',
    { name: 'QueryStartError', message: /ended with SIGKILL$/ },
  ],
  [
    'crashes in a query',
    `${READY} process.on("message", () => process.kill(process.pid, "SIGSEGV"))`,
    { name: 'FatalError', message: /^the process for queries ended with SIGSEGV$/ },
  ],
  [
    'is killed by the system in a query',
    `${READY} process.on("message", () => process.kill(process.pid, "SIGKILL"))`,
    { name: 'QueryLimitError', message: /its process was killed, as the system does where memory runs out/ },
  ],
  [
    'runs out of heap in a query',
    `${READY} process.on("message", () => { console.error("JavaScript heap out of memory"); process.abort(); })`,
    { name: 'QueryLimitError', message: /more memory than there is/ },
  ],
  [
    'closes its channel',
    `${READY} process.on("message", () => process.disconnect()); setInterval(() => 0, 1000)`,
    { name: 'FatalError', message: /closed its channel$/ },
  ],
  [
    'sends junk',
    `${READY} process.on("message", () => process.send([1, "x"]))`,
    { name: 'FatalError', message: /no message of this release/ },
  ],
  [
    'sends null at its start',
    'process.send(null); setInterval(() => 0, 1000)',
    { name: 'QueryStartError', message: /no message of this release/ },
  ],
  [
    'cannot run the query',
    `${READY} process.on("message", () => process.send({ failed: "disk I/O error" }))`,
    { name: 'FatalError', message: /^disk I\/O error$/ },
  ],
];

for (const [what, script, error] of FAULTS)
  test(`a process that ${what} is told in one line`, async (t) => {
    const queries = processOf(t, script);
    await assert.rejects(queries.run(REQUEST), error);
    await assert.rejects(queries.run(REQUEST), error, 'and again');
  });

test('a process that is not ready in time, or cannot be started, is told in one line', async (t) => {
  const hanging = processOf(t, 'setInterval(() => 0, 1000)', 300);
  const late = { name: 'QueryStartError', message: 'the process for queries was not ready after 0.3 s' };
  await assert.rejects(hanging.run(REQUEST), late);
  const missing = commandOf(t, ['/nowhere/node']);
  await assert.rejects(missing.run(REQUEST), {
    name: 'QueryStartError',
    message: 'the process for queries cannot be started: spawn /nowhere/node ENOENT',
  });
  const long = commandOf(t, [...scriptCommand(READY), 'x'.repeat(3_000_000)]);
  await assert.rejects(long.run(REQUEST), { name: 'QueryStartError', message: /cannot be started: .*E2BIG/ });
});

test('without a folder for temporary files no query is run', async (t) => {
  const queries = processOf(t, READY);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = '/nowhere';
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  await assert.rejects(queries.run(REQUEST), {
    name: 'QueryStartError',
    message: /no folder for the temporary files of queries: .*ENOENT.*TMPDIR/,
  });
});

test('a late answer is not taken for that of the next query', async (t) => {
  const told: string[] = [];
  const child = new QueryChild(
    scriptCommand(`${READY} process.on("message", () => process.send({ answer: ${ANSWER} }))`),
    20_000,
    {
      onMessage: (message) => told.push(...Object.keys(message)),
      onFailure: ({ message }) => told.push(message),
    },
  );
  t.after(() => child.end());
  child.send({ path: '/nowhere/index.db', tradeLists: {} });
  await waitFor(() => told.length > 0, { what: 'the process to be ready' });
  child.send({ ...REQUEST, wantsPlan: false });
  child.ref();
  child.end();
  await child.gone;
  await pause(300);
  assert.deepEqual(told, ['ready']);
});

test('a pool pauses between starts that fail, and answers once they succeed', async (t) => {
  const folder = tempDir(t);
  const mark = join(folder, 'broken');
  const starts = join(folder, 'starts');
  writeFileSync(mark, '');
  const script = `const fs = process.getBuiltinModule('fs'); fs.appendFileSync('${starts}', '.');
    if (fs.existsSync('${mark}')) process.exit(3);
    ${READY} process.on('message', () => process.send({ answer: ${ANSWER} }));`;
  const { path } = index(t);
  const pool = new QueryPool(path, {}, () => new QueryProcess({}, scriptCommand(script)).open(path));
  t.after(() => pool.close());
  await assert.rejects(pool.run(REQUEST), { name: 'QueryStartError', message: /ended with code 3$/ });
  const count = () => readFileSync(starts, 'utf8').length;
  const before = count();
  for (let i = 0; i < 20; i++)
    await assert.rejects(pool.run(REQUEST), {
      name: 'RequestError',
      status: 503,
      message: /ended with code 3; the next query in 1 s tries again$/,
    });
  assert.equal(count(), before);
  rmSync(mark);
  const { rows } = await waitFor(() => pool.run(REQUEST).catch(() => undefined), { what: 'an answer' });
  assert.deepEqual(rows, [[1]]);
  assert.equal(count(), before + 1);
  assert.deepEqual([pool.state().running, pool.state().waiting], [0, 0]);
});

test('a pool whose processes cannot even be made keeps its turns', async (t) => {
  const { path } = index(t);
  const pool = new QueryPool(path, {}, () => {
    throw new Error('no folder');
  });
  t.after(() => pool.close());
  for (let i = 0; i < 4; i++) await assert.rejects(pool.run(REQUEST), /no folder/);
  assert.equal(pool.state().running, 0);
});

test('a query that waits for a turn can be given up, and one that runs too', async (t) => {
  const { path } = index(t);
  const reply = `text === "SELECT 1" && process.send({ answer: ${ANSWER} })`;
  const script = `${READY} process.on("message", ({ text }) => ${reply})`;
  const pool = new QueryPool(path, {}, () => new QueryProcess({}, scriptCommand(script)).open(path));
  t.after(() => pool.close());
  const stops = Array.from({ length: 4 }, () => new AbortController());
  const ended = stops.map(({ signal }) =>
    pool.run({ ...REQUEST, text: 'for ever' }, { signal, timeoutMs: 60_000 }),
  );
  const all = Promise.all(
    ended.map((one) => assert.rejects(one, { name: 'QueryLimitError', message: /on request/ })),
  );
  const last = pool.run(REQUEST);
  assert.deepEqual([pool.state().running, pool.state().waiting], [2, 3]);
  stops[2]?.abort();
  stops[3]?.abort();
  await pause(100);
  stops[0]?.abort();
  assert.deepEqual((await last).rows, [[1]]);
  stops[1]?.abort();
  await all;
  assert.deepEqual([pool.state().running, pool.state().waiting], [0, 0]);
});

test('a process that was ended leaves no shell behind', async (t) => {
  const queries = processOf(t, READY);
  const { pid } = Reflect.get(queries, 'child');
  const hasShell = () =>
    execFileSync('/bin/ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(`atlas-watchdog ${pid}\n`);
  assert.ok(hasShell());
  await queries.close();
  await waitFor(() => !hasShell(), { what: 'the end of the shell' });
});
