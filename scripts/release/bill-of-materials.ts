/** The software bill of materials of a release, in CycloneDX. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ReleaseInputs } from './inputs.ts';

/** Writes `<name>-<version>.cdx.json`: the packages of production with their versions and licences. Returns its path. */
export function writeBillOfMaterials({
  root,
  out,
  manifest,
}: Pick<ReleaseInputs, 'root' | 'out' | 'manifest'>): string {
  const file = join(out, `${manifest.name}-${manifest.version}.cdx.json`);
  const tool = join(root, 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js');
  // Read the lock file: leftovers in node_modules do not count, and every system gives the same bytes.
  const args = ['--package-lock-only', '--omit', 'dev', '--output-reproducible'];
  args.push('--output-format', 'JSON', '--output-file', file);
  execFileSync(process.execPath, [tool, ...args, 'package.json'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return file;
}
