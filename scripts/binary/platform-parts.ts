/** The parts of a binary that differ between processors: Node itself and the native modules. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesIn } from '../build/write-build.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Pins what package-lock.json cannot, because it installs only the packages of the build machine. */
const NATIVES = join(ROOT, 'scripts/natives');

/** `process.versions.modules` of Node 22, in the names of uWebSockets.js's files. */
const NODE_ABI = 127;

export const ARCHITECTURES = ['x64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Files by the names the bundle asks for. */
interface NativeModules {
  'uws.node': string;
  'better_sqlite3.node': string;
}

export interface PlatformParts {
  /** Node's executable. */
  node: string;
  modules: NativeModules;
  /** Folders of the packages of these parts, relative to the project's root. */
  packages: string[];
}

/** The parts for Linux on a processor. For a foreign processor, installs them below `folder`. */
export function platformParts(arch: Architecture, folder: string): PlatformParts {
  return arch === process.arch ? partsOfThisMachine() : installedParts(arch, folder);
}

/**
 * Loads the modules to find their files, so that the binary contains what actually runs, whatever the packages call it.
 */
function partsOfThisMachine(): PlatformParts {
  const require = createRequire(import.meta.url);
  const uws = loadedBy(require, () => require('uWebSockets.js'));
  return {
    node: process.execPath,
    modules: {
      'uws.node': uws,
      'better_sqlite3.node': loadedBy(require, () => new (require('better-sqlite3'))(':memory:').close()),
    },
    packages: [
      `node_modules/node-linux-${process.arch}`,
      'node_modules/better-sqlite3',
      ...(uws.startsWith(ROOT) ? packagesIn([relative(ROOT, uws)]) : []),
    ],
  };
}

function installedParts(arch: Architecture, folder: string): PlatformParts {
  const prefix = join(folder, 'natives');
  mkdirSync(prefix);
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(NATIVES, file), join(prefix, file));
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--os=linux', `--cpu=${arch}`];
  execFileSync('npm', args, { cwd: prefix, stdio: ['ignore', 'ignore', 'inherit'] });
  const node = join(prefix, `node_modules/node-linux-${arch}`);
  const uws = join(prefix, 'node_modules/@btc-vision/uwebsockets.js');
  return {
    node: join(node, 'bin/node'),
    modules: {
      'uws.node': join(uws, `uws_linux_${arch}_${NODE_ABI}.node`),
      'better_sqlite3.node': join(ROOT, `node_modules/better-sqlite3/prebuilds/linux-${arch}.node`),
    },
    packages: [relative(ROOT, node), relative(ROOT, uws), 'node_modules/better-sqlite3'],
  };
}

function loadedBy(require: NodeJS.Require, load: () => unknown): string {
  const before = new Set(Object.keys(require.cache));
  load();
  const [file, ...more] = Object.keys(require.cache).filter(
    (path) => path.endsWith('.node') && !before.has(path),
  );
  if (file === undefined || more.length > 0)
    throw new Error(`expected one native module, found ${file} ${more}`);
  return file;
}
