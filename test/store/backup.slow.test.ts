import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { openAccess } from '../../src/access/access.ts';
import { openKeyStore } from '../../src/access/keys.ts';
import { copyDatabase, withBackupLock } from '../../src/store/backup.ts';
import { readLastBlock } from '../../src/store/chain.ts';
import { openIndexForReading, prepareIndexFile } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { PROGRAM } from '../support/daemon/command.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { differencesOf, repairFile, verifyFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const ROOT = `0x${'00'.repeat(32)}`;
/** Makes a throttled copy of an index take several steps. */
const BALLAST_BYTES = 10_000_000;

/** Runs `atlas-node backup` in its own process. */
async function backup(
  dataDir: string,
  file: string,
): Promise<{ stdout: string; stderr: string; code: number }> {
  const args = [PROGRAM, 'backup', file, '--data-dir', dataDir];
  try {
    return { ...(await promisify(execFile)(process.execPath, args)), code: 0 };
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number };
    return { stdout, stderr, code };
  }
}

/** Starts `atlas-node backup` and resolves once the keys are copied. The index takes seconds more. */
async function startSlowBackup(dataDir: string, file: string, mbPerSecond: number): Promise<ChildProcess> {
  const args = [PROGRAM, 'backup', file, '--data-dir', dataDir];
  const copying = spawn(process.execPath, [...args, '--max-mb-per-second', String(mbPerSecond)]);
  await once(copying.stdout, 'data');
  return copying;
}

/** Creates an index that takes several steps to copy. */
function fillWithBallast(path: string): void {
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.close();
  const ballast = openDatabase(path);
  ballast.exec(`CREATE TABLE ballast (bytes BLOB); INSERT INTO ballast VALUES (zeroblob(${BALLAST_BYTES}))`);
  ballast.close();
}

test('copies made while blocks are indexed open, are complete, and continue to the same final index', async (t) => {
  const chain = [...generateChain({ seed: 21, blocks: 300, txPerBlock: 6 }).blocks];
  // With ten blocks a second the chain grows for 25 s: time enough for a copy, even on a slow machine.
  const node = await startNode(t, { chain, head: 50, blockTimeMs: 100 });
  node.setHead(50);
  const flags = { '--node-http': node.url } as const;
  const { daemon, dataDir, key } = await startTestDaemon(t, { flags });
  const folder = tempDir(t);
  const copies = ['0', '1', '2'].map((name) => join(folder, `${name}.db`));
  await waitFor(() => (daemon.status().head?.number ?? 0) > 0, { what: 'the first block' });
  for (const file of copies) {
    const { stdout, stderr, code } = await backup(dataDir, file);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^keys: .*\nhooks: .*\nindex: .*\nthe copy ends with block \d+ \(0x/);
  }
  node.setHead(300);
  await waitFor(() => daemon.status().head?.number === 300, { what: 'the last block' });
  await daemon.close();
  const whole = dumpIndex(join(dataDir, 'index.db'));

  for (const path of copies) {
    const report = await verifyFile({ path, http: node.url, sample: 200 });
    assert.deepEqual(differencesOf(report), []);
  }
  const heads = copies.map((file) => readHead(file));
  assert.ok(heads[0]! > 0 && heads[0]! < 300, `made while the chain grew: ${heads}`);
  const restored = join(folder, 'restored');
  mkdirSync(restored);
  renameSync(copies[0]!, join(restored, 'index.db'));
  renameSync(copies[0]!.replace('.db', '.keys.db'), join(restored, 'keys.db'));
  const second = await startTestDaemon(t, { flags, dataDir: restored });
  await second.reaches(300);
  const headers = { 'X-API-Key': key };
  const answer = await fetch(`${second.url}/api/wallet_summary?address=0x${'1'.repeat(40)}`, { headers });
  assert.equal(answer.status, 200, 'the key of the time of the copy is valid');
  await second.daemon.close();
  assert.deepEqual(dumpIndex(join(restored, 'index.db')), whole);
});

