/** The software bill of materials of a release, in CycloneDX. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReleaseInputs } from './inputs.ts';

/** Packages that only a checkout runs, absent from all release files. */
const CHECKOUT_ONLY = ['@foundry-rs/anvil', 'esbuild'];

/** Writes `<name>-<version>.cdx.json`: the packages of a release with their versions and licences. Returns its path. */
export function writeBillOfMaterials({
  root,
  out,
  manifest,
}: Pick<ReleaseInputs, 'root' | 'out' | 'manifest'>): string {
  const file = join(out, `${manifest.name}-${manifest.version}.cdx.json`);
  const tool = join(root, 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js');
  // Reads the lock file, so that leftovers in node_modules do not count and every system yields the same bytes.
  const args = ['--package-lock-only', '--omit', 'dev', '--output-reproducible'];
  args.push('--output-format', 'JSON', '--output-file', file);
  const work = mkdtempSync(join(out, 'bill-'));
  try {
    writeFileSync(join(work, 'package.json'), releaseManifest(join(root, 'package.json')));
    copyFileSync(join(root, 'package-lock.json'), join(work, 'package-lock.json'));
    execFileSync(process.execPath, [tool, ...args, 'package.json'], {
      cwd: work,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } finally {
    rmSync(work, { recursive: true });
  }
  return file;
}

/** A package.json in which packages absent from a release are development dependencies. */
function releaseManifest(path: string): string {
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  for (const name of CHECKOUT_ONLY) {
    manifest.devDependencies[name] = manifest.dependencies[name];
    delete manifest.dependencies[name];
  }
  return JSON.stringify(manifest);
}
