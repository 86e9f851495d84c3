/** JSON-RPC over TLS: https and wss on one port of a daemon, whose certificate is renewed by SIGHUP. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { startAnvil } from '../../src/dev/anvil.ts';
import { LAUNCHER, readyUrl, run, start } from '../support/daemon/command.ts';
import { freePort } from '../support/free-port.ts';
import { tempDir } from '../support/temp-dir.ts';
import { WAIT_TIMEOUT_MS, waitFor } from '../support/wait.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/tls/', import.meta.url));
const CALL = '{"jsonrpc":"2.0","id":"x","method":"eth_chainId"}';
const ANSWER = '{"jsonrpc":"2.0","id":"x","result":"0x7a69"}';

/** A daemon with the certificate of `old.example`, in front of a real chain. */
async function startDaemon(t: TestContext) {
  const anvil = await startAnvil();
  t.after(() => anvil.stop());
  const dir = tempDir(t);
  const tlsDir = tempDir(t); // a new data folder must be empty
  const files = { cert: join(tlsDir, 'cert.pem'), key: join(tlsDir, 'key.pem') };
  const put = (name: 'old' | 'new') => {
    copyFileSync(join(FIXTURES, `${name}-cert.pem`), files.cert);
    copyFileSync(join(FIXTURES, `${name}-key.pem`), files.key);
  };
  put('old');
  const create = ['keys', 'create', '--name', 'x', '--tier', 'unlimited', '--json', '--data-dir', dir];
  const { key } = JSON.parse((await run(t, [LAUNCHER, ...create], { cwd: dir })).stdout) as { key: string };
  const port = await freePort();
  const flags = ['--data-dir', dir, '--node-http', anvil.url, '--port', String(port)];
  const running = start(t, [LAUNCHER, 'start', ...flags], {
    cwd: dir,
    env: { ATLAS_SERVER__TLS_CERT: files.cert, ATLAS_SERVER__TLS_KEY: files.key },
  });
  assert.equal(await readyUrl(running), `https://127.0.0.1:${port}`);
  return { port, key, put, hangUp: () => running.child.kill('SIGHUP') };
}

/** The certificate of a new connection, and the answer to a call over it. */
function overHttps(port: number, key: string): Promise<{ name: string; answer: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-API-Key': key, 'Content-Length': CALL.length };
    const options = { port, host: '127.0.0.1', path: '/rpc', method: 'POST', agent: false as const, headers };
    request({ ...options, rejectUnauthorized: false }, (response) => {
      assert.ok(response.socket instanceof TLSSocket);
      const name = String(response.socket.getPeerCertificate().subject.CN);
      let answer = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        answer += text;
      });
      response.on('end', () => resolve({ name, answer }));
    })
      .on('error', reject)
      .end(CALL);
  });
}

/** Makes the test fail instead of hang. */
const soon = () => ({ signal: AbortSignal.timeout(WAIT_TIMEOUT_MS) });

async function openWss(t: TestContext, port: number, key: string): Promise<WebSocket> {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/ws?api_key=${key}`, { rejectUnauthorized: false });
  t.after(() => socket.terminate());
  await once(socket, 'open', soon());
  return socket;
}

async function overWss(socket: WebSocket): Promise<string> {
  const message = once(socket, 'message', soon());
  socket.send(CALL);
  return String((await message)[0]);
}

test('https and wss share a port; after SIGHUP the new certificate is used and connections continue', async (t) => {
  const { port, key, put, hangUp } = await startDaemon(t);
  assert.deepEqual(await overHttps(port, key), { name: 'old.example', answer: ANSWER });
  const socket = await openWss(t, port, key);
  assert.equal(await overWss(socket), ANSWER);

  put('new');
  hangUp();
  await waitFor(async () => (await overHttps(port, key)).name === 'new.example', {
    what: 'the new certificate',
  });
  assert.deepEqual(await overHttps(port, key), { name: 'new.example', answer: ANSWER });
  assert.equal(await overWss(socket), ANSWER);
  assert.equal(await overWss(await openWss(t, port, key)), ANSWER);
});