function readHead(path: string): number {
  const db = openIndexForReading(path);
  const head = readLastBlock(db);
  db.close();
  return head?.number ?? 0;
}

test('a copy is of one commit, however much is written during the copy', async (t) => {
  const dir = tempDir(t);
  const source = join(dir, 'index.db');
  const writer = new IndexWriter(source, { cacheMb: 8 });
  t.after(() => writer.close());
  writer.setChain(1, 1);
  const blocks = randomBlocks(1, 1_200, ROOT, 5);
  writer.append([toBatch(blocks.slice(0, 1_000))]);
  const before = dumpIndex(source);
  let next = 1_000;
  const seen: number[] = [];
  const copy = await copyDatabase(source, join(dir, 'copy.db'), {
    isPrivate: false,
    onProgress(done, of) {
      seen.push(done / of);
      writer.append([toBatch(blocks.slice(next, next + 10))]);
      next += 10;
    },
  });
  copy.publish();
  assert.ok(next > 1_000, 'blocks were written meanwhile');
  assert.equal(seen.at(0), 0);
  assert.deepEqual(dumpIndex(join(dir, 'copy.db')), before);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith('copy')),
    ['copy.db'],
    'one file, nothing beside it',
  );
  assert.equal(statSync(join(dir, 'copy.db')).mode & 0o777, 0o644 & ~process.umask());
});

test('keys are copied for their owner alone', async (t) => {
  const dir = tempDir(t);
  const source = join(dir, 'keys.db');
  openDatabase(source).exec('CREATE TABLE keys (id)').close();
  (
    await copyDatabase(source, join(dir, 'copy.db'), { isPrivate: true, onProgress: () => undefined })
  ).publish();
  assert.equal(statSync(join(dir, 'copy.db')).mode & 0o777, 0o600);
});

test('an existing file is not overwritten, and a failed copy leaves nothing', async (t) => {
  const dir = tempDir(t);
  const missing = await backup(dir, join(dir, 'copy.db'));
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /there is no .*index\.db.*--data-dir/);

  new IndexWriter(join(dir, 'index.db'), { cacheMb: 8 }).close();
  writeFileSync(join(dir, 'copy.db'), 'mine');
  const taken = await backup(dir, join(dir, 'copy.db'));
  assert.equal(taken.code, 2);
  assert.match(taken.stderr, /copy\.db already exists/);

  const nowhere = await backup(dir, join(dir, 'no', 'folder', 'copy.db'));
  assert.equal(nowhere.code, 2);
  assert.match(nowhere.stderr, /^atlas-node: the folder \S+\/no\/folder does not exist: create it, /);
  assert.ok(!existsSync(join(dir, 'copy.db.partial')));
});

test('copies into a folder keep their file names', async (t) => {
  const dir = tempDir(t);
  new IndexWriter(join(dir, 'index.db'), { cacheMb: 8 }).close();
  const folder = join(dir, 'copies');
  mkdirSync(folder);
  const { code, stdout } = await backup(dir, folder);
  assert.equal(code, 0);
  assert.match(stdout, /the index is empty/);
  assert.deepEqual(readdirSync(folder), ['index.db']);
});

test('Ctrl-C while the index is copied leaves nothing behind, and the copy can be made again', async (t) => {
  const dir = tempDir(t);
  fillWithBallast(join(dir, 'index.db'));
  openKeyStore(join(dir, 'keys.db')).close();
  const folder = tempDir(t);
  const copying = await startSlowBackup(dir, folder, 1);
  const said = text(copying.stderr!);
  copying.kill('SIGINT');
  const [code] = await once(copying, 'exit');
  assert.match(
    await said,
    /^atlas-node: .*stopped before the copy was complete; removed the partial copy\n$/,
  );
  assert.equal(code, 1);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal((await backup(dir, folder)).code, 0);
  assert.deepEqual(readdirSync(folder).sort(), ['index.db', 'keys.db']);
});

