/** The artefacts of a release that need no build of the binary: a script stands for it. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { writeBillOfMaterials } from '../../scripts/release/bill-of-materials.ts';
import { writeNpmPackage } from '../../scripts/release/npm-package.ts';
import { ROOT, run } from '../support/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const platform = `${process.platform}-${process.arch}`;

test('the npm package installs globally without a registry, and the same contents give the same bytes', async (t) => {
  const dir = tempDir(t);
  const binary = join(dir, 'binary');
  writeFileSync(binary, '#!/bin/sh\necho "runs with $*"\n');
  chmodSync(binary, 0o755);
  const notices = join(dir, 'THIRD_PARTY');
  writeFileSync(notices, 'licences');
  const [first = '', second = ''] = ['first', 'second'].map((name) => {
    const out = join(dir, name);
    mkdirSync(out);
    return writeNpmPackage({ root: ROOT, out, binary, notices, manifest, platform });
  });
  assert.ok(first.endsWith(`/atlas-node-${manifest.version}-${platform}.tgz`), first);
  assert.deepEqual(readFileSync(first), readFileSync(second));

  const prefix = join(dir, 'prefix');
  const install = ['npm', 'install', '--global', '--offline', '--no-audit', '--prefix', prefix, first];
  const { code, stderr } = await run(t, install, { cwd: dir });
  assert.equal(code, 0, stderr);
  const { stdout } = await run(t, [join(prefix, 'bin/atlas-node'), 'start'], { cwd: dir });
  assert.equal(stdout, 'runs with start\n');
});

test('the bill of materials names every package of production', (t) => {
  const file = writeBillOfMaterials({ root: ROOT, out: tempDir(t), manifest });
  const { metadata, components }: Bill = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(metadata.component.version, manifest.version);
  const names = new Set(components.map(({ group, name }) => (group ? `${group}/${name}` : name)));
  for (const name of Object.keys(manifest.dependencies)) {
    assert.ok(names.has(name === 'uWebSockets.js' ? '@uwsjs/core' : name), name); // installed under an alias
  }
  for (const name of ['esbuild', 'tsx']) assert.ok(!names.has(name), `${name} is for development`);
});

interface Bill {
  metadata: { component: { version: string } };
  components: { group?: string; name: string }[];
}
