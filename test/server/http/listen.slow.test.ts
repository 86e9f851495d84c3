import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { Agent, request } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { address } from '../../support/index/index-fixture.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait.ts';
import { serve } from '../serving.ts';

test('a port in use by any other program is refused', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => other.close());
  const taken = (other.address() as AddressInfo).port;
  const own = (await serve(t)).server.port;
  for (const port of [taken, own]) {
    await assert.rejects(serve(t, { settings: { port } }), {
      name: 'ConfigError',
      setting: 'server.port',
      code: 'EADDRINUSE',
      message:
        `server.port: cannot listen on 127.0.0.1:${port}: the port is taken by another program; stop ` +
        'it or choose another port',
    });
  }
});

test('an address of another machine and an unknown name are refused with server.host', async (t) => {
  await assert.rejects(serve(t, { settings: { host: '192.0.2.1' } }), {
    name: 'ConfigError',
    setting: 'server.host',
    code: 'EADDRNOTAVAIL',
  });
  await assert.rejects(serve(t, { settings: { host: 'nowhere.invalid' } }), {
    setting: 'server.host',
    message: /^server\.host: cannot listen on nowhere\.invalid:\d+: [^;]+; use an address of this machine/,
  });
});

test('closing answers requests in flight, then frees the port', async (t) => {
  let release: (() => void) | undefined;
  const node = createServer((_, response) => {
    release = () => response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  t.after(() => node.close());
  const serving = await serve(t, {
    upstream: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    settings: { port: await freePort() }, // not 0: the system assigns a port that it chose itself only once
  });
  const answer = serving.post('/rpc', '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}');
  await waitFor(() => release, { what: 'the call to reach the node' });
  const closed = serving.server.close();
  await assert.rejects(fetch(`${serving.server.url}/healthz`), 'new connections are refused');
  release?.();
  assert.equal((await answer).status, 200);
  await closed;
  const again = await serve(t, { settings: { port: serving.server.port } });
  assert.equal(again.server.port, serving.server.port);
});

test('a request that arrives just after closing began gets a last answer', async (t) => {
  const { server } = await serve(t);
  const socket = connect(server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  let text = '';
  let ended = false;
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('close', () => {
    ended = true;
  });
  const ask = () => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  const answers = () => text.split('HTTP/1.1 200').length - 1;
  ask();
  await waitFor(() => answers() === 1, { what: 'the first answer' });
  assert.doesNotMatch(text, /Connection: close/);
  const closed = server.close();
  ask();
  await waitFor(() => ended, { what: 'the end of the connection' });
  assert.equal(answers(), 2);
  assert.match(text, /Connection: close/);
  await closed;
});

test('HTTPS works with a certificate, and bad files are reported', async (t) => {
  const dir = tempDir(t);
  const [cert, key, text] = ['cert.pem', 'key.pem', 'text.pem'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  );
  writeFileSync(text, 'no certificate');
  const settings = (tls_cert: string, tls_key: string) => ({ settings: { tls_cert, tls_key } });
  await assert.rejects(serve(t, settings(join(dir, 'none.pem'), key)), {
    name: 'ConfigError',
    message: /^server\.tls_cert: cannot read .*none\.pem/,
  });
  await assert.rejects(serve(t, settings(cert, join(dir, 'none.pem'))), {
    name: 'ConfigError',
    message: /^server\.tls_key: cannot read/,
  });
  await assert.rejects(serve(t, settings(text, key)), {
    name: 'ConfigError',
    message: /not a PEM certificate/,
  });
  await assert.rejects(serve(t, settings(cert, cert)), {
    name: 'ConfigError',
    message: /not a PEM certificate/,
  });

  const serving = await serve(t, settings(cert, key));
  serving.index.append([{}]);
  assert.match(serving.server.url, /^https:/);
  const agent = new Agent({ rejectUnauthorized: false });
  t.after(() => agent.destroy());
  const path = `/api/wallet_summary?address=${address('alice')}`;
  const status = await new Promise((resolve, reject) => {
    request(serving.server.url + path, { agent, headers: { 'X-API-Key': serving.key } }, (response) => {
      resolve(response.statusCode);
      response.resume();
    })
      .on('error', reject)
      .end();
  });
  assert.equal(status, 200);
  await assert.rejects(
    new Promise((resolve, reject) =>
      get(serving.server.url.replace('https', 'http'), resolve).on('error', reject),
    ),
    'plain HTTP is not answered on the TLS port',
  );
});

test('answers are counted per route and status', async (t) => {
  const { fetch, index, metrics, server } = await serve(t);
  index.append([{}]);
  await fetch(`/api/wallet_summary?address=${address('alice')}`);
  await fetch('/api/wallet_summary?address=x');
  await fetch('/api/invented/by/a/client');
  await globalThis.fetch(`${server.url}/api/wallet_summary`);
  const text = await metrics.render();
  for (const line of [
    'atlas_http_requests_total{route="/api/wallet_summary",status="200"} 1',
    'atlas_http_requests_total{route="/api/wallet_summary",status="400"} 1',
    'atlas_http_requests_total{route="/api/wallet_summary",status="401"} 1',
    'atlas_http_requests_total{route="other",status="404"} 1',
    'atlas_http_request_seconds_count{route="/api/wallet_summary"} 3',
  ]) {
    assert.ok(text.includes(line), line);
  }
  assert.equal(text.includes('invented'), false);
});
