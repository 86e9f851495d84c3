/**
 * `npm run release`: writes to dist/release what is published of a version. The same commit gives the same bytes on the
 * same system, so that anybody can check a download against its source. See `--help`.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { commitOf } from '../binary/commit.ts';
import { readOptions } from '../options.ts';
import { writeBillOfMaterials } from './bill-of-materials.ts';
import type { ReleaseInputs } from './inputs.ts';
import { writeNpmPackage } from './npm-package.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each adds one file to the release and returns its path. */
const BUILDERS: readonly ((release: ReleaseInputs) => string | Promise<string>)[] = [
  writeNpmPackage,
  writeBillOfMaterials,
];

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
  const platform = `${process.platform}-${process.arch}`;
  const binary = join(out, `${manifest.name}-${manifest.version}-${platform}`);
  console.log(`release: the single binary for ${platform}`);
  buildBinary(binary);
  const notices = join(out, 'THIRD_PARTY');
  const release = { root: ROOT, out, binary, platform, notices, manifest };
  const files = [binary, notices];
  for (const build of BUILDERS) files.push(await build(release));
  writeFileSync(join(out, 'SHA256SUMS'), files.map(checksumLine).join(''));
  for (const file of files) {
    const mib = (statSync(file).size / 1024 ** 2).toFixed(1).padStart(8);
    console.log(`${mib} MiB  ${basename(file)}`);
  }
  console.log(`release: ${manifest.version}, commit ${commit}, in ${out}`);
}

/** A process of its own: the build prints and fails as `npm run build:binary` does. */
function buildBinary(file: string): void {
  const script = join(ROOT, 'scripts/build-binary.ts');
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script, '--out', file], {
    stdio: 'inherit',
  });
}

/** As `sha256sum --check` reads it. */
function checksumLine(file: string): string {
  return `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`;
}
