import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../../src/lib/errors.ts';
import { freePort } from '../../support/free-port.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { serve } from '../serving.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/tls/', import.meta.url));

/** A server with the certificate of `old.example`, and its certificate files. */
async function serveTls(t: TestContext) {
  const dir = tempDir(t);
  const files = { tls_cert: join(dir, 'cert.pem'), tls_key: join(dir, 'key.pem') };
  const put = (name: 'old' | 'new') => {
    copyFileSync(join(FIXTURES, `${name}-cert.pem`), files.tls_cert);
    copyFileSync(join(FIXTURES, `${name}-key.pem`), files.tls_key);
  };
  put('old');
  const { server, metrics, logs } = await serve(t, { settings: { ...files, port: await freePort() } });
  return {
    server,
    metrics,
    logs,
    files,
    put,
    reload: () => server.reload({ ...files, cors_origins: ['*'] }),
  };
}

/** The subject of a new connection's certificate. */
function shownName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** Status of /healthz. */
function health(port: number, agent?: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/healthz', rejectUnauthorized: false, agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    })
      .once('error', reject)
      .end();
  });
}

test('new connections get a renewed certificate, and open ones continue', async (t) => {
  const { server, put, reload } = await serveTls(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  assert.equal(await shownName(server.port), 'old.example');
  assert.equal(await health(server.port, agent), 200);
  const [socket] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);

  put('new');
  await reload();
  assert.equal(await shownName(server.port), 'new.example');
  assert.equal(await health(server.port, agent), 200);
  assert.equal(Object.values(agent.freeSockets)[0]?.[0], socket, 'the connection from before was used again');
});

test('an expired certificate is served with a warning at start and at each reload', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2200, 0) });
  const { server, logs, reload } = await serveTls(t);
  assert.equal(await shownName(server.port), 'old.example');
  const warnings = () => logs.filter((line) => line.includes('expired at 2126-')).length;
  assert.equal(warnings(), 1);
  await reload();
  assert.equal(warnings(), 2);
});

test('renewing a certificate keeps every metric series and its count', async (t) => {
  const { server, metrics, put, reload } = await serveTls(t);
  await health(server.port);
  put('new');
  await reload();
  await health(server.port);
  const series = (await metrics.render()).split('\n').filter((line) => /^atlas/.test(line));
  const names = series.map((line) => line.slice(0, line.lastIndexOf(' ')));
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  );
  assert.ok(series.includes('atlas_http_request_seconds_count{route="/healthz"} 2'));
  assert.ok(series.includes('atlas_http_requests_total{route="/healthz",status="200"} 2'));
});

/** Status of /healthz for a client that reconnects when its connection was reset before it was accepted. */
async function healthAtSecondTry(port: number): Promise<number | undefined> {
  return health(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET') throw error;
    return health(port);
  });
}

// Closing a listening socket makes the kernel reset connections that wait to be accepted, so allow one retry.
test('requests succeed at the second try at most while certificates are renewed in a row', async (t) => {
  const { server, put, reload } = await serveTls(t);
  let answered = 0;
  const ask = async (): Promise<void> => {
    assert.equal(await healthAtSecondTry(server.port), 200);
    answered++;
  };
  for (let round = 0; round < 20; round++) {
    put(round % 2 === 0 ? 'new' : 'old');
    const asked = Array.from({ length: 8 }, ask);
    await reload();
    await Promise.all([...asked, ...Array.from({ length: 8 }, ask)]);
  }
  assert.equal(answered, 320);
});

test('an unusable certificate is refused and the current one stays in use', async (t) => {
  const { server, files, put, reload } = await serveTls(t);
  writeFileSync(files.tls_cert, 'not a certificate');
  await assert.rejects(reload(), ConfigError);
  assert.equal(await shownName(server.port), 'old.example');
  put('new');
  await reload();
  assert.equal(await shownName(server.port), 'new.example');
});

test('new origins apply from the next request', async (t) => {
  const { server } = await serve(t);
  const allowed = async () => {
    const response = await fetch(`${server.url}/healthz`, { headers: { origin: 'https://a.example' } });
    return response.headers.get('access-control-allow-origin');
  };
  assert.equal(await allowed(), '*');
  await server.reload({ tls_cert: '', tls_key: '', cors_origins: ['https://a.example'] });
  assert.equal(await allowed(), 'https://a.example');
  await server.reload({ tls_cert: '', tls_key: '', cors_origins: ['https://b.example'] });
  assert.equal(await allowed(), null);
});
