/**
 * The pages and their files. Each file has its own route and an answer made at start, so a path from a client is never
 * looked up in the file system.
 */
import { type Answer, jsonAnswer } from './answer.ts';
import { escapeHtml } from './docs-html.ts';
import { FixedBody } from './fixed-body.ts';
import { addGetRoute } from './get-route.ts';
import { type HttpMetrics, type RequestMeter, routeMeter, sendMetered } from './meter.ts';
import type { ReplyWriter } from './reply.ts';
import type { TemplatedApp } from './uws.ts';
import { digestOf, versionPage } from './versioned-page.ts';

/**
 * Scripts, styles and connections of this origin only; nothing inline, no frames, and (trusted types) no way for a
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

/** The address of each page by its file. */
const PAGES: Readonly<Record<string, string>> = {
  'explorer/index.html': '/',
  'panel/index.html': '/admin',
  'docs/index.html': '/docs',
};

/** Stands in the explorer's page for the symbol of the chain's own coin. */
const COIN_PLACE = '{coin}';

export interface StaticRouteDeps {
  /** Contents by `folder/name`. */
  assets: ReadonlyMap<string, Buffer>;
  /** Symbol of the chain's own coin, which the explorer's page names. */
  nativeSymbol: string;
  /** Whether the operator's panel is on; its files do not exist otherwise. */
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
    const body = new FixedBody(pages.get(file) ?? content, headers);
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

/** The pages as they are served, and the paths of what they load: both by file. */
function versionPages(assets: ReadonlyMap<string, Buffer>, digest: string, nativeSymbol: string) {
  const fileByPath = new Map([...assets.keys()].map((file) => [pathOf(file).slice(1), file]));
  const pages = new Map<string, Buffer>();
  const versions = new Map<string, Set<string>>();
  for (const [page, content] of assets) {
    if (!(page in PAGES)) continue;
    const filled = content.toString('utf8').replace(COIN_PLACE, () => escapeHtml(nativeSymbol));
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

/** The panel's files lie below the panel's page, so that a proxy that protects `/admin` protects them too. */
function pathOf(file: string): string {
  return PAGES[file] ?? `/${file.replace(/^panel\//, 'admin/')}`;
}

function typeOf(file: string): string {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`no content type is known for ${file}`);
  return type;
}
