/** The artefacts of a release that need no built binary: a script stands in for it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { writeBillOfMaterials } from '../../scripts/release/bill-of-materials.ts';
import { writeDebianPackage } from '../../scripts/release/debian-package.ts';
import type { ReleaseInputs } from '../../scripts/release/inputs.ts';
import { writeNpmPackage } from '../../scripts/release/npm-package.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { ROOT, run } from '../support/daemon/command.ts';
import { helpTexts } from '../support/daemon/help.ts';
import { tempDir } from '../support/temp-dir.ts';

const platform = `${process.platform}-${process.arch}`;

test('the npm package installs globally without a registry, and the same contents give the same bytes', async (t) => {
  const dir = tempDir(t);
  const [first, second] = writeTwice(dir, writeNpmPackage);
  assert.ok(first.endsWith(`/atlas-node-${manifest.version}-${platform}.tgz`), first);
  assert.deepEqual(readFileSync(first), readFileSync(second));

  const prefix = join(dir, 'prefix');
  const install = ['npm', 'install', '--global', '--offline', '--no-audit', '--prefix', prefix, first];
  const { code, stderr } = await run(t, install, { cwd: dir });
  assert.equal(code, 0, stderr);
  const { stdout } = await run(t, [join(prefix, 'bin/atlas-node'), 'start'], { cwd: dir });
  assert.equal(stdout, 'runs with start\n');
});

test('the Debian package has program, service and manual, the same bytes each time', {
  skip: spawnSync('dpkg-deb', ['--version']).status !== 0 && 'left out: this machine has no dpkg-deb',
}, async (t) => {
  const dir = tempDir(t);
  const [first, second] = writeTwice(dir, writeDebianPackage);
  assert.deepEqual(readFileSync(first), readFileSync(second));

  const tree = join(dir, 'tree');
  const { code, stderr } = await run(t, ['dpkg-deb', '--raw-extract', first, tree], { cwd: dir });
  assert.equal(code, 0, stderr);
  const text = (path: string) => readFileSync(join(tree, path), 'utf8');
  const unit = text('usr/lib/systemd/system/atlas-node.service');
  const program = /^ExecStart=(\S+) start --config /m.exec(unit)?.[1] ?? '';
  assert.ok(existsSync(join(tree, program)), unit);
  assert.doesNotMatch(unit, /bin\/kill/, 'a small system has only the one of the shell');
  const cronLine = /^0 3 \* \* \* (\S+) backup /m.exec(readFileSync(join(ROOT, 'docs/operating.md'), 'utf8'));
  assert.equal(cronLine?.[1], program);
  const initial = text('usr/share/atlas-node/atlas.toml');
  const { config } = parseConfig({ file: { path: 'atlas.toml', text: initial } });
  assert.equal(config.data_dir, '/var/lib/atlas-node');
  assert.doesNotMatch(initial, /token =/, 'the file is readable by all');
  const reference = /\/usr\/share\/doc\/[\w./-]+toml/.exec(initial)?.[0] ?? '';
  assert.match(text(reference), /^data_dir = "\/var\/lib\/atlas-node"$/m);
  for (const name of ['preinst', 'postinst', 'prerm', 'postrm']) {
    const checked = await run(t, ['sh', '-n', join(tree, 'DEBIAN', name)], { cwd: dir });
    assert.equal(checked.code, 0, checked.stderr);
  }
  const manual = gunzipSync(readFileSync(join(tree, 'usr/share/man/man1/atlas-node.1.gz'))).toString();
  const paths = [...helpTexts().keys()].filter((path) => path !== '');
  const groups = paths.filter((path) => paths.some((other) => other.startsWith(`${path} `)));
  for (const path of paths.filter((name) => !groups.includes(name)))
    assert.ok(manual.includes(`.SS "atlas\\-node ${path}"`), path);
});

test('the bill of materials names every package of a release, and no other', (t) => {
  const file = writeBillOfMaterials({ root: ROOT, out: tempDir(t), manifest });
  const { metadata, components }: Bill = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(metadata.component.version, manifest.version);
  const names = new Set(components.map(({ group, name }) => (group ? `${group}/${name}` : name)));
  const absent = ['@foundry-rs/anvil', 'esbuild', 'web3'];
  for (const name of Object.keys(manifest.dependencies).filter((name) => !absent.includes(name))) {
    assert.ok(names.has(name === 'uWebSockets.js' ? '@uwsjs/core' : name), name); // installed under an alias
  }
  for (const name of absent) assert.ok(!names.has(name), name);
});

/** Writes an artefact twice from the same contents, into two folders. */
function writeTwice(dir: string, write: (release: ReleaseInputs) => string): [string, string] {
  const binary = join(dir, 'binary');
  writeFileSync(binary, '#!/bin/sh\necho "runs with $*"\n');
  chmodSync(binary, 0o755);
  const notices = join(dir, 'THIRD_PARTY');
  writeFileSync(notices, 'licences');
  const writeTo = (name: string) => {
    const out = join(dir, name);
    mkdirSync(out);
    return write({ root: ROOT, out, binary, notices, manifest, platform });
  };
  return [writeTo('first'), writeTo('second')];
}

interface Bill {
  metadata: { component: { version: string } };
  components: { group?: string; name: string }[];
}
