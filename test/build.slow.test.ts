/** The program's bundle: built from the sources, and again when one of them changes. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { THREADS } from '../src/threads/entries.ts';
import { nestedCleanup } from './support/cleanup.ts';
import { PINNED_NODE, ROOT, run } from './support/daemon/command.ts';
import { tempDir } from './support/temp-dir.ts';
import { waitFor } from './support/wait.ts';

/** A copy of the project with the build of this one; its packages are the installed ones. */
function project(t: TestContext) {
  const root = tempDir(nestedCleanup(t));
  for (const name of ['package.json', 'package-lock.json', 'bin', 'dist', 'scripts', 'src'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const built = () => readFileSync(join(root, 'dist/program/manifest.json'), 'utf8');
  return {
    root,
    built,
    folder: () => String(JSON.parse(built()).files[0]).split('/')[0] ?? '',
    program: (...args: string[]) => run(t, [PINNED_NODE, 'bin/program.mjs', ...args], { cwd: root }),
  };
}

/** Changes the version that the program prints. */
function changeVersion(root: string, version: string): void {
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...manifest, version }));
}

test('the program and each thread are bundled, with maps to the sources and the used parts of zod', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'dist/program/manifest.json'), 'utf8'));
  for (const name of ['cli', 'sql-process', ...Object.keys(THREADS).map((thread) => `${thread}-thread`)]) {
    const file = files.find((path: string) => path.endsWith(`/${name}.mjs`));
    assert.ok(file, name);
    const map = JSON.parse(readFileSync(join(ROOT, 'dist/program', `${file}.map`), 'utf8'));
    for (const source of map.sources)
      assert.ok(existsSync(join(ROOT, 'dist/program', file, '..', source)), source);
  }
  const maps = files
    .filter((file: string) => file.endsWith('.map'))
    .map((file: string) => readFileSync(join(ROOT, 'dist/program', file), 'utf8'))
    .join();
  const sources = [...maps.matchAll(/node_modules\/(zod\/[^"]+)"/g)].map(([, source = '']) => source);
  assert.ok(sources.includes('zod/v4/core/schemas.js'));
  assert.deepEqual(
    sources.filter((source) => source.includes('/locales/')),
    ['zod/v4/locales/en.js'],
    "import zod as `import * as z from 'zod'`: otherwise its unused parts are bundled, too",
  );
});

test('a start after a change of a source runs the new program, and the next one finds it built', async (t) => {
  const { root, built, folder, program } = project(t);
  const [before, first] = [built(), folder()];
  assert.equal((await program('--version')).stdout, `${manifest.version}\n`);
  assert.equal(built(), before, 'nothing has changed');
  changeVersion(root, '9.8.7');
  assert.deepEqual(await program('--version').then(({ stdout, stderr }) => [stdout, stderr]), [
    '9.8.7\n',
    '',
  ]);
  const after = built();
  assert.notEqual(after, before);
  await program('--version');
  assert.equal(built(), after);
  assert.ok(existsSync(join(root, 'dist/program', first, 'reader-thread.mjs')), 'for daemons that still run');
});

test('a start reads the sources only where their sizes or times have changed since an earlier one', async (t) => {
  const { root, built, program } = project(t);
  const seen = join(root, 'dist/program/sources-seen');
  rmSync(seen);
  await waitFor(async () => (await program('--version')).code === 0 && existsSync(seen), {
    what: 'a start whose sources are older than a tick',
  });
  // With a digest that no sources have, a start that computed it would build again.
  const { digest } = JSON.parse(built());
  for (const file of [seen, join(root, 'dist/program/manifest.json')])
    writeFileSync(file, readFileSync(file, 'utf8').replace(digest, 'f'.repeat(64)));
  const before = built();
  await program('--version');
  assert.equal(built(), before);
  const source = join(root, 'src/cli/program.ts');
  const { atime, mtime } = statSync(source);
  writeFileSync(source, readFileSync(source, 'utf8').replace('Wallet and token', 'Wallet AND token'));
  utimesSync(source, atime, mtime);
  assert.match((await program('--help')).stdout, /Wallet AND token/, 'the same size, and its time set back');
});

test('simultaneous starts after a change all run the new program', async (t) => {
  const { root, program } = project(t);
  rmSync(join(root, 'dist'), { recursive: true });
  const runs = await Promise.all(Array.from({ length: 4 }, () => program('--version')));
  assert.deepEqual(
    runs.map(({ stdout, stderr }) => stdout + stderr),
    Array(4).fill(`${manifest.version}\n`),
  );
  const left = readdirSync(join(root, 'dist'), { recursive: true }).map(String);
  assert.deepEqual(
    left.filter((path) => /\.\d+$/.test(path)),
    [],
  );
});

test('a source that does not compile is reported with its place', async (t) => {
  const { root, program } = project(t);
  appendFileSync(join(root, 'src/lib/hex.ts'), '\nconst = 1;\n');
  const { code, stdout, stderr } = await program('--version');
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /src\/lib\/hex\.ts:\d+:\d+: ERROR/);
  assert.match(stderr, /\natlas-node: its sources have changed, and it cannot be built[^\n]*\n$/);
});

test('a folder that nobody may write runs what was built, and says so when that is stale', async (t) => {
  const { root } = project(t);
  // As another user, if this is root, who may write everywhere.
  const isRoot = process.getuid?.() === 0;
  const asNobody = isRoot ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
  chmodSync(root, 0o755);
  if (!isRoot) for (const name of ['dist', 'dist/program', 'dist/pages']) chmodSync(join(root, name), 0o555);
  const start = () => run(t, [...asNobody, join(root, 'bin/atlas-node'), '--version'], { cwd: '/' });
  assert.deepEqual(await start().then(({ code, stdout }) => [code, stdout]), [0, `${manifest.version}\n`]);
  changeVersion(root, '9.8.7');
  const { code, stderr } = await start();
  assert.equal(code, 1);
  assert.match(
    stderr,
    /EACCES.*\natlas-node: its sources have changed, and it cannot be built; run: npm --prefix/s,
  );
  if (!isRoot) for (const name of ['dist', 'dist/program', 'dist/pages']) chmodSync(join(root, name), 0o755);
});

test('an installation without sources runs what was built, or says that there is nothing', async (t) => {
  const { root, program } = project(t);
  for (const name of ['src', 'scripts']) rmSync(join(root, name), { recursive: true });
  changeVersion(root, '9.8.7');
  assert.equal((await program('--version')).stdout, `${manifest.version}\n`);
  rmSync(join(root, 'dist'), { recursive: true });
  mkdirSync(join(root, 'dist'));
  const { code, stderr } = await program('--version');
  assert.equal(code, 1);
  assert.match(stderr, /^atlas-node: the program is not built; run: npm --prefix [^\n]*\n$/);
});
