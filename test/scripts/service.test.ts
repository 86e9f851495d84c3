/** The systemd unit and the container recipe are valid and keep their promises. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RUNTIME_ENV } from '../../scripts/runtime-flags.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const UNIT = fileURLToPath(new URL('../../scripts/atlas-node.service', import.meta.url));

/** Exposure in tenths of systemd's scale of 0 to 10. */
const MOST_EXPOSURE = 30;

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
const needs = { skip: !hasAnalyze && 'left out: this machine has no systemd-analyze' };

const lines = readFileSync(UNIT, 'utf8').split('\n');

/** The value of a setting that occurs once. */
function setting(name: string): string {
  const found = lines.filter((line) => line.startsWith(`${name}=`));
  assert.equal(found.length, 1, `${name} stands there ${found.length} times`);
  return found[0]?.slice(name.length + 1) ?? '';
}

test('systemd rates the unit as well protected', needs, () => {
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=yes', `--threshold=${MOST_EXPOSURE}`, '--no-pager', UNIT],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stdout + stderr);
});

test('systemd knows every setting of the unit', needs, () => {
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', UNIT], { encoding: 'utf8' });
  assert.doesNotMatch(stderr, /atlas-node\.service:\d+: /);
});

test('the unit runs at lower priority than the validator and gives the daemon the time it needs', () => {
  assert.equal(setting('Type'), 'notify');
  for (const weight of ['CPUWeight', 'IOWeight']) assert.ok(Number(setting(weight)) < 100, weight);
  assert.ok(Number(setting('Nice')) > 0);
  assert.ok(Number(setting('OOMScoreAdjust')) > 0);
  assert.match(setting('MemoryMax'), /^\d+G$/);
  assert.ok(Number(setting('TimeoutStopSec')) > 10, 'the daemon may take ten seconds');
  assert.ok(Number(setting('WatchdogSec')) >= 60, 'a large commit on a slow disk is not silence');
  assert.equal(setting('RestartPreventExitStatus'), '2');
});

test('the program accepts the command line of the unit', async (t) => {
  const [, ...args] = setting('ExecStart').split(' ');
  const file = args[args.indexOf('--config') + 1] ?? '';
  assert.equal(file, '/etc/atlas-node/atlas.toml');
  const missing = `${tempDir(t)}/atlas.toml`;
  const { code, stderr } = await run(
    t,
    [LAUNCHER, ...args.map((argument) => (argument === file ? missing : argument))],
    { cwd: tempDir(t) },
  );
  assert.equal(code, 2);
  assert.match(stderr, new RegExp(`${missing}`), 'it got as far as the configuration file');
});

test('the help of init and start names the folders of the unit, and no others for a service', async (t) => {
  const [, ...args] = setting('ExecStart').split(' ');
  const folders = ['--config', '--data-dir'].map((flag) => args[args.indexOf(flag) + 1] ?? '');
  for (const command of ['init', 'start']) {
    const { stdout } = await run(t, [LAUNCHER, command, '--help'], { cwd: tempDir(t) });
    const named = [...stdout.matchAll(/\/(?:etc|var)\/[\w/-]*[\w-]/g)].map(([path]) => path);
    assert.ok(named.length > 0);
    for (const path of named)
      assert.ok(
        folders.some((folder) => folder.startsWith(path)),
        path,
      );
    assert.doesNotMatch(stdout, /--dir \/etc/);
  }
});

const recipe = readFileSync(new URL('../../scripts/Containerfile', import.meta.url), 'utf8');

/** The image's environment. */
const imageEnv = Object.fromEntries(
  (recipe.match(/^ENV .*$/gm) ?? []).flatMap((line) =>
    [...line.matchAll(/\b(ATLAS_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  ),
);

test('the unit and the container set of the C library what the launcher sets', () => {
  const settings = Object.entries(RUNTIME_ENV).map(([name, value]) => `${name}=${value}`);
  assert.ok(lines.includes(`Environment=${settings.join(' ')}`));
  for (const wanted of settings) assert.ok(recipe.includes(wanted), wanted);
});

test('the container passes known settings and runs the built program without privileges', () => {
  const { config, sources } = parseConfig({ env: imageEnv });
  assert.equal(config.server.host, '0.0.0.0');
  assert.equal(config.data_dir, '/data');
  for (const name of Object.keys(imageEnv)) assert.ok(Object.values(sources).includes(`env ${name}`), name);
  assert.match(recipe, /npm run build:binary/);
  assert.match(recipe, /^COPY --from=build \/build\/dist\/atlas-node /m);
  assert.match(recipe, /^USER atlas-node$/m);
});

test('the commands for the container keep its health check and its port to the host, and say what beats a file', () => {
  const head = recipe.slice(0, recipe.indexOf('\nFROM '));
  assert.match(recipe, /^HEALTHCHECK /m);
  assert.match(head, /^# +podman build --format docker /m);
  const [run = ''] = /podman run (?:.*\\\n)*.*/.exec(head) ?? [];
  assert.match(run, /--network host/);
  assert.match(run, /-e ATLAS_SERVER__HOST=127\.0\.0\.1 /);
  const said = head.slice(head.indexOf('The environment overrides the file'));
  for (const name of Object.keys(imageEnv)) assert.ok(said.includes(name), name);
});
