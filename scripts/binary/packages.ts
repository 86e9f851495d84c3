/** What a build contains: each package with its version, its licence and the hash that the lock file pins. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export interface BuiltPackage {
  name: string;
  version: string;
  /** SPDX; null if the package only has a licence file. */
  license: string | null;
  /** SHA-512 of the package's archive, hexadecimal. */
  sha512: string;
}

export const builtPackages = z.array(
  z.strictObject({
    name: z.string(),
    version: z.string(),
    license: z.string().nullable(),
    sha512: z.string(),
  }),
);

const manifest = z.object({ name: z.string(), version: z.string(), license: z.string().optional() });
const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});

/** The lock files, in the order in which a package is looked up: the second one pins the parts of other processors. */
const LOCK_FILES = ['package-lock.json', 'scripts/natives/package-lock.json'];

/** The packages in these folders, relative to `root`, by name. */
export function packagesOf(root: string, folders: Iterable<string>): BuiltPackage[] {
  const locks = LOCK_FILES.map((file) => lockFile.parse(readJson(join(root, file))));
  const found = [...folders].map((folder) => {
    const { name, version, license = null } = manifest.parse(readJson(join(root, folder, 'package.json')));
    const place = folder.slice(folder.indexOf('node_modules/'));
    const pinned = locks.map(({ packages }) => packages[place]).find((entry) => entry?.version === version);
    const digest = /^sha512-(.+)$/.exec(pinned?.integrity ?? '')?.[1];
    if (digest === undefined) throw new Error(`no lock file pins the hash of ${name} ${version} in ${place}`);
    return { name, version, license, sha512: Buffer.from(digest, 'base64').toString('hex') };
  });
  return found.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

/** The identity of a package, as in a package URL. */
export function idOf({ name, version }: Pick<BuiltPackage, 'name' | 'version'>): string {
  return `${name.replace('@', '%40')}@${version}`;
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
