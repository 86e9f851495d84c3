/**
 * The npm package of a release. It contains the single binary and so has no dependencies: it runs under any Node of the
 * machine, and takes less disk space than the packages inside the binary.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { ReleaseInputs } from './inputs.ts';

/** Documents in the package. */
const DOCUMENTS = ['README.md', 'LICENSE', 'CHANGELOG.md', 'config.example.toml'];

/** Writes `<name>-<version>-<platform>.tgz` and returns its path. */
export function writeNpmPackage({ root, out, binary, notices, manifest, platform }: ReleaseInputs): string {
  const { name, version, description, license } = manifest;
  const [os, cpu] = platform.split('-');
  const work = mkdtempSync(join(out, 'npm-'));
  try {
    mkdirSync(join(work, 'bin'));
    copyFileSync(binary, join(work, 'bin/atlas-node'));
    copyFileSync(notices, join(work, 'THIRD_PARTY'));
    for (const document of DOCUMENTS) copyFileSync(join(root, document), join(work, document));
    const published = {
      name,
      version,
      description,
      license,
      bin: { [name]: 'bin/atlas-node' },
      os: [os],
      cpu: [cpu],
      libc: ['glibc'],
    };
    writeFileSync(join(work, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
    setModes(work);
    // Every file gets the same time and owner, so that the same contents yield the same bytes.
    const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], {
      cwd: work,
      encoding: 'utf8',
    });
    const file = join(out, `${name}-${version}-${platform}.tgz`);
    renameSync(join(out, basename(packed.trim())), file);
    return file;
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Modes that depend neither on the builder's umask nor on that of the checkout. */
function setModes(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const isRun = entry.isDirectory() || entry.parentPath === join(folder, 'bin');
    chmodSync(join(entry.parentPath, entry.name), isRun ? 0o755 : 0o644);
  }
}
