/** Writes the results of a build to its folder in dist/. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildFolder, digestOf, manifestFile, ROOT } from '../../bin/builds.mjs';

export interface Build {
  /** Contents by path, the entry first. */
  files: ReadonlyMap<string, Uint8Array>;
  /** Every input file, relative to the project's root. */
  sources: readonly string[];
}

/**
 * Writes what a bundler returns. A source that changed meanwhile makes the build stale at once.
 *
 * Writes each file atomically, by a rename, and the manifest last: other processes may read or build at the same time.
 */
export async function writeBuild(name: string, bundle: () => Promise<Build>): Promise<void> {
  const startedAt = Date.now();
  const { files, sources } = await bundle();
  for (const [path, content] of files) write(join(buildFolder(name), path), content);
  const sorted = [...sources].sort();
  const changed = sorted.some((source) => statSync(join(ROOT, source)).mtimeMs >= startedAt);
  const digest = changed ? null : await digestOf(sorted);
  const manifest = { files: [...files.keys()], sources: sorted, digest };
  write(manifestFile(name), JSON.stringify(manifest, null, 1));
}

/** What a build depends on, of the files that a bundler read: package-lock.json stands for those of packages. */
export function sourcesIn(inputs: readonly string[]): string[] {
  return [...inputs.filter((file) => !file.startsWith('node_modules/')), 'package-lock.json'];
}

/** Folders of the packages that these files belong to. */
export function packagesIn(files: readonly string[]): string[] {
  const folders = files.map(
    (file) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0],
  );
  return [...new Set(folders.filter((folder) => folder !== undefined))];
}

/** Removes all but the newest subfolders of a build. */
export function keepNewest(name: string, count: number): void {
  const folders = readdirSync(buildFolder(name), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(buildFolder(name), entry.name))
    .map((path) => ({ path, changedAt: statSync(path).mtimeMs }))
    .sort((a, b) => b.changedAt - a.changedAt);
  for (const { path } of folders.slice(count)) rmSync(path, { recursive: true, force: true });
}

function write(path: string, content: string | Uint8Array): void {
  const aside = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(aside, content);
  renameSync(aside, path);
}
