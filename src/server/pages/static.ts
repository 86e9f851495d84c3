/**
 * The pages and their files. Each file has its own route and an answer built at start, so a client's path never reaches the
 * file system.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { type Answer, jsonAnswer } from '../http/answer.ts';
import { CachedResponse } from '../http/cached-response.ts';
import type { ReplyWriter } from '../http/reply.ts';
import { addGetRoute, type HttpMetrics, type RequestMeter, routeMeter, sendMetered } from '../http/route.ts';
import type { TemplatedApp } from '../uws.ts';
import { escapeHtml } from './docs-html.ts';

/** Contents by `folder/name`. */
type Assets = ReadonlyMap<string, Buffer>;

/**
 * A page that loads its files from versioned URLs. Browsers cache these for good and revalidate only the page. The digest is
 * a folder of the URL, so relative imports stay within one version.
 */
interface VersionedPage {
  html: string;
  /** The names of the files it loads. */
  files: ReadonlySet<string>;
}

/** URLs of files in attributes of the page. Links to other pages have no folder and do not match. */
const LINK = / (href|src)="([^"#/]+\/[^"]+)"/g;

/** Imports that the browser follows; type imports are in comments. */
const IMPORT = /^import [^']*'(\.[^']+)';$/gm;

/** The digest of a set of files, as a URL segment. The same on all machines. */
export function digestOf(assets: Assets): string {
  const hash = createHash('sha256');
  for (const [name, body] of [...assets].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([name, body.length])).update(body);
  return hash.digest('base64url').slice(0, 16);
}

/**
 * The page with its files below `folder`. It preloads all modules; otherwise the browser would discover each one only after
 * loading its importer.
 * @param fileByPath names of files by their path in the page
 */
function versionPage(
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
  // The set grows during iteration, so imports of imports are visited too.
  for (const file of files) {
    if (file.endsWith('.js')) for (const imported of importsOf(file, assets)) files.add(imported);
  }
  const preloads = [...files].filter((file) => !linked.has(file));
  const tags = preloads.map((file) => `<link rel="modulepreload" href="${folder}${file}">\n`).join('');
  return { html: html.replace('</head>', `${tags}</head>`), files };
}

function importsOf(file: string, assets: Assets): string[] {
  const source = assets.get(file)?.toString('utf8');
  if (source === undefined) throw new Error(`a page imports ${file}, which does not exist`);
  return [...source.matchAll(IMPORT)].map(([, path = '']) => posix.join(posix.dirname(file), path));
}

/**
 * Allows scripts, styles and connections of this origin only: nothing inline, no frames, and (trusted types) no way for a
 * script to turn text into markup.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const SECURITY_HEADERS =
  `\r\nContent-Security-Policy: ${CONTENT_POLICY}` +
  '\r\nX-Content-Type-Options: nosniff' +
  '\r\nReferrer-Policy: no-referrer' +
  '\r\nX-Frame-Options: DENY' +
  '\r\nCross-Origin-Opener-Policy: same-origin' +
  '\r\nCross-Origin-Resource-Policy: same-origin';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The path of each page by its file. */
const PAGES: Readonly<Record<string, string>> = {
  'explorer/index.html': '/',
  'panel/index.html': '/admin',
  'docs/index.html': '/docs',
};

/** Placeholder in the explorer's page for the symbol of the native coin. */
const COIN_PLACEHOLDER = '{coin}';

export interface StaticRouteDeps {
  assets: Assets;
  /** Symbol of the native coin, shown by the explorer. */
  nativeSymbol: string;
  /** Whether the operator's panel is on. Otherwise its files are not served. */
  panel: boolean;
  replies: ReplyWriter;
  metrics: HttpMetrics;
}

/** Registers every file and returns the paths. */
export function addStaticRoutes(app: TemplatedApp, deps: StaticRouteDeps): string[] {
  const { replies, metrics } = deps;
  const assets = new Map([...deps.assets].filter(([file]) => deps.panel || !file.startsWith('panel/')));
  const { pages, versions } = versionPages(assets, digestOf(deps.assets), deps.nativeSymbol);
  const registered: string[] = [];
  for (const [file, content] of assets) {
    const path = pathOf(file);
    const headers = `\r\nContent-Type: ${typeOf(file)}${SECURITY_HEADERS}`;
    const body = new CachedResponse(pages.get(file) ?? content, headers);
    const meter = routeMeter(metrics, file in PAGES ? path : 'asset');
    const addFile = (path: string, cache: Answer['cache']) => {
      addGetRoute(app, path, (adapt) => (res, req) => {
        sendMetered(meter, replies, res, () => adapt(body.answerTo(req, cache)));
      });
      registered.push(path);
    };
    addFile(path, 'revalidate');
    for (const versionedPath of versions.get(file) ?? []) addFile(versionedPath, 'immutable');
    if (file in PAGES && path !== '/') registered.push(addRedirect(app, path, replies, meter));
  }
  return registered;
}

/** The pages as served, and the versioned paths of the files they load, both by file. */
function versionPages(assets: Assets, digest: string, nativeSymbol: string) {
  const fileByPath = new Map([...assets.keys()].map((file) => [pathOf(file).slice(1), file]));
  const pages = new Map<string, Buffer>();
  const versions = new Map<string, Set<string>>();
  for (const [page, content] of assets) {
    if (!(page in PAGES)) continue;
    const filled = content.toString('utf8').replace(COIN_PLACEHOLDER, () => escapeHtml(nativeSymbol));
    const folder = `${page.startsWith('panel/') ? 'admin/' : ''}v/${digest}/`;
    const { html, files } = versionPage(filled, folder, fileByPath, assets);
    pages.set(page, Buffer.from(html));
    for (const file of files) {
      const paths = versions.get(file) ?? new Set();
      versions.set(file, paths.add(`/${folder}${file}`));
    }
  }
  return { pages, versions };
}

/** Redirects `/docs/` to `/docs`, also below a proxy's path prefix. Returns the path. */
function addRedirect(app: TemplatedApp, page: string, replies: ReplyWriter, meter: RequestMeter): string {
  const path = `${page}/`;
  const answer = jsonAnswer(308, '{}', `\r\nLocation: ..${page}`);
  addGetRoute(app, path, (adapt) => (res) => sendMetered(meter, replies, res, () => adapt(answer)));
  return path;
}

/** The panel's files are below `/admin`, so a proxy that protects `/admin` protects them too. */
function pathOf(file: string): string {
  return PAGES[file] ?? `/${file.replace(/^panel\//, 'admin/')}`;
}

function typeOf(file: string): string {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`no content type is known for ${file}`);
  return type;
}
