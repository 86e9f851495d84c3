/** The program's two forms: modules that share their common parts, for Node, and one script, for the single binary. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { digestOf, ROOT } from '../../bin/builds.mjs';
import manifest from '../../package.json' with { type: 'json' };
import { THREADS } from '../../src/threads/entries.ts';
import { type Build, packagesIn, sourcesIn } from './write-build.ts';

/** Modules that locate others by their source files, with their replacements for the bundle. */
const REPLACED_IN_MODULES: Record<string, string> = {
  'src/threads/entries.ts': 'src/threads/bundled-entries.ts',
};

/** Modules that read files next to themselves, with their replacements for the binary, which has no such files. */
const REPLACED_IN_BINARY: Record<string, string> = {
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

/**
 * Packages that are bundled with the modules: zod as installed is 95 files, which take three times as long to load as
 * the part of it that is used. The second one uses zod, too, and would load all of it beside that part. The others are
 * 16 files that most commands load.
 */
const BUNDLED_PACKAGES = ['zod', '@modelcontextprotocol/server', 'commander', 'smol-toml'];

/** The process for queries is one file: its 44 chunks would take a quarter of its start. */
const QUERY_PROCESS = 'sql-process';

/** What the form of the modules depends on, besides the sources. */
const BUILD_FILES = ['scripts/build/bundle.ts', 'scripts/build/write-build.ts'];

export interface Bundle {
  script: string;
  /** Folders of the bundled packages, relative to the project's root. */
  packages: string[];
  /** Bundled project files, relative to the root. */
  files: string[];
}

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  target: 'node22',
  // Only whitespace is removed, so that names and messages in stack traces match the sources.
  minifyWhitespace: true,
  legalComments: 'eof',
  logLevel: 'error',
} satisfies BuildOptions;

/**
 * Bundles the program and its threads as modules. They share chunks: with a whole script for each, a start would take
 * twice as long and 40 MB more. Most packages stay where they are installed.
 *
 * All files are in a folder named after the sources. A running daemon starts threads and loads commands later, and must
 * not find those of another build.
 */
export async function bundleProgram(): Promise<Build> {
  const threads = Object.entries(THREADS).map(([name, url]) => [`${name}-thread`, fileURLToPath(url)]);
  const options = {
    ...OPTIONS,
    outdir: 'dist/program/sources', // as deep as the folder of the files, for the paths in the maps
    // For a file named .js, Node looks for a package.json in each folder above it, each time.
    outExtension: { '.js': '.mjs' },
    external: Object.keys(manifest.dependencies).filter((name) => !BUNDLED_PACKAGES.includes(name)),
    format: 'esm',
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [replaceModules(REPLACED_IN_MODULES), reference()],
  } satisfies BuildOptions;
  const results = await Promise.all([
    build({
      ...options,
      entryPoints: { cli: 'src/cli.ts', ...Object.fromEntries(threads) },
      chunkNames: 'chunk-[hash]',
      splitting: true,
      plugins: [...options.plugins, separate(QUERY_PROCESS)],
    }),
    build({ ...options, entryPoints: [`src/sql/process/${QUERY_PROCESS}.ts`] }),
  ]);
  const outputFiles = results.flatMap((result) => result.outputFiles);
  const sources = [
    ...sourcesIn(results.flatMap(({ metafile }) => Object.keys(metafile.inputs))),
    ...Object.keys(REPLACED_IN_MODULES),
    ...Object.values(REPLACED_IN_MODULES),
    ...BUILD_FILES,
  ];
  const folder = (await digestOf(sources))?.slice(0, 12) ?? 'changing';
  const files = outputFiles.map(({ path, contents }) => [`${folder}/${basename(path)}`, contents] as const);
  const isEntry = (path: string) => path.endsWith('/cli.mjs');
  files.sort(([a], [b]) => Number(isEntry(b)) - Number(isEntry(a)));
  return { files: new Map(files), sources: [...new Set(sources)] };
}

/** Bundles an entry file as CommonJS, the only form that a single executable application of Node 22 can hold. */
export async function bundleScript(entry: string, commit: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: [entry],
    format: 'cjs',
    define: { BUILD_COMMIT: JSON.stringify(commit) },
    plugins: [replaceModules(REPLACED_IN_BINARY), reference(), loaders()],
    // A module that asks for its own location would fail in the binary and needs a replacement.
    logOverride: { 'empty-import-meta': 'error' },
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

function replaceModules(replacements: Record<string, string>): Plugin {
  return {
    name: 'replace-modules',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const replacement = replacements[relative(path)];
        if (replacement === undefined) return undefined;
        const contents = readFileSync(join(ROOT, replacement), 'utf8');
        return { contents, loader: 'ts', resolveDir: dirname(join(ROOT, replacement)) };
      });
    },
  };
}

/** Replaces the module that builds the reference of the API by what it builds. */
function reference(): Plugin {
  return {
    name: 'reference',
    setup({ onLoad }) {
      onLoad({ filter: /\/plain-reference\.ts$/ }, async () => {
        const { plainReference } = await import('../../src/server/pages/plain-reference.ts');
        const built = JSON.stringify(plainReference());
        return {
          contents: `const built = ${built};\nexport function plainReference() { return built; }`,
          loader: 'js',
        };
      });
    },
  };
}

/** Leaves the module of this name, which is only imported dynamically, to a file of its own. */
function separate(name: string): Plugin {
  return {
    name: 'separate',
    setup({ onResolve }) {
      onResolve({ filter: new RegExp(`/${name}\\.ts$`) }, () => ({ path: `./${name}.mjs`, external: true }));
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
