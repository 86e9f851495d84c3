/**
 * Bundles the browser pages from src/pages into dist/pages with esbuild. scripts/setup.mjs does so after an
 * installation, and the daemon of a checkout at startup if a source has changed since. The single binary carries the
 * built files, without sources or esbuild.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const OUTPUT = join(ROOT, 'dist/pages/');

/** Lists the built files. Written last. */
const MANIFEST = 'manifest.json';
const manifestSchema = z.object({
  files: z.array(z.string()),
  /** All input files, and a digest of them. */
  sources: z.array(z.string()),
  digest: z.string(),
});

/** Contents by path. A page is `<name>.html`; all other files carry a digest in their names. */
type PageFiles = ReadonlyMap<string, Buffer>;

const SOURCES = join(ROOT, 'src/pages');

/**
 * Each page: the folder of its index.html, its entry point, and the path of its files. The panel's files lie below
 * `/admin`, so that a proxy that protects `/admin` protects them too.
 */
const PAGES = [
  { name: 'explorer', folder: 'explorer', entry: 'main.tsx', files: 'assets' },
  { name: 'panel', folder: 'panel', entry: 'main.tsx', files: 'admin/assets' },
  { name: 'docs', folder: 'docs', entry: 'main.tsx', files: 'assets' },
] as const;

const ICON = 'mark.svg';

/** Bundles all pages and saves them if the directory is writable. */
export async function buildPages(): Promise<PageFiles> {
  const { build } = await import('esbuild');
  const files = new Map<string, Buffer>();
  const sources = new Set<string>();
  const icon = readFileSync(join(SOURCES, ICON));
  const iconName = `mark-${digest(icon).slice(0, 8)}.svg`;
  sources.add(`src/pages/${ICON}`);
  for (const page of PAGES) {
    const folder = join(SOURCES, page.folder);
    const result = await build({
      absWorkingDir: ROOT,
      entryPoints: { [page.name]: join(folder, page.entry) },
      outdir: OUTPUT,
      entryNames: `${page.files}/[name]-[hash]`,
      bundle: true,
      write: false,
      metafile: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      legalComments: 'eof',
      logLevel: 'error',
    });
    for (const input of Object.keys(result.metafile.inputs)) sources.add(input);
    const tags: string[] = [`<link rel="icon" href="{root}${page.files}/${iconName}" type="image/svg+xml">`];
    files.set(`${page.files}/${iconName}`, icon);
    for (const { path, contents } of result.outputFiles) {
      const name = path.slice(OUTPUT.length);
      files.set(name, Buffer.from(contents));
      tags.push(
        name.endsWith('.css')
          ? `<link rel="stylesheet" href="{root}${name}">`
          : `<script type="module" src="{root}${name}"></script>`,
      );
    }
    const template = join(folder, 'index.html');
    sources.add(template.slice(ROOT.length));
    const html = readFileSync(template, 'utf8').replace('{files}', () => tags.join('\n'));
    files.set(`${page.name}.html`, Buffer.from(html));
  }
  save(files, [...sources].sort());
  return files;
}

interface BuiltPages {
  files: PageFiles;
  /** Whether the sources are unchanged. */
  isCurrent: boolean;
  /** Every input file of the build, including those of packages, relative to the project's root. */
  sources: string[];
}

/** The last build; null when there is none. */
export function readBuiltPages(): BuiltPages | null {
  const text = readIfPresent(join(OUTPUT, MANIFEST));
  if (text === null) return null;
  const { files, sources, digest } = manifestSchema.parse(JSON.parse(text.toString('utf8')));
  return {
    files: new Map(files.map((name) => [name, readFileSync(join(OUTPUT, name))])),
    isCurrent: digestOfSources(sources) === digest,
    sources,
  };
}

/** A digest of the named files; null when one is missing. */
function digestOfSources(names: readonly string[]): string | null {
  const hash = createHash('sha256');
  for (const name of names) {
    const content = readIfPresent(join(ROOT, name));
    if (content === null) return null;
    hash.update(`${name}\n`).update(content);
  }
  return hash.digest('base64url');
}

function readIfPresent(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Writes each file atomically, by a rename, and the manifest last: other processes may read or build at the same time.
 */
function save(files: PageFiles, sources: string[]): void {
  const manifest = { files: [...files.keys()], sources, digest: digestOfSources(sources) };
  try {
    for (const [name, content] of files) write(name, content);
    write(MANIFEST, JSON.stringify(manifest, null, 1));
  } catch (error) {
    // The user who starts a checkout may lack write permission in it. Then each start builds the pages.
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes(code)) throw error;
  }
}

function write(name: string, content: string | Buffer): void {
  const path = join(OUTPUT, name);
  const aside = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(aside, content);
  renameSync(aside, path);
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
