import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { hasBinaries } from '../../scripts/natives.mjs';
import { PINNED_NODE, ROOT, run } from '../support/command.ts';
import { opened } from '../support/owner.ts';
import { tempDir } from '../support/temp-dir.ts';

const SQLITE = 'node_modules/better-sqlite3/prebuilds/linux-x64.node';
const SERVER = 'node_modules/@uwsjs/linux-x64-22/uws.node';

/** A copy of the project whose packages are those installed here, except those that tests change. */
function project(t: TestContext): { dir: string; setup(): ReturnType<typeof run> } {
  const owner = opened(t);
  const dir = tempDir(owner);
  for (const name of ['package.json', 'package-lock.json', 'bin', 'scripts', 'src']) {
    cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  }
  mkdirSync(join(dir, 'node_modules'));
  const own = ['better-sqlite3', '@uwsjs'];
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const [from, to] = [join(ROOT, 'node_modules', name), join(dir, 'node_modules', name)];
    if (own.includes(name)) cpSync(from, to, { recursive: true });
    else if (!['.atlas-setup', '.cache'].includes(name)) symlinkSync(from, to);
  }
  return { dir, setup: () => run(owner, [PINNED_NODE, 'scripts/setup.mjs'], { cwd: dir }) };
}

/** Changes one bit in the middle of a file. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(file, bytes);
}

test('setup accepts the binaries that were recorded, and prepares the sources', async (t) => {
  const { dir, setup } = project(t);
  const { code, stdout, stderr } = await setup();
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /everything is in place/);
  assert.ok(existsSync(join(dir, 'node_modules/.cache/atlas-node/src/cli.ts.mjs')));
});

test('of all install scripts setup runs that of the pinned Node alone: the machine may have no compiler', async (t) => {
  const { dir } = project(t);
  rmSync(join(dir, dirname(SERVER)), { recursive: true });
  const fake = tempDir(t);
  writeFileSync(join(fake, 'npx'), `#!/bin/sh\necho "$@" >> ${fake}/calls\n`, { mode: 0o755 });
  const env = { PATH: `${fake}:${process.env.PATH}` };
  await run(opened(t), [PINNED_NODE, 'scripts/setup.mjs'], { cwd: dir, env });
  assert.deepEqual(
    readFileSync(join(fake, 'calls'), 'utf8')
      .trim()
      .split('\n')
      .map((call) => call.split(`${dir}/ `)[1]),
    ['ci --include=dev --ignore-scripts', 'rebuild node --ignore-scripts=false'],
  );
});

test('setup refuses a binary that is not the recorded one, by name, and runs nothing of it', async (t) => {
  for (const file of [SQLITE, SERVER]) {
    const { dir, setup } = project(t);
    damage(join(dir, file));
    const { code, stderr } = await setup();
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `^setup: \\S*${file.split('/').at(-1)} is not the file that was recorded .*: do not run it\n$`,
      ),
    );
  }
});

test('setup refuses a binary that nobody recorded', async (t) => {
  const { dir, setup } = project(t);
  writeFileSync(join(dir, 'scripts/native-checksums.json'), '{}');
  const { code, stderr } = await setup();
  assert.equal(code, 1);
  assert.match(stderr, /^setup: no checksum is recorded for /);
});

test("a server's binary for another Node, which npm installs under that Node, does not count", (t) => {
  const { dir } = project(t);
  assert.equal(hasBinaries(dir), true);
  const folder = join(dir, dirname(SERVER));
  const other = folder.replace(/22$/, '20');
  renameSync(folder, other);
  const manifest = join(other, 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('linux-x64-22', 'linux-x64-20'));
  assert.equal(hasBinaries(dir), false);
});

test('every package that is installed here is pinned to its bytes by the lock file', () => {
  const { packages }: { packages: Record<string, { version?: string; integrity?: string }> } = JSON.parse(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  );
  const installed: { packages: Record<string, { version?: string }> } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8'),
  );
  for (const [path, { version }] of Object.entries(installed.packages)) {
    assert.equal(packages[path]?.version, version, path);
    assert.match(packages[path]?.integrity ?? 'none', /^sha(256|384|512)-/, path);
  }
});
