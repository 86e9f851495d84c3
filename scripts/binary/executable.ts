/**
 * A copy of Node with a program inside: https://nodejs.org/docs/latest-v22.x/api/single-executable-applications.html
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { RUNTIME_FLAGS } from '../runtime-flags.ts';
import type { Architecture } from './platform-parts.ts';

/** The marker in Node's executable that shows that it carries a program. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** The binutils for another processor. */
const STRIP_OF_OTHERS = { x64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' };

/** V8 does not compare the seed when it accepts a code cache. */
const SAME_BYTES_FLAGS = ['--random-seed=1'];

interface Contents {
  /** Node for the target processor, in the version that runs this script. */
  node: string;
  /** The script to run. */
  main: string;
  /** Files by name. */
  assets: Record<string, string>;
}

/** Makes an executable in `folder`. Returns its path. */
export function makeExecutable(folder: string, { node, main, assets }: Contents, arch: Architecture): string {
  const executable = join(folder, 'executable');
  copyFileSync(node, executable);
  chmodSync(executable, 0o755);
  strip(executable, arch);
  const blob = writeBlob(folder, main, assets, arch === process.arch);
  const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js');
  run(folder, postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE);
  return executable;
}

/**
 * Writes the executable's contents in Node's format and returns the path of the file. The same sources yield the same
 * bytes: Node records the path of the script, so it is relative, and the seed is fixed, because V8's hashes in the code
 * cache follow from it. The running program does not use that seed. V8 accepts a code cache only on the processor that
 * created it.
 */
function writeBlob(
  folder: string,
  main: string,
  assets: Record<string, string>,
  useCodeCache: boolean,
): string {
  const output = 'blob';
  const config = 'config.json';
  const settings = {
    main: basename(main),
    output,
    assets,
    execArgv: RUNTIME_FLAGS,
    disableExperimentalSEAWarning: true,
    useCodeCache,
  };
  writeFileSync(join(folder, config), JSON.stringify(settings));
  run(folder, ...RUNTIME_FLAGS, ...SAME_BYTES_FLAGS, '--experimental-sea-config', config);
  return join(folder, output);
}

/**
 * Runs this Node and shows its output only in the error of a failure, because postject warns of notes that it skips.
 */
function run(cwd: string, ...args: string[]): void {
  execFileSync(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Removes the debug symbols, a seventh of the file. The symbols that native modules link to stay. */
function strip(executable: string, arch: Architecture): void {
  const tool = arch === process.arch ? 'strip' : STRIP_OF_OTHERS[arch];
  const { error } = spawnSync(tool, [executable], { stdio: 'inherit' });
  if (error) console.warn(`there is no ${tool} on this machine: the file keeps the symbols of debuggers`);
}
