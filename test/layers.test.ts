import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };

/** What every part may import. */
const SHARED = ['lib', 'model', 'log', 'metrics', 'threads'];

/** The folders and root files of src, lowest first, and what else each may import. */
const MAY_IMPORT: Record<string, string[] | 'anything'> = {
  lib: [],
  model: [],
  schemas: [],
  log: [],
  metrics: [],
  // Names the entry files of all threads by URL, without importing them.
  threads: 'anything',
  config: [],
  decode: [],
  trades: [],
  abi: [],
  node: [],
  store: ['trades'],
  tokens: ['store', 'node', 'decode'],
  indexer: ['tokens', 'store', 'node', 'decode', 'trades'],
  verify: ['indexer', 'tokens', 'store', 'node', 'decode', 'trades'],
  follower: ['store'],
  query: ['store', 'follower', 'trades'],
  postgres: [],
  sink: ['store', 'follower', 'postgres'],
  cluster: ['access', 'store', 'postgres'],
  export: ['store'],
  sql: ['export', 'query', 'store', 'trades'],
  labels: ['store'],
  api: ['schemas', 'query', 'labels', 'store', 'trades', 'abi'],
  chain: ['node'],
  gateway: ['node', 'chain'],
  streams: ['schemas', 'query', 'follower', 'chain', 'node', 'trades'],
  access: ['store'],
  hooks: ['schemas', 'streams', 'query', 'follower', 'labels', 'store', 'node'],
  server: ['api', 'gateway', 'streams', 'access', 'query', 'hooks', 'labels'],
  // Types only: the bundle has none of the server's code.
  pages: ['api', 'server'],
  daemon: 'anything',
  cli: 'anything',
  dev: 'anything',
  binary: 'anything',
};

/** Packages that only some parts may use, so that each can be replaced in one place. */
const ONLY_IN: Record<string, string[]> = {
  'better-sqlite3': ['store'],
  standardwebhooks: ['hooks'],
  'uWebSockets.js': ['server'],
  commander: ['cli'],
  zod: ['config', 'schemas', 'api', 'server'],
  preact: ['pages'],
  'd3-force': ['pages'],
  'smol-toml': ['config'],
  '@modelcontextprotocol/server': ['server'],
  'hyparquet-writer': ['export'],
  pino: ['log'],
  'prom-client': ['metrics'],
  postgres: ['sink', 'postgres'],
  esbuild: ['server'],
  '@foundry-rs/anvil': ['dev'],
};

const SRC = fileURLToPath(new URL('../src', import.meta.url));

interface Import {
  /** The importing file, below src. */
  file: string;
  line: number;
  /** As written. */
  specifier: string;
  /** Whether the import vanishes at run time. */
  typeOnly: boolean;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => file.split(sep).join('/'));
const imports = files.flatMap((file) => importsOf(file, readFileSync(join(SRC, file), 'utf8')));

/**
 * Static and dynamic imports and re-exports, types included, with the specifiers on lines of code and not of comments.
 */
function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  const pattern =
    /(?:^|\n)(?:import|export)\s(?:[^;'"]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'|\bnew URL\(\s*'(\.[^']+\.ts)'/g;
  for (const match of text.matchAll(pattern)) {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const end = match.index + match[0].length;
    const line = text.slice(0, end).split('\n').length;
    found.push({ file, line, specifier, typeOnly: /^\s*(import|export) type\s/.test(match[0]) });
  }
  return found;
}

/** The part of a file below src: its folder, or its own name in the root. */
function partOf(file: string): string {
  return file.replace(/\.tsx?$/, '').split('/')[0] ?? file;
}

