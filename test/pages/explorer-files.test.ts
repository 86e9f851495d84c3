import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { loadAssets } from '../../src/server/pages/assets.ts';
import { digestOf } from '../../src/server/pages/static.ts';
import { operate } from '../server/operating.ts';

/** Status of a path sent as it is; fetch would tidy it up first. */
function statusOf(base: string, path: string): Promise<number> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => resolve(response.resume().statusCode ?? 0))
      .on('error', reject)
      .end();
  });
}

test('both pages have a content security policy that allows only their own files', async (t) => {
  const { fetch } = await operate(t);
  for (const path of ['/', '/admin', '/ui/base.css', '/explorer/main.js', '/admin/main.js']) {
    const { status, headers } = await fetch(path);
    assert.equal(status, 200, path);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
  }
});

test('files have content types, are compressed, and are resent only when they change', async (t) => {
  const { fetch } = await operate(t);
  const page = await fetch('/');
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(
    (await fetch('/explorer/main.js')).headers.get('content-type'),
    'text/javascript; charset=utf-8',
  );
  assert.equal((await fetch('/ui/base.css')).headers.get('content-type'), 'text/css; charset=utf-8');
  for (const path of ['/', '/docs', '/explorer/main.js', '/ui/base.css']) {
    const { headers } = await fetch(path, { headers: { 'Accept-Encoding': 'br' } });
    assert.equal(headers.get('content-encoding'), 'br', path);
  }
  const again = await fetch('/', { headers: { 'If-None-Match': page.headers.get('etag') ?? '' } });
  assert.equal(again.status, 304);
  assert.equal(await again.text(), '');
  assert.equal((await fetch('/', { headers: { 'If-None-Match': '"other"' } })).status, 200);
  assert.equal((await fetch('/', { method: 'POST' })).status, 405);
});

test('a page loads its files from versioned URLs that browsers cache for good', async (t) => {
  const { server, fetch } = await operate(t);
  for (const [page, folder] of [
    ['/', '/v/'],
    ['/docs', '/v/'],
    ['/admin', '/admin/v/'],
  ] as const) {
    const answer = await fetch(page);
    assert.equal(answer.headers.get('cache-control'), 'private, max-age=0, must-revalidate');
    const links = [...(await answer.text()).matchAll(/ (?:href|src)="([^"#]+\/[^"]+)"/g)];
    const urls = new Set(links.map(([, path = '']) => new URL(path, server.url + page).href));
    assert.ok(urls.size > 4);
    for (const url of urls) {
      const path = new URL(url).pathname;
      assert.ok(path.startsWith(folder), path);
      const versioned = await fetch(path);
      assert.equal(versioned.status, 200, path);
      assert.equal(versioned.headers.get('cache-control'), 'private, max-age=31536000, immutable');
      const text = await versioned.text();
      const plain = await fetch(path.replace(/^.*\/v\/[^/]+/, '').replace('/panel/', '/admin/'));
      assert.equal(await plain.text(), text);
      assert.equal(plain.headers.get('cache-control'), 'private, max-age=0, must-revalidate');
      assert.equal(plain.headers.get('etag'), versioned.headers.get('etag'));
      for (const [, imported = ''] of text.matchAll(/^(?:import|\} from).*'(\..*)';$/gm))
        assert.ok(urls.has(new URL(imported, url).href), `${page} names ${imported} of ${path}`);
    }
    const old = [...urls].map((url) => new URL(url).pathname.replace(/\/v\/[^/]+/, '/v/0000000000000000'));
    for (const path of old) assert.equal((await fetch(path)).status, 404, path);
  }
});

test('any change of a page file changes all versioned URLs', () => {
  const digest = (files: object) =>
    digestOf(new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(String(text))])));
  const base = digest({ 'ui/a.js': 'one', 'ui/b.js': 'two' });
  assert.match(base, /^[\w-]{16}$/);
  assert.equal(digest({ 'ui/b.js': 'two', 'ui/a.js': 'one' }), base);
  for (const other of [
    { 'ui/a.js': 'one', 'ui/b.js': 'too' },
    { 'ui/a.js': 'onet', 'ui/b.js': 'wo' },
    { 'ui/a.js': 'one', 'ui/c.js': 'two' },
    { 'ui/a.js': 'one' },
  ])
    assert.notEqual(digest(other), base);
});

test('a page URL with a trailing slash redirects, also below a path prefix', async (t) => {
  const { server, fetch } = await operate(t);
  for (const page of ['/docs', '/admin']) {
    const { status, headers } = await fetch(`${page}/`, { redirect: 'manual' });
    assert.deepEqual([status, headers.get('location')], [308, `..${page}`]);
    assert.equal((await fetch(`${page}/`)).url, server.url + page);
  }
});

test('only registered files are served, however a path is written', async (t) => {
  const { server } = await operate(t);
  const paths = [
    '/explorer/../server.ts',
    '/ui/../../../package.json',
    '/ui/%2e%2e/server.ts',
    '/ui/..%2fapp.ts',
    '/explorer/',
    '/explorer/index.html',
    '/admin/index.html',
    '/admin/../ui/base.css',
    '/ui/base.css/',
    '/ui/tsconfig.json',
    '//ui/base.css',
  ];
  for (const path of paths) assert.equal(await statusOf(server.url, path), 404, path);
});

test('no markup has an inline script, an inline style or an external URL', () => {
  for (const [name, body] of loadAssets()) {
    const text = body.toString('utf8');
    if (name.endsWith('.html')) {
      assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/i, name);
    }
    assert.doesNotMatch(
      text.replaceAll('http://www.w3.org/2000/svg', ''),
      /(src|href|url\(|import)[^\n]*https?:\/\//i,
      name,
    );
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/, name);
  }
});
