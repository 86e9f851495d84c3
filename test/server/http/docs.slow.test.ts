import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import { parseChainLogFilter, parseLogFilter } from '../../../src/streams/node/log-filter.ts';
import { parseSignalFilter, parseWalletFilter } from '../../../src/streams/transfers/parse-filter.ts';
import { document } from '../../support/clients/openapi.ts';
import { serve } from '../serving.ts';

test('/openapi.json needs no key, is open to other origins, and lists every endpoint', async (t) => {
  const { server } = await serve(t);
  const response = await fetch(`${server.url}/openapi.json`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  const { openapi, paths } = z
    .object({ openapi: z.string(), paths: z.looseObject({}) })
    .parse(await response.json());
  assert.match(openapi, /^3\.1\./);
  const others = ['/rpc', '/healthz', '/readyz', '/status'];
  assert.deepEqual(Object.keys(paths).sort(), [...ENDPOINTS.map(({ path }) => path), ...others].sort());
  const headers = { 'If-None-Match': response.headers.get('etag') ?? '' };
  assert.equal((await fetch(`${server.url}/openapi.json`, { headers })).status, 304);
});

test('/docs needs no key, runs only its own script and loads nothing external', async (t) => {
  const { server } = await serve(t);
  const response = await fetch(`${server.url}/docs`);
  const page = await response.text();
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
  assert.doesNotMatch(page, /<script(?! type="module" src=")|<style|\sstyle=|\son[a-z]+=/);
  const loaded = [...page.matchAll(/<(?:link|img|script)[^>]* (?:href|src)="([^"]+)"/g)].map(
    ([, url]) => url,
  );
  assert.deepEqual(loaded.map((path) => path?.replace(/-\w{8}/, '')).sort(), [
    './assets/docs.css',
    './assets/docs.js',
    './assets/mark.svg',
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

/** The cells of the rows of a section's parameter table. */
function rowsOf(section: string): string[][] {
  const table = section.slice(0, section.indexOf('</table>'));
  return [...table.matchAll(/<tr><th scope="row"><code>(.*?)<\/code><\/th>(.*?)<\/tr>/g)].map(
    ([, name = '', cells = '']) => [name, ...cells.split('</td>').map((cell) => cell.replace('<td>', ''))],
  );
}

test('each parameter of each endpoint has a type and a meaning, on /docs and in /openapi.json', async (t) => {
  const { server } = await serve(t);
  const page = await (await fetch(`${server.url}/docs`)).text();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      for (const { name, description = '', schema } of operation.parameters) {
        const label = `${method} ${path} ${name}`;
        assert.ok(description.length > 5, `${label} has no meaning`);
        assert.equal(typeof schema.type, 'string', `${label} has no type`);
        const isPlain = schema.type !== 'string' || Array.isArray(schema.enum);
        assert.equal(typeof schema.title, isPlain ? 'undefined' : 'string', `${label}: what kind of text?`);
        const isAddress = String(schema.pattern) === '^0x[0-9a-fA-F]{40}$';
        assert.equal(schema.title === 'address', isAddress, `${label} is not an address`);
      }
    }
  }
  for (const { path, params } of ENDPOINTS) {
    const section = page.split('<section').find((part) => part.includes(`<code>${path}</code>`)) ?? '';
    const rows = rowsOf(section);
    const described = document.paths[path]?.get?.parameters;
    assert.deepEqual(
      rows.map(([name]) => name),
      Object.keys(params.shape),
      path,
    );
    for (const [name, values = '', , meaning = ''] of rows) {
      assert.ok(meaning.length > 5, `${path} ${name} has no meaning`);
      assert.ok(
        values !== '' && !/undefined|object|^string|^array/.test(values),
        `${path} ${name}: ${values}`,
      );
      const { schema } = described?.find((parameter) => parameter.name === name) ?? {};
      if (schema?.title !== undefined) assert.equal(values, schema.title, `${path} ${name}`);
    }
  }
});

test('/docs shows /rpc with a call and its answer', async (t) => {
  const { server } = await serve(t);
  const page = await (await fetch(`${server.url}/docs`)).text();
  const section = page.split('<section').find((part) => part.includes('<code>/rpc</code></h3>')) ?? '';
  assert.match(section, /-d '{&quot;jsonrpc&quot;:&quot;2.0&quot;,&quot;id&quot;:1/);
  assert.match(section, /&quot;result&quot;: &quot;0x1b4&quot;/);
});

test('/docs shows subscribe parameters and sample events', async (t) => {
  const { server } = await serve(t);
  const page = await (await fetch(`${server.url}/docs`)).text();
  const section = page.split('<section').find((part) => part.startsWith(' id="streams"')) ?? '';
  const samples = [...section.matchAll(/<pre [^>]*aria-label="([^"]*)">([\s\S]*?)<\/pre>/g)].map(
    ([, label, code = '']) => ({ label, code: code.replaceAll('&quot;', '"') }),
  );
  const events = samples.filter(({ label }) => label === 'Event').map(({ code }) => JSON.parse(code));
  assert.deepEqual(
    events.map(({ method, params }) => [method, params.result.transferType, params.result.blockNumber]),
    [
      ['eth_subscription', 'native_direct', 4711],
      ['atlas_subscription', 'erc20', 4711],
      ['atlas_subscription', 'erc20', 4711],
    ],
  );
  for (const name of ['newHeads', 'logs', 'chainLogs', 'wallet_transfers', 'newPendingTransactions'])
    assert.ok(section.includes(name), `${name} is not described`);
  assert.deepEqual(
    events.map(({ params }) => [params.result.eventIndex, params.result.blockHash.length]),
    [
      [0, 66],
      [2, 66],
      [2, 66],
    ],
  );
  for (const name of ['txHash', 'eventIndex', 'blockHash', 'direction', 'removed'])
    assert.ok(
      section.split('Deduplicating events')[1]?.includes(name),
      `${name} is not described as part of the key`,
    );
  for (const path of ['/ws', '/ws/signals']) {
    const messages = samples
      .filter(({ label }) => label?.endsWith(`to ${path}`))
      .flatMap(({ code }) => code.split('\n'));
    assert.ok(messages.length > 0);
    for (const message of messages) {
      const { method, params } = JSON.parse(message);
      if (path === '/ws/signals') parseSignalFilter(params);
      else if (params[0] === 'wallet_transfers') parseWalletFilter(params[1]);
      else if (params[0] === 'logs') parseLogFilter(params[1]);
      else if (params[0] === 'chainLogs') parseChainLogFilter(params[1]);
      else assert.deepEqual([method, params], ['eth_subscribe', ['newHeads']]);
    }
  }
});
