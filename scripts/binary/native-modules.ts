/** The native modules that this Node loads on this system. */
import { createRequire } from 'node:module';

/** Files by the names the bundle asks for. */
export interface NativeModules {
  'uws.node': string;
  'better_sqlite3.node': string;
}

/** Loads the modules to find their files: what goes into the binary is what runs, whatever the packages call it. */
export function nativeModules(): NativeModules {
  const require = createRequire(import.meta.url);
  return {
    'uws.node': loadedBy(require, () => require('uWebSockets.js')),
    'better_sqlite3.node': loadedBy(require, () => new (require('better-sqlite3'))(':memory:').close()),
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
