/**
 * Bundles the browser pages from src/pages with esbuild, for dist/pages. The single binary carries the built files,
 * without sources or esbuild.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { buildFolder, ROOT } from '../../bin/builds.mjs';
import { type Build, packagesIn, sourcesIn } from './write-build.ts';

const OUTPUT = buildFolder('pages');
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

/** Bundles all pages. `packages`: the folders of the packages whose code they contain. */
export async function bundlePages(): Promise<Build & { packages: string[] }> {
  const files = new Map<string, Buffer>();
  const sources = new Set<string>();
  const packages = new Set<string>();
  const icon = readFileSync(join(SOURCES, ICON));
  const iconName = `mark-${digest(icon).slice(0, 8)}.svg`;
  sources.add(join(SOURCES, ICON).slice(ROOT.length));
  for (const page of PAGES) {
    const folder = join(SOURCES, page.folder);
    const result = await build({
      absWorkingDir: ROOT,
      entryPoints: { [page.name]: join(folder, page.entry) },
      outdir: OUTPUT,
      entryNames: `${page.files}/[name]-[hash]`,
      chunkNames: `${page.files}/[name]-[hash]`,
      bundle: true,
      splitting: true,
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
    const inputs = Object.keys(result.metafile.inputs);
    for (const source of sourcesIn(inputs)) sources.add(source);
    for (const folder of packagesIn(inputs)) packages.add(folder);
    const tags: string[] = [`<link rel="icon" href="{root}${page.files}/${iconName}" type="image/svg+xml">`];
    files.set(`${page.files}/${iconName}`, icon);
    for (const { path, contents } of result.outputFiles) {
      const name = relative(OUTPUT, path);
      files.set(name, Buffer.from(contents));
      if (name.endsWith('.css')) tags.push(`<link rel="stylesheet" href="{root}${name}">`);
      const { entryPoint, imports = [] } = result.metafile.outputs[relative(ROOT, path)] ?? {};
      if (entryPoint !== join(relative(ROOT, folder), page.entry)) continue; // loaded on demand
      for (const { path: needed, kind } of imports)
        if (kind === 'import-statement')
          tags.push(`<link rel="modulepreload" href="{root}${relative(OUTPUT, join(ROOT, needed))}">`);
      tags.push(`<script type="module" src="{root}${name}"></script>`);
    }
    const template = join(folder, 'index.html');
    sources.add(template.slice(ROOT.length));
    const html = readFileSync(template, 'utf8').replace('{files}', () => tags.join('\n'));
    files.set(`${page.name}.html`, Buffer.from(html));
  }
  return { files, sources: [...sources], packages: [...packages] };
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