test('a file that comes while the index is copied is left alone, whether the copy ends or is stopped', async (t) => {
  const dir = tempDir(t);
  fillWithBallast(join(dir, 'index.db'));
  openKeyStore(join(dir, 'keys.db')).close();
  for (const [name, isStopped] of [
    ['keys.db', false],
    ['index.db', true],
  ] as const) {
    const folder = tempDir(t);
    const copying = await startSlowBackup(dir, folder, isStopped ? 1 : 5);
    const said = text(copying.stderr!);
    writeFileSync(join(folder, name), 'mine');
    if (isStopped) copying.kill('SIGINT');
    const [code] = await once(copying, 'exit');
    assert.match(await said, isStopped ? /stopped before/ : /already exists and is left unchanged/);
    assert.equal(code, isStopped ? 1 : 2);
    assert.deepEqual(readdirSync(folder), [name]);
    assert.equal(readFileSync(join(folder, name), 'utf8'), 'mine');
  }
});

test('a damaged source, or one that is not an index, is refused with advice', async (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'index.db');
  writeFileSync(file, '');
  const empty = await backup(dir, join(dir, 'copy.db'));
  assert.match(empty.stderr, /index\.db is a SQLite file but not an atlas-node index/);
  rmSync(file);
  const writer = new IndexWriter(file, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.close();
  openKeyStore(join(dir, 'keys.db')).close();
  const beginning = 'SQLite format 3\0';
  writeFileSync(join(dir, 'keys.db'), beginning + 'no pages'.repeat(1_000));
  const folder = tempDir(t);
  const keys = await backup(dir, folder);
  assert.equal(keys.code, 1);
  assert.match(keys.stderr, /[^.]keys\.db is damaged .*restore a copy made by atlas-node backup/);
  assert.deepEqual(readdirSync(folder), []);
});

test('refuses a copy that replaced a file whose WAL is still there, and leaves it intact', async (t) => {
  const dir = tempDir(t);
  const source = join(dir, 'source.db');
  const restored = join(dir, 'index.db');
  const writer = new IndexWriter(source, { cacheMb: 8 });
  t.after(() => writer.close());
  writer.setChain(1, 1);
  const blocks = randomBlocks(1, 400, ROOT, 5);
  writer.append([toBatch(blocks.slice(0, 200))]);
  (await copyDatabase(source, restored, { isPrivate: false, onProgress: () => undefined })).publish();
  const whole = dumpIndex(restored);
  for (let next = 200; next < 400; next += 20) writer.append([toBatch(blocks.slice(next, next + 20))]);
  copyFileSync(`${source}-wal`, `${restored}-wal`); // as after kill -9

  const prepare = () => prepareIndexFile(restored, { onMigration() {} });
  await assert.rejects(
    prepare,
    /index\.db is a copy, but .*-wal belongs to the file it replaced .* move .*-wal and .*-shm away/,
  );
  const args = [PROGRAM, 'verify', '--data-dir', dir];
  await assert.rejects(promisify(execFile)(process.execPath, args), /index\.db is a copy/);
  assert.match((await backup(dir, join(dir, 'second.db'))).stderr, /index\.db is a copy/);
  const node = await startNode(t, { chain: [...generateChain({ seed: 1, blocks: 1 }).blocks] });
  await assert.rejects(repairFile(restored, node.url, 1, 1), /index\.db is a copy/);
  rmSync(`${restored}-wal`);
  (await prepare()).release();
  assert.deepEqual(dumpIndex(restored), whole);
});

