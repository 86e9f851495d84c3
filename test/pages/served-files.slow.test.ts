import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { loadAssets } from '../../src/server/pages/assets.ts';
import { operate } from '../server/operating.ts';

const HTML = { Accept: 'text/html,*/*' };

/** Status of a path sent verbatim; fetch would normalise it. */
function statusOf(base: string, path: string): Promise<number> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => resolve(response.resume().statusCode ?? 0))
      .on('error', reject)
      .end();
  });
}

/** The URLs of a page's files. */
function filesOf(html: string, page: string): string[] {
  return [...html.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g)].map(
    ([, path = '']) => new URL(path, page).href,
  );
}

test('each page loads its own files only, which browsers cache for good and a new build renames', async (t) => {
  const { server, fetch: get } = await operate(t);
  // The explorer's script has a second part, which it shares with what is loaded on demand.
  for (const [path, folder, count] of [
    ['/', '/assets/', 4],
    [`/address/0x${'ab'.repeat(20)}`, '/assets/', 4],
    ['/docs', '/assets/', 3],
    ['/admin', '/admin/assets/', 3],
  ] as const) {
    const page = await get(path);
    assert.equal(page.headers.get('cache-control'), 'private, max-age=0, must-revalidate');
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    const urls = filesOf(await page.text(), server.url + path);
    assert.equal(urls.length, count, path);
    for (const url of urls) {
      const file = await fetch(url);
      assert.equal(file.status, 200, url);
      assert.match(new URL(url).pathname, new RegExp(`^${folder}[a-z]+-\\w{8}\\.(js|css|svg)$`));
      assert.equal(file.headers.get('cache-control'), 'private, max-age=31536000, immutable');
    }
  }
});

test('every page and file allows nothing but its own origin to run, and is compressed', async (t) => {
  const { server, fetch: get } = await operate(t);
  const files = filesOf(await (await get('/')).text(), server.url).map((url) => new URL(url).pathname);
  for (const path of ['/', '/admin', '/docs', ...files]) {
    const { status, headers } = await get(path, { headers: { 'Accept-Encoding': 'br' } });
    assert.equal(status, 200, path);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('content-encoding'), 'br', path);
  }
});

test('the first load of the explorer is at most 60 KB in 6 requests', async (t) => {
  const { server, fetch: get } = await operate(t);
  const headers = { 'Accept-Encoding': 'br' };
  const urls = [`${server.url}/`, ...filesOf(await (await get('/')).text(), server.url)];
  const sizes = await Promise.all(
    urls.map(async (url) => Number((await fetch(url, { headers })).headers.get('content-length'))),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(urls.length <= 6 && total > 1_000 && total <= 60_000, `${urls.length} requests, ${total} bytes`);
});

test('a page is sent again only when it changed', async (t) => {
  const { fetch: get } = await operate(t);
  const etag = (await get('/')).headers.get('etag') ?? '';
  const again = await get('/', { headers: { 'If-None-Match': etag } });
  assert.deepEqual([again.status, await again.text()], [304, '']);
  assert.equal((await get('/', { headers: { 'If-None-Match': '"other"' } })).status, 200);
  assert.equal((await get('/', { method: 'POST' })).status, 405);
});

test('an unknown path is a page for people and JSON for programs', async (t) => {
  const { server, fetch: get } = await operate(t);
  for (const path of ['/nothing', '/address/0x12/more/of/it']) {
    const page = await get(path, { headers: HTML });
    assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8']);
    for (const url of filesOf(await page.text(), server.url + path))
      assert.equal((await fetch(url)).status, 200, url);
    const answer = await get(path);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [404, 'application/json']);
  }
  const outside: [string, RequestInit][] = [
    ['/api/nothing', { headers: HTML }],
    ['/nothing', { method: 'POST', headers: HTML }],
    ['/a'.repeat(20), { headers: HTML }],
  ];
  for (const [path, init] of outside) {
    const answer = await get(path, init);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [404, 'application/json'], path);
  }
});

test('a page URL with a trailing slash redirects, also below a path prefix', async (t) => {
  const { server, fetch: get } = await operate(t);
  for (const page of ['/docs', '/admin']) {
    const { status, headers } = await get(`${page}/`, { redirect: 'manual' });
    assert.deepEqual([status, headers.get('location')], [308, `..${page}`]);
    assert.equal((await get(`${page}/`)).url, server.url + page);
  }
});

test('only registered files are served, however a path is written', async (t) => {
  const { server } = await operate(t);
  for (const path of [
    '/explorer.html',
    '/manifest.json',
    '/assets/',
    '/assets/../manifest.json',
    '/assets/..%2fmanifest.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/admin/assets/../../../package.json',
    '//assets/',
  ])
    assert.equal(await statusOf(server.url, path), 404, path);
});

test('no page has an inline script or style, and no file names another origin or writes markup', async () => {
  for (const [name, body] of await loadAssets()) {
    const text = body
      .toString('utf8')
      .replaceAll(/http:\/\/www\.w3\.org\/\w+\/(svg|xhtml|xlink|MathML|Math\/MathML)/g, '');
    if (name.endsWith('.html'))
      assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/i, name);
    assert.doesNotMatch(text, /(src|href|url\(|import)[^\n;]{0,40}https?:\/\//i, name);
    assert.doesNotMatch(text, /outerHTML|insertAdjacentHTML|document\.write|\beval\(/, name);
  }
});
