/**
 * The pages and their files. Each file has its own route and an answer built at startup, so a client's path never
 * reaches the file system.
 */
import { PUBLIC_KEY } from '../../access/key.ts';
import type { NamedQueries } from '../../api/queries/named-queries.ts';
import type { ExampleAddress } from '../../model/address.ts';
import { type Answer, jsonAnswer } from '../http/answer.ts';
import { CachedResponse } from '../http/cached-response.ts';
import type { ReplyWriter } from '../http/reply.ts';
import { addGetRoute, type HttpMetrics, type RequestMeter, routeMeter, sendMetered } from '../http/route.ts';
import type { HttpRequest, TemplatedApp } from '../uws.ts';
import { bodyOfQueries, docsParts } from './docs.ts';
import { escapeHtml } from './docs-html.ts';

/**
 * Allows scripts, styles and connections of this origin only: nothing inline, no frames, and (trusted types) no way for
 * a script to turn text into markup.
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
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The paths of each page. The explorer parses the rest of its URL itself. */
const PAGE_PATHS: Readonly<Record<string, readonly string[]>> = {
  'explorer.html': [
    '/',
    '/address/:address',
    '/token/:token',
    '/tx/:hash',
    '/block/:block',
    '/search',
    '/tokens',
    '/large',
    '/live',
  ],
  'panel.html': ['/admin'],
  'docs.html': ['/docs'],
};

/** Unknown paths deeper than this get JSON, to bound the number of cached answers. */
const MAX_DEPTH = 8;

interface StaticRouteDeps {
  /** Contents by path (assets.ts). */
  assets: ReadonlyMap<string, Buffer>;
  /** Symbol of the native coin, shown by the explorer. */
  nativeSymbol: string;
  /** Addresses that the home page suggests. */
  examples: readonly ExampleAddress[];
  /** Whether the operator's panel is enabled. If not, its files are not served. */
  panel: boolean;
  /** Whether visitors need no key. */
  isPublic: boolean;
  /** Listed in /docs. */
  queries?: NamedQueries | undefined;
  replies: ReplyWriter;
  metrics: HttpMetrics;
}

/** Answers a request for an unknown path with a page; null for programs, which get JSON. */
export type UnknownPage = (req: HttpRequest) => Answer | Promise<Answer> | null;

/** Registers every page and file. Returns their paths, and the page for unknown ones. */
export function addStaticRoutes(
  app: TemplatedApp,
  deps: StaticRouteDeps,
): { paths: string[]; unknownPage: UnknownPage } {
  const { replies, metrics } = deps;
  const paths: string[] = [];
  const add = (path: string, body: () => CachedResponse, cache: Answer['cache'], meter: RequestMeter) => {
    addGetRoute(app, path, (adapt) => (res, req) => {
      sendMetered(meter, replies, res, () => adapt(body().answerTo(req, cache)));
    });
    paths.push(path);
  };
  const fill = pageFiller(deps);
  const pageBody = (name: string, path: string): (() => CachedResponse) => {
    if (name === 'docs.html')
      return bodyOfQueries(deps.queries, (queries) => fill(name, depthOf(path), docsParts(queries)));
    const page = fill(name, depthOf(path));
    return () => page;
  };
  const assetMeter = routeMeter(metrics, 'asset');
  for (const [name, content] of deps.assets) {
    if (!deps.panel && /^(panel|admin)\b/.test(name)) continue;
    if (!name.endsWith('.html')) {
      const headers = `\r\nContent-Type: ${typeOf(name)}${SECURITY_HEADERS}`;
      const file = new CachedResponse(content, headers);
      add(`/${name}`, () => file, 'immutable', assetMeter);
      continue;
    }
    for (const path of PAGE_PATHS[name] ?? []) {
      const meter = routeMeter(metrics, path);
      add(path, pageBody(name, path), 'revalidate', meter);
      if (name !== 'explorer.html') paths.push(addRedirect(app, path, replies, meter));
    }
  }
  return { paths, unknownPage: unknownPage((depth) => fill('explorer.html', depth)) };
}

/** Number of folders between the root and a path. */
function depthOf(path: string): number {
  return path.split('/').length - 2;
}

/** Fills in the placeholders of a page. Its links are relative, so that they work below a proxy's path prefix. */
function pageFiller({ assets, nativeSymbol, examples, panel, isPublic }: StaticRouteDeps) {
  const parts = {
    coin: escapeHtml(nativeSymbol),
    examples: escapeHtml(JSON.stringify(examples)),
    panel: panel ? 'admin' : '',
    key: isPublic ? PUBLIC_KEY : '',
  };
  return (name: string, depth: number, more: Record<string, string> = {}): CachedResponse => {
    const template = assets.get(name)?.toString('utf8') ?? '';
    const values = new Map(
      Object.entries({ ...parts, ...more, root: depth === 0 ? './' : '../'.repeat(depth) }),
    );
    const html = template.replace(/\{([a-z]+)\}/g, (placeholder, key) => values.get(key) ?? placeholder);
    return new CachedResponse(html, `\r\nContent-Type: text/html; charset=utf-8${SECURITY_HEADERS}`);
  };
}

/** Answers browsers that request an unknown path with the explorer, status 404. */
function unknownPage(makePage: (depth: number) => CachedResponse): UnknownPage {
  const pages = new Map<number, CachedResponse>();
  const notFound = (answer: Answer): Answer => (answer.status === 200 ? { ...answer, status: 404 } : answer);
  return (req) => {
    const depth = depthOf(req.getUrl());
    if (req.getMethod() !== 'get' || depth > MAX_DEPTH || !req.getHeader('accept').includes('text/html'))
      return null;
    const page = pages.get(depth) ?? makePage(depth);
    pages.set(depth, page);
    const answer = page.answerTo(req, 'revalidate');
    return answer instanceof Promise ? answer.then(notFound) : notFound(answer);
  };
}

/** Redirects `/docs/` to `/docs`, also below a proxy's path prefix. Returns the path. */
function addRedirect(app: TemplatedApp, page: string, replies: ReplyWriter, meter: RequestMeter): string {
  const path = `${page}/`;
  const answer = jsonAnswer(308, '{}', `\r\nLocation: ..${page}`);
  addGetRoute(app, path, (adapt) => (res) => sendMetered(meter, replies, res, () => adapt(answer)));
  return path;
}

function typeOf(file: string): string {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`no content type is known for ${file}`);
  return type;
}