test('refuses a copy of the keys that replaced a file whose WAL is still there', async (t) => {
  const dir = tempDir(t);
  const source = join(dir, 'source.db');
  const store = openKeyStore(source);
  t.after(() => store.close());
  store.create({ name: 'app', tier: 'free' });
  const restored = join(dir, 'keys.db');
  (await copyDatabase(source, restored, { isPrivate: true, onProgress: () => undefined })).publish();
  store.create({ name: 'later', tier: 'free' });
  copyFileSync(`${source}-wal`, `${restored}-wal`);
  const args = [PROGRAM, 'keys', 'list', '--data-dir', dir];
  await assert.rejects(promisify(execFile)(process.execPath, args), /keys\.db is a copy/);
  assert.throws(() => openAccess(restored, {}), /keys\.db is a copy/);
  new IndexWriter(join(dir, 'index.db'), { cacheMb: 8 }).close();
  const folder = tempDir(t);
  assert.match((await backup(dir, folder)).stderr, /keys\.db is a copy/);
  assert.deepEqual(readdirSync(folder), []);
  rmSync(`${restored}-wal`);
  const access = openAccess(restored, {});
  t.after(() => access.close());
  assert.deepEqual(
    access.keys.list().map(({ name }) => name),
    ['app'],
  );
});

test('removes the remains of a killed copy, even if the next one fails', async (t) => {
  const dir = tempDir(t);
  const source = join(dir, 'index.db');
  new IndexWriter(source, { cacheMb: 8 }).close();
  const folder = tempDir(t);
  const target = join(folder, 'copy.db');
  for (const suffix of ['', '-journal', '-wal', '-shm']) writeFileSync(`${target}.partial${suffix}`, 'half');
  const options = { isPrivate: false, onProgress: () => undefined };
  await assert.rejects(
    copyDatabase(join(dir, 'missing.db'), target, options),
    /cannot open .*missing\.db: no such file/,
  );
  assert.deepEqual(readdirSync(folder), []);
  const copy = await copyDatabase(source, target, options);
  copy.publish();
  assert.deepEqual(readdirSync(folder), ['copy.db']);
  copy.discard();
  assert.deepEqual(readdirSync(folder), [], 'as when the copy beside it cannot be published');
});

test('a backup killed while the index is copied is not in the way of the next', async (t) => {
  const dataDir = tempDir(t);
  fillWithBallast(join(dataDir, 'index.db'));
  openKeyStore(join(dataDir, 'keys.db')).close();
  const folder = tempDir(t);
  const target = join(folder, 'copy.db');
  const copying = await startSlowBackup(dataDir, target, 1);
  copying.kill('SIGKILL');
  await once(copying, 'exit');
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.includes('.partial')),
    [],
    'nothing has its name before all is copied',
  );
  const { stderr, code } = await backup(dataDir, target);
  assert.equal(code, 0, stderr);
  assert.deepEqual(readdirSync(folder).sort(), ['copy.db', 'copy.keys.db']);
});

test('refuses a backup to the target of a running one, and leaves that one alone', async (t) => {
  const dataDir = tempDir(t);
  const source = join(dataDir, 'index.db');
  new IndexWriter(source, { cacheMb: 8 }).close();
  const folder = tempDir(t);
  const target = join(folder, 'copy.db');
  const unfinished = `${target}.partial`;
  await withBackupLock(source, target, async () => {
    writeFileSync(unfinished, 'of the first');
    const { stderr, code } = await backup(dataDir, target);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /another atlas-node is writing .*copy\.db.*; wait for its end, or name another file/,
    );
    assert.ok(existsSync(unfinished));
  });
  assert.equal((await backup(dataDir, target)).code, 0);
  assert.deepEqual(readdirSync(folder), ['copy.db']);
});

test('a throttled copy takes the time that its rate allows, and is complete', async (t) => {
  const dir = tempDir(t);
  const [source, target] = [join(dir, 'index.db'), join(dir, 'copy.db')];
  const writer = new IndexWriter(source, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(randomBlocks(1, 20, ROOT, 1))]);
  writer.close();
  const { size } = statSync(source);
  const steps: number[] = [];
  const startedAt = performance.now();
  const copy = await copyDatabase(source, target, {
    isPrivate: false,
    bytesPerSecond: size * 2,
    onProgress: (bytes) => steps.push(bytes),
  });
  copy.publish();
  assert.ok(performance.now() - startedAt >= 400, 'half a second but for the last step');
  assert.ok(steps.length >= 4, `${steps.length} steps`);
  assert.deepEqual(dumpIndex(target), dumpIndex(source));
});
