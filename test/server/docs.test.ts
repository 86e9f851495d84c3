import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ENDPOINTS } from '../../src/api/endpoints.ts';
import { serve } from './serving.ts';

test('/openapi.json needs no key, may be read by other origins, and names every endpoint', async (t) => {
  const { server } = await serve(t);
  const response = await fetch(`${server.url}/openapi.json`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  const { openapi, paths } = z
    .object({ openapi: z.string(), paths: z.looseObject({}) })
    .parse(await response.json());
  assert.match(openapi, /^3\.1\./);
  assert.deepEqual(Object.keys(paths).sort(), ENDPOINTS.map(({ path }) => path).sort());
});

test('/docs needs no key, runs no script and loads nothing from outside', async (t) => {
  const { server } = await serve(t);
  const response = await fetch(`${server.url}/docs`);
  const page = await response.text();
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
  assert.doesNotMatch(page, /<script|<style|\sstyle=|\son[a-z]+=/);
  const loaded = [...page.matchAll(/<(?:link|img)[^>]* (?:href|src)="([^"]+)"/g)].map(([, url]) => url);
  assert.deepEqual([...new Set(loaded)].sort(), [
    'docs/docs.css',
    'ui/base.css',
    'ui/mark.svg',
    'ui/tokens.css',
  ]);
  for (const file of loaded) assert.equal((await fetch(`${server.url}/${file}`)).status, 200, file);
});

test('/docs shows every endpoint with its parameters and an example', async (t) => {
  const { server } = await serve(t);
  const page = await (await fetch(`${server.url}/docs`)).text();
  for (const { path, params, method } of ENDPOINTS) {
    const section = page.split('<section').find((part) => part.includes(`<code>${path}</code>`));
    assert.ok(section, path);
    if (method === 'GET')
      for (const name of Object.keys(params.shape)) assert.ok(section.includes(`<code>${name}</code>`));
    assert.match(section, /curl -H/);
    assert.match(section, /historicalCoverageStartBlock/);
  }
});