/** The part that a relative import leads to, or undefined outside src. */
function targetPart({ file, specifier }: Import): string | undefined {
  const target = relative(SRC, join(SRC, dirname(file), specifier))
    .split(sep)
    .join('/');
  return target.startsWith('..') ? undefined : partOf(target);
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const own = imports.filter(({ specifier }) => specifier.startsWith('.'));
const foreign = imports.filter(({ specifier }) => !specifier.startsWith('.') && !isBuiltin(specifier));

/** Fails with one line per import that breaks a rule. */
function assertNone(offences: string[]): void {
  assert.ok(offences.length === 0, `\n  ${offences.join('\n  ')}\n`);
}

test('the scan sees imports of every form', () => {
  const text = [
    "import a from './a.ts';",
    "import type { B } from '../b.ts';",
    "import {\n  c,\n  type D,\n} from 'c';",
    "export { e } from './e.ts';",
    "import './f.ts';",
    "const g = await import('./g.ts');",
    "new Worker(new URL('./h.ts', import.meta.url));",
    "// from './comment.ts'",
  ].join('\n');
  assert.deepEqual(
    importsOf('x/y.ts', text).map(({ line, specifier }) => `${line} ${specifier}`),
    ['1 ./a.ts', '2 ../b.ts', '6 c', '7 ./e.ts', '8 ./f.ts', '9 ./g.ts', '10 ./h.ts'],
  );
});

test('the scan finds the project’s files', () => {
  assert.ok(own.length > 50, `only ${own.length} imports were found below src`);
});

test('every part of src has a row in the table', () => {
  assertNone(
    [...new Set(files.map(partOf))].filter((part) => !(part in MAY_IMPORT)).map((part) => `src/${part}`),
  );
});

test('imports follow the table, in one direction', () => {
  assertNone(
    own.flatMap((entry) => {
      const part = partOf(entry.file);
      const target = targetPart(entry);
      const allowed = MAY_IMPORT[part];
      if (target === undefined || target === part || allowed === 'anything') return [];
      if (SHARED.includes(target) || allowed?.includes(target)) return [];
      const may = [...SHARED, ...(allowed ?? [])].join(', ');
      return `src/${entry.file}:${entry.line} imports ${entry.specifier}: ${part} may import ${may}, not ${target}`;
    }),
  );
});

test('the pages take only types from the server, so that none of it is in their bundles', () => {
  assertNone(
    own.flatMap((entry) => {
      const target = targetPart(entry);
      const isFree = target === undefined || target === 'pages' || SHARED.includes(target) || entry.typeOnly;
      return partOf(entry.file) !== 'pages' || isFree
        ? []
        : [`src/${entry.file}:${entry.line} imports ${entry.specifier} for more than its types`];
    }),
  );
});

test('nothing in src imports from outside src, except package.json', () => {
  assertNone(
    own
      .filter((entry) => targetPart(entry) === undefined && !/^(\.\.\/)+package\.json$/.test(entry.specifier))
      .map(({ file, line, specifier }) => `src/${file}:${line} imports ${specifier}`),
  );
});

test('packages stay in the part that owns them', () => {
  assertNone(
    foreign.flatMap(({ file, line, specifier }) => {
      const owners = ONLY_IN[packageOf(specifier)];
      if (owners === undefined || owners.includes(partOf(file))) return [];
      return `src/${file}:${line} imports ${specifier}, which belongs in ${owners.join(', ')} only`;
    }),
  );
});

test('the program imports no development package: npm start does not install them', () => {
  const production = Object.keys(manifest.dependencies);
  assertNone(
    foreign.flatMap(({ file, line, specifier }) => {
      if (production.includes(packageOf(specifier))) return [];
      return `src/${file}:${line} imports ${specifier}, which is not among the dependencies in package.json`;
    }),
  );
});

test('imports carry the .ts ending, so that Node runs the sources as they are', () => {
  assertNone(
    own
      .filter(({ specifier }) => !/\.(tsx?|json|css)$/.test(specifier))
      .map(({ file, line, specifier }) => `src/${file}:${line} imports ${specifier} without its ending`),
  );
});

test('no file imports itself: what it loads lazily has a file of its own', () => {
  assertNone(
    own
      .filter(({ file, specifier }) => join(dirname(file), specifier) === file)
      .map(({ file, line, specifier }) => `src/${file}:${line} imports ${specifier}`),
  );
});
