/** Bundles a program and everything it imports into one script. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Modules that read files next to themselves, with their replacements for the binary, which has no such files. */
const REPLACED_MODULES: Record<string, string> = {
  'src/threads/entries.ts': 'src/binary/threads.ts',
  'src/lib/build.ts': 'src/binary/build.ts',
  'src/dev/anvil-path.ts': 'src/binary/anvil-path.ts',
  'src/server/pages/assets.ts': 'src/binary/assets.ts',
};

/** The two packages with native modules, reduced to loading the embedded one. */
const LOADERS: Record<string, string> = {
  'node_modules/uWebSockets.js/uws.js': "module.exports = loadAddon('uws.node');",
  'node_modules/better-sqlite3/lib/binding.js':
    "exports.getBinding = () => loadAddon('better_sqlite3.node');",
};

export interface Bundle {
  script: string;
  /** Folders of the bundled packages, relative to the project's root. */
  packages: string[];
  /** Bundled project files, relative to the root. */
  files: string[];
}

/** Bundles an entry file as CommonJS, the only form that a single executable application of Node 22 can hold. */
export async function bundle(entry: string, commit: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    // Only whitespace is removed, so that names and messages in stack traces match the sources.
    minifyWhitespace: true,
    legalComments: 'eof',
    define: { BUILD_COMMIT: JSON.stringify(commit) },
    plugins: [replaceModules(), loaders()],
    // A module that asks for its own location would fail in the binary and needs a replacement.
    logOverride: { 'empty-import-meta': 'error' },
    logLevel: 'error',
  });
  const [script] = outputFiles;
  if (script === undefined) throw new Error(`esbuild wrote nothing for ${entry}`);
  const inputs = Object.keys(metafile.inputs);
  return {
    script: script.text,
    packages: packagesIn(inputs),
    files: inputs.filter((file) => !file.startsWith('node_modules/')),
  };
}

/** Folders of the packages that these files belong to. */
export function packagesIn(files: readonly string[]): string[] {
  const folders = files.map(
    (file) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0],
  );
  return [...new Set(folders.filter((folder) => folder !== undefined))];
}

function replaceModules(): Plugin {
  return {
    name: 'replace-modules',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const replacement = REPLACED_MODULES[relative(path)];
        if (replacement === undefined) return undefined;
        const contents = readFileSync(join(ROOT, replacement), 'utf8');
        return { contents, loader: 'ts', resolveDir: join(ROOT, 'src/binary') };
      });
    },
  };
}

function loaders(): Plugin {
  const addon = JSON.stringify(join(ROOT, 'src/binary/addon.ts'));
  return {
    name: 'native-loaders',
    setup({ onLoad }) {
      onLoad({ filter: /\/node_modules\/(uWebSockets\.js|better-sqlite3)\// }, ({ path }) => {
        const loader = LOADERS[relative(path)];
        if (loader === undefined) return undefined;
        return { contents: `const { loadAddon } = require(${addon});\n${loader}`, loader: 'js' };
      });
    },
  };
}

function relative(path: string): string {
  return path.slice(ROOT.length);
}
