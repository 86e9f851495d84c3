import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nestedCleanup } from '../support/cleanup.ts';
import { PINNED_NODE, ROOT, run } from '../support/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const SERVER = 'node_modules/@uwsjs/linux-x64-22/uws.node';

/** A copy of the project whose packages are those installed here, except those that tests change. */
function project(t: TestContext): {
  dir: string;
  setup(env?: Record<string, string>): ReturnType<typeof run>;
} {
  const cleanup = nestedCleanup(t);
  const dir = tempDir(cleanup);
  for (const name of ['package.json', 'package-lock.json', 'bin', 'scripts', 'src']) {
    cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  }
  mkdirSync(join(dir, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const [from, to] = [join(ROOT, 'node_modules', name), join(dir, 'node_modules', name)];
    if (name === '@uwsjs' || name === 'uWebSockets.js') cpSync(from, to, { recursive: true });
    else if (!['.atlas-setup', '.cache'].includes(name)) symlinkSync(from, to);
  }
  return {
    dir,
    setup: (env) => run(cleanup, [PINNED_NODE, 'scripts/setup.mjs'], { cwd: dir, ...(env && { env }) }),
  };
}

test('setup accepts the packages of the lock file, and prepares the sources', async (t) => {
  const { dir, setup } = project(t);
  const { code, stdout, stderr } = await setup();
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /everything is in place/);
  assert.ok(existsSync(join(dir, 'node_modules/.cache/atlas-node/src/cli.ts.mjs')));
});

test('setup is one npm ci that runs no install script, under the Node of the machine', async (t) => {
  const { dir, setup } = project(t);
  rmSync(join(dir, dirname(SERVER)), { recursive: true });
  const fake = tempDir(t);
  for (const name of ['npm', 'npx']) {
    writeFileSync(join(fake, name), `#!/bin/sh\necho ${name} "$@" >> ${fake}/calls\n`, { mode: 0o755 });
  }
  await setup({ PATH: `${fake}:${process.env.PATH}` });
  assert.equal(
    readFileSync(join(fake, 'calls'), 'utf8'),
    'npm ci --ignore-scripts --include=dev --include=optional --loglevel=error\n',
  );
});

test('setup names a native module that does not load', async (t) => {
  const { dir, setup } = project(t);
  writeFileSync(join(dir, SERVER), 'not a library');
  const { code, stderr } = await setup();
  assert.equal(code, 1);
  assert.match(stderr, /^setup: cannot load [^\n]+ on linux-x64: run "npm run setup"[^\n]*\n$/);
});

test('no package that the program runs on has an install script', () => {
  const { packages }: { packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }> } =
    JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const withScript = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript && !entry.dev);
  assert.deepEqual(withScript, []);
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
