/**
 * The pages and their files. Each file has its own route and an answer made at start, so a path from a client is never
 * looked up in the file system.
 */
import { createHash } from 'node:crypto';
import { type Answer, jsonAnswer } from './answer.ts';
import { compressAnswer, compressorsOfOneBody } from './compress.ts';
import { matchesAnyEtag, matchesEtag } from './etag.ts';
import { addGetRoute } from './get-route.ts';
import { type HttpMetrics, type RequestMeter, routeMeter, sendMetered } from './meter.ts';
import type { ReplyWriter } from './reply.ts';
import type { TemplatedApp } from './uws.ts';

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
  json: 'application/json',
};

/** The address of each page by its file. */
const PAGES: Readonly<Record<string, string>> = {
  'explorer/index.html': '/',
  'panel/index.html': '/admin',
  'docs/index.html': '/docs',
};

/**
 * One in so many 304 answers is a 200 with the body instead: only a body shows whether the client reads its answers
 * (see reply.ts), and no key is needed here.
 */
const FULL_ANSWER_EVERY = 16;

export interface StaticRouteDeps {
  /** Contents by `folder/name`. */
  assets: ReadonlyMap<string, Buffer>;
  /** Symbol of the chain's own coin, which the explorer asks for. */
  nativeSymbol: string;
  /** Whether the operator's panel is on; its files do not exist otherwise. */
  panel: boolean;
  replies: ReplyWriter;
  metrics: HttpMetrics;
}

/** Registers every file and returns the paths. */
export function addStaticRoutes(app: TemplatedApp, deps: StaticRouteDeps): string[] {
  const { replies, metrics } = deps;
  const paths: string[] = [];
  let notModifiedCount = 0;
  const chain = Buffer.from(JSON.stringify({ symbol: deps.nativeSymbol }));
  for (const [file, body] of [...deps.assets, ['explorer/chain.json', chain] as const]) {
    if (file.startsWith('panel/') && !deps.panel) continue;
    const path = pathOf(file);
    const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const headers = `\r\nContent-Type: ${typeOf(file)}\r\nETag: ${etag}${SECURITY_HEADERS}`;
    const full: Answer = { status: 200, headers, body, cache: 'revalidate' };
    const notModified: Answer = { status: 304, headers, body: null, cache: 'revalidate' };
    const meter = routeMeter(metrics, file in PAGES ? path : 'asset');
    const compressors = compressorsOfOneBody();
    addGetRoute(app, path, (adapt) => (res, req) => {
      const ifNoneMatch = req.getHeader('if-none-match');
      const known = matchesEtag(ifNoneMatch, etag) || matchesAnyEtag(ifNoneMatch);
      const isNotModified = known && ++notModifiedCount % FULL_ANSWER_EVERY !== 0;
      const encodings = req.getHeader('accept-encoding');
      const respond = () => adapt(isNotModified ? notModified : compressAnswer(full, encodings, compressors));
      sendMetered(meter, replies, res, respond);
    });
    paths.push(path);
    if (file in PAGES && path !== '/') paths.push(addRedirect(app, path, replies, meter));
  }
  return paths;
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
