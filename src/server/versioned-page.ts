/**
 * A page that loads its files from addresses that change with their contents. A browser keeps these for good: it asks for
 * the page alone whether it changed. The digest is a folder of the address, so that relative imports stay in one set.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';

type Assets = ReadonlyMap<string, Buffer>;

export interface VersionedPage {
  html: string;
  /** The files that it loads, by their names. */
  files: ReadonlySet<string>;
}

/** Addresses in attributes of the page; other pages, which are in no folder, are none. */
const LINK = / (href|src)="([^"#/]+\/[^"]+)"/g;

/** Imports that the browser follows, not those of types, which stand in comments. */
const IMPORT = /^import [^']*'(\.[^']+)';$/gm;

/** The digest of a set of files, as a part of an address. The same files have the same on all machines. */
export function digestOf(assets: Assets): string {
  const hash = createHash('sha256');
  for (const [name, body] of [...assets].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([name, body.length])).update(body);
  return hash.digest('base64url').slice(0, 16);
}

/**
 * The page with its files below `folder`. It names all modules, which the browser else would find one after another: a
 * module only when the one that imports it has come.
 * @param fileByPath names of files by their path in the page
 */
export function versionPage(
  page: string,
  folder: string,
  fileByPath: ReadonlyMap<string, string>,
  assets: Assets,
): VersionedPage {
  const files = new Set<string>();
  const html = page.replace(LINK, (link, attribute, path) => {
    const file = fileByPath.get(path);
    if (file === undefined) return link;
    files.add(file);
    return ` ${attribute}="${folder}${file}"`;
  });
  const linked = new Set(files);
  // The set grows while it is walked: what is imported comes after what imports it.
  for (const file of files) {
    if (file.endsWith('.js')) for (const imported of importsOf(file, assets)) files.add(imported);
  }
  const preloads = [...files].filter((file) => !linked.has(file));
  const tags = preloads.map((file) => `<link rel="modulepreload" href="${folder}${file}">\n`).join('');
  return { html: html.replace('</head>', `${tags}</head>`), files };
}

function importsOf(file: string, assets: Assets): string[] {
  const source = assets.get(file)?.toString('utf8');
  if (source === undefined) throw new Error(`a page imports ${file}, which is not there`);
  return [...source.matchAll(IMPORT)].map(([, path = '']) => posix.join(posix.dirname(file), path));
}
