/**
 * A real dpkg installs, upgrades and purges the package in a folder. The commands that change users or services are
 * replaced: this system has neither.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { writeDebianPackage } from '../../scripts/release/debian-package.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { ROOT } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

/** dpkg sets owners: without root, in a user namespace, where the system allows one. */
const AS_ROOT = process.getuid?.() === 0 ? [] : ['unshare', '--map-root-user'];

const [first = '', ...others] = [...AS_ROOT, 'dpkg', '--version'];
const canRun = spawnSync(first, others).status === 0;
const needs = { skip: !canRun && 'left out: no dpkg, or neither root nor user namespaces' };

const CONFIG = '/etc/atlas-node/atlas.toml';

/** Stand-ins by name. `id` names a user that owns no process. */
const COMMANDS: Record<string, string> = {
  getent: 'grep -q "^$2$" "$DPKG_ROOT/users"',
  useradd: 'for name; do :; done; echo "$name" >> "$DPKG_ROOT/users"',
  userdel: 'sed -i "/^$1$/d" "$DPKG_ROOT/users"',
  systemctl: 'echo "$*" >> "$DPKG_ROOT/systemctl.log"',
  id: 'echo 4294967290',
  // Without the owner, who does not exist here.
  install: 'if [ "$2" = -o ]; then mkdir -p -m 0700 "$8"; else exec /usr/bin/install "$@"; fi',
};

class System {
  readonly root: string;
  private readonly owner: Cleanup;

  constructor(owner: Cleanup) {
    this.owner = owner;
    this.root = tempDir(owner);
    for (const folder of ['info', 'updates', 'triggers'])
      mkdirSync(join(this.root, 'var/lib/dpkg', folder), { recursive: true });
    for (const file of ['var/lib/dpkg/status', 'var/lib/dpkg/available', 'users'])
      writeFileSync(join(this.root, file), '');
    for (const [name, line] of Object.entries(COMMANDS)) this.program(`commands/${name}`, line);
  }

  path(path: string): string {
    return join(this.root, path);
  }

  read(path: string): string {
    return readFileSync(this.path(path), 'utf8');
  }

  /** Runs dpkg without a terminal or any input, as an unattended upgrade does. */
  dpkg(...args: string[]): { status: number | null; output: string } {
    const forced = ['script-chrootless', 'not-root', 'depends', 'bad-path', 'unsafe-io'];
    const command = [
      ...AS_ROOT,
      'dpkg',
      `--root=${this.root}`,
      '--log=/dev/null',
      ...forced.map((what) => `--force-${what}`),
      ...args,
    ];
    const [file = '', ...rest] = command;
    const { status, stdout, stderr } = spawnSync(file, rest, {
      input: '',
      encoding: 'utf8',
      env: { PATH: `${this.path('commands')}:${process.env.PATH}:/usr/sbin:/sbin`, LC_ALL: 'C' },
    });
    return { status, output: stdout + stderr };
  }

  install(deb: string): void {
    const { status, output } = this.dpkg('--install', deb);
    assert.equal(status, 0, output);
  }

  /** The package as this source builds it, in some version. */
  release(version: string): string {
    const out = tempDir(this.owner);
    const binary = join(out, 'binary');
    writeFileSync(binary, 'program');
    const notices = join(out, 'notices');
    writeFileSync(notices, 'licences');
    const platform = 'linux-x64';
    return writeDebianPackage({
      root: ROOT,
      out,
      binary,
      notices,
      manifest: { ...manifest, version },
      platform,
    });
  }

  /** A package that ships the configuration as a conffile, as versions up to 0.1.0 did. */
  older(version: string, config: string): string {
    const tree = tempDir(this.owner);
    const deb = `${tree}.deb`;
    this.owner.after(() => rmSync(deb, { force: true }));
    const files: [path: string, text: string][] = [
      [CONFIG, config],
      ['DEBIAN/conffiles', `${CONFIG}\n`],
      [
        'DEBIAN/control',
        `Package: atlas-node\nVersion: ${version}\nArchitecture: amd64\nMaintainer: a\nDescription: b\n`,
      ],
    ];
    for (const [path, text] of files) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    chmodSync(tree, 0o755);
    const { status, stderr } = spawnSync('dpkg-deb', ['--root-owner-group', '--build', tree, deb]);
    assert.equal(status, 0, String(stderr));
    return deb;
  }

  private program(path: string, text: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
}

test('an upgrade asks nothing and keeps a changed configuration; a purge leaves nothing', needs, (t) => {
  const system = new System(t);
  system.install(system.release('1.0.0'));
  assert.equal(system.read(CONFIG), system.read('usr/share/atlas-node/atlas.toml'));
  writeFileSync(system.path(CONFIG), 'mine');
  system.install(system.release('1.1.0'));
  assert.equal(system.read(CONFIG), 'mine');
  rmSync(system.path(CONFIG));
  system.install(system.release('1.2.0'));
  assert.equal(existsSync(system.path(CONFIG)), false, 'the operator deleted it');
  writeFileSync(system.path('var/lib/atlas-node/keys.db'), 'keys');
  assert.equal(system.dpkg('--remove', 'atlas-node').status, 0);
  assert.equal(system.read('var/lib/atlas-node/keys.db'), 'keys');
  const { status, output } = system.dpkg('--purge', 'atlas-node');
  assert.equal(status, 0, output);
  for (const path of ['etc/atlas-node', 'var/lib/atlas-node', 'usr/share/atlas-node'])
    assert.equal(existsSync(system.path(path)), false, path);
  assert.equal(system.read('users'), '');
});

test(
  'the upgrade from a version with a conffile keeps the file, even after one that failed at the question',
  needs,
  (t) => {
    for (const change of [undefined, 'mine']) {
      const system = new System(t);
      system.install(system.older('0.1.0', 'shipped'));
      if (change !== undefined) writeFileSync(system.path(CONFIG), change);
      const failing = system.dpkg('--install', system.older('0.1.1', 'shipped with a new comment'));
      assert.equal(failing.status === 0, change === undefined, failing.output);
      const expected = system.read(CONFIG);
      system.install(system.release('1.0.0'));
      assert.equal(system.read(CONFIG), expected);
      assert.equal(existsSync(system.path(`${CONFIG}.dpkg-new`)), false);
      const { output } = system.dpkg('--status', 'atlas-node');
      assert.doesNotMatch(output, /Conffiles/);
    }
  },
);

test('a new version that cannot be unpacked leaves the configuration in its place', needs, (t) => {
  const system = new System(t);
  system.install(system.older('0.1.0', 'shipped'));
  writeFileSync(system.path(CONFIG), 'mine');
  const deb = system.release('1.0.0');
  const bytes = readFileSync(deb);
  writeFileSync(deb, bytes.subarray(0, bytes.length - 2_000)); // cuts the files, after the scripts
  assert.notEqual(system.dpkg('--install', deb).status, 0);
  assert.equal(system.read(CONFIG), 'mine');
});
