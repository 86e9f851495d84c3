/** The artefacts of a release that need no built binary: a script stands in for it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { packagesOf } from '../../scripts/binary/packages.ts';
import { thirdPartyNotices } from '../../scripts/binary/third-party.ts';
import { bundleScript } from '../../scripts/build/bundle.ts';
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

test('the npm package has the same bytes under any umask', (t) => {
  const dir = tempDir(t);
  const before = process.umask(0o022);
  t.after(() => void process.umask(before));
  const [open] = writeTwice(join(dir, 'open'), writeNpmPackage);
  process.umask(0o077);
  const [closed] = writeTwice(join(dir, 'closed'), writeNpmPackage);
  assert.deepEqual(readFileSync(open), readFileSync(closed));
});

test('the bill of materials has each package of the files once, with licence, hash and platforms', (t) => {
  const zod = packagesOf(ROOT, ['node_modules/zod']);
  const both = packagesOf(ROOT, ['node_modules/zod', 'node_modules/@modelcontextprotocol/server']);
  const write = () =>
    writeBillOfMaterials(
      { out: tempDir(t), manifest },
      new Map([
        ['linux-x64', both],
        ['linux-arm64', zod],
      ]),
    );
  const text = readFileSync(write(), 'utf8');
  assert.equal(text, readFileSync(write(), 'utf8'));
  const { metadata, components }: Bill = JSON.parse(text);
  assert.equal(metadata.component.version, manifest.version);
  const platformsOf = (name: string) =>
    components.find((each) => each.name === name)?.properties.map(({ value }) => value);
  assert.deepEqual(
    components.map(({ group, name }) => [group, name]),
    [
      ['@modelcontextprotocol', 'server'],
      [undefined, 'zod'],
    ],
  );
  assert.deepEqual(platformsOf('server'), ['linux-x64']);
  assert.deepEqual(platformsOf('zod'), ['linux-x64', 'linux-arm64']);
  for (const { licenses, hashes, purl } of components) {
    assert.ok(licenses[0]?.license.id);
    assert.match(hashes[0]?.content ?? '', /^[0-9a-f]{128}$/);
    assert.match(purl, /^pkg:npm\/(%40modelcontextprotocol\/server|zod)@\d/);
  }
});

test('the program contains no package without a licence text and a pinned hash', async () => {
  const { packages } = await bundleScript(join(ROOT, 'src/cli.ts'), 'test');
  const natives = ['node_modules/@uwsjs/linux-x64-22', 'node_modules/better-sqlite3'];
  const all = new Set([...packages, ...natives]);
  assert.equal(packagesOf(ROOT, all).length, all.size);
  const sections = thirdPartyNotices(ROOT, all)
    .split(/^(?=\S+ \d+\.\d+\S* \(.*\)\n-{78}$)/m)
    .slice(1);
  assert.equal(sections.length, all.size);
  for (const section of sections) assert.ok(section.length > 800, section);
});

/** Writes an artefact twice from the same contents, into two folders. */
function writeTwice(dir: string, write: (release: ReleaseInputs) => string): [string, string] {
  mkdirSync(dir, { recursive: true });
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
  components: {
    group?: string;
    name: string;
    purl: string;
    licenses: { license: { id: string } }[];
    hashes: { content: string }[];
    properties: { value: string }[];
  }[];
}
