/** A copy of the running Node with a program inside: https://nodejs.org/docs/latest-v22.x/api/single-executable-applications.html */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { RUNTIME_FLAGS } from '../runtime-flags.ts';

/** The mark in Node's executable that shows that it carries a program. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** V8 does not compare the seed when it accepts a code cache. */
const SAME_BYTES_FLAGS = ['--random-seed=1'];

/** Makes an executable in `folder` from its script and its assets (files by name). Returns its path. */
export function makeExecutable(folder: string, main: string, assets: Record<string, string>): string {
  const executable = join(folder, 'executable');
  copyFileSync(process.execPath, executable);
  chmodSync(executable, 0o755);
  strip(executable);
  const blob = writeBlob(folder, main, assets);
  const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js');
  run(folder, postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE);
  return executable;
}

/**
 * Writes the executable's contents in Node's form; returns the path of the file. The same sources give the same bytes:
 * Node records the path of the script, so it is relative, and the seed is fixed, from which V8's hashes in the code cache
 * follow. A start does not use that seed.
 */
function writeBlob(folder: string, main: string, assets: Record<string, string>): string {
  const output = 'blob';
  const config = 'config.json';
  const settings = {
    main: basename(main),
    output,
    assets,
    execArgv: RUNTIME_FLAGS,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
  };
  writeFileSync(join(folder, config), JSON.stringify(settings));
  run(folder, ...RUNTIME_FLAGS, ...SAME_BYTES_FLAGS, '--experimental-sea-config', config);
  return join(folder, output);
}

/** Runs this Node and shows its output only in the error of a failure: postject warns of notes that it skips. */
function run(cwd: string, ...args: string[]): void {
  execFileSync(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Removes the debug symbols, a seventh of the file; the symbols that native modules link to are others and stay. */
function strip(executable: string): void {
  const { error } = spawnSync('strip', [executable], { stdio: 'inherit' });
  if (error) console.warn('there is no strip on this machine: the file keeps the symbols of debuggers');
}
