/**
 * `npm run release`: writes the files of a release to dist/release. The same commit yields the same bytes on the same
 * system, so that anybody can check a download against its source. See `--help`.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { commitOf, requireSameCommit } from '../binary/commit.ts';
import { type BuiltPackage, builtPackages } from '../binary/packages.ts';
import { ARCHITECTURES, type Architecture } from '../binary/platform-parts.ts';
import { readOptions } from '../options.ts';
import { writeBillOfMaterials } from './bill-of-materials.ts';
import { writeDebianPackage } from './debian-package.ts';
import type { ReleaseInputs } from './inputs.ts';
import { writeNpmPackage } from './npm-package.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each adds one file for a platform to the release and returns its path. */
const PACKAGERS: readonly ((release: ReleaseInputs) => string)[] = [writeNpmPackage, writeDebianPackage];

const options = readOptions(
  'Builds the files of a release: binary, packages, bill of materials, checksums.',
  {
    out: {
      kind: 'text',
      about: 'the folder to write, replaced if it exists',
      default: join(ROOT, 'dist/release'),
    },
    dirty: { kind: 'flag', about: 'also with changes that no commit has' },
  },
);
await makeRelease(options.out, options.dirty);

async function makeRelease(out: string, dirty: boolean): Promise<void> {
  const commit = commitOf(ROOT);
  if (commit.endsWith('-dirty') && !dirty) {
    console.error('release: there are changes that no commit has: commit them, or try with --dirty');
    process.exit(1);
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const files: string[] = [];
  const packages = new Map<string, BuiltPackage[]>();
  for (const arch of ARCHITECTURES) {
    const built = releasePlatform(out, arch);
    files.push(...built.files);
    packages.set(`linux-${arch}`, built.packages);
  }
  files.push(writeBillOfMaterials({ out, manifest }, packages));
  // The checksums come last: without them a folder is no release.
  requireSameCommit(ROOT, commit);
  writeFileSync(join(out, 'SHA256SUMS'), files.map(checksumLine).join(''));
  for (const file of files) {
    const mib = (statSync(file).size / 1024 ** 2).toFixed(1).padStart(8);
    console.log(`${mib} MiB  ${basename(file)}`);
  }
  console.log(`release: ${manifest.version}, commit ${commit}, in ${out}`);
}

/** The files for Linux on one processor. */
function releasePlatform(out: string, arch: Architecture): { files: string[]; packages: BuiltPackage[] } {
  const platform = `linux-${arch}`;
  const binary = join(out, `${manifest.name}-${manifest.version}-${platform}`);
  console.log(`release: the single binary for ${platform}`);
  const packages = buildBinary(binary, arch);
  const notices = join(out, `THIRD_PARTY-${platform}`);
  renameSync(join(out, 'THIRD_PARTY'), notices);
  const release = { root: ROOT, out, binary, platform, notices, manifest };
  return { files: [binary, notices, ...PACKAGERS.map((write) => write(release))], packages };
}

/**
 * A separate process: the build prints and fails like `npm run build:binary`. Returns the packages that the file
 * contains.
 */
function buildBinary(file: string, arch: Architecture): BuiltPackage[] {
  const script = join(ROOT, 'scripts/build-binary.ts');
  const list = `${file}.packages`;
  const args = [...process.execArgv, script, '--out', file, '--arch', arch, '--packages', list];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  const packages = builtPackages.parse(JSON.parse(readFileSync(list, 'utf8')));
  rmSync(list);
  return packages;
}

/** In the format of `sha256sum --check`. */
function checksumLine(file: string): string {
  return `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`;
}
