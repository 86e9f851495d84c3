import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import {
  AdminAuth,
  AdminThrottle,
  clientNetworkOf,
  SESSION_SECONDS,
  TooManyFailures,
} from '../../../src/server/admin/auth.ts';
import { loadAssets } from '../../../src/server/pages/assets.ts';
import { operate, TOKEN } from '../operating.ts';
import { errorOf, serve } from '../serving.ts';

const PATHS = ['/admin', '/admin/api/keys', '/admin/api/session'];

/** Signs in as the panel does. */
function signInAt(url: string, token: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/admin/api/session`, {
    method: 'POST',
    headers: { 'X-Atlas-Panel': '1', ...headers },
    body: JSON.stringify({ token }),
  });
}

test('without an operator token the panel is off', async (t) => {
  const { fetch } = await serve(t);
  const files = [...(await loadAssets()).keys()].filter((name) => name.startsWith('admin/'));
  assert.ok(files.length >= 3);
  for (const path of [...PATHS, ...files.map((name) => `/${name}`)])
    assert.equal((await fetch(path)).status, 404, path);
});

test('every route except the session routes requires the operator', async (t) => {
  const { fetch, key, server } = await operate(t);
  for (const path of ['keys', 'usage', 'index', 'sockets', 'config']) {
    const response = await fetch(`/admin/api/${path}`);
    assert.equal(response.status, 401, path);
    assert.equal((await errorOf(response)).error.code, 'not_signed_in');
  }
  for (const path of ['keys', 'keys/1/revoke', 'keys/1/rotate']) {
    assert.equal((await fetch(`/admin/api/${path}`, { method: 'POST', body: '{}' })).status, 401, path);
  }
  const session = await fetch('/admin/api/session');
  assert.deepEqual(await session.json(), { signedIn: false });
  const withKey = await globalThis.fetch(`${server.url}/admin/api/keys`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  assert.equal(withKey.status, 401, 'an API key is no operator token');
});

test('a session needs its cookie and the header that other sites cannot send', async (t) => {
  const { server } = await operate(t);
  const url = `${server.url}/admin/api`;
  const signIn = await signInAt(server.url, TOKEN);
  assert.equal(signIn.status, 200);
  const setCookie = signIn.headers.get('set-cookie') ?? '';
  assert.match(setCookie, /^atlas_admin_[0-9a-f]{12}=[\w-]{43}; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  const cookie = setCookie.split(';')[0] ?? '';
  const keys = (headers: Record<string, string>) =>
    fetch(`${url}/keys`, { headers }).then(({ status }) => status);

  assert.equal(await keys({ cookie, 'X-Atlas-Panel': '1' }), 200);
  assert.equal(await keys({ cookie: `a=b; ${cookie}; c=d`, 'X-Atlas-Panel': '1' }), 200);
  assert.equal(await keys({ cookie }), 401, 'forged by another site');
  assert.equal(await keys({ 'X-Atlas-Panel': '1' }), 401);
  assert.equal(await keys({ cookie: `${cookie}x`, 'X-Atlas-Panel': '1' }), 401);

  const signOut = await fetch(`${url}/session`, { method: 'DELETE', headers: { cookie } });
  assert.match(signOut.headers.get('set-cookie') ?? '', /^atlas_admin_[0-9a-f]{12}=; .*Max-Age=0/);
  assert.equal(await keys({ cookie, 'X-Atlas-Panel': '1' }), 401, 'signed out');
});

test('signing in to another daemon on the same host keeps the first session', () => {
  const [one, other] = [new AdminAuth('secret'), new AdminAuth('secret')];
  const jar = new Map<string, string>(); // browsers do not separate cookies by port
  for (const auth of [one, other]) {
    const [name = '', value = ''] = auth.signIn('secret', 'a', false).split(';')[0]?.split('=') ?? [];
    jar.set(name, value);
  }
  const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
  for (const auth of [one, other]) assert.ok(auth.isSignedIn({ cookie, csrfHeader: '1' }));
});

test('behind a TLS proxy the cookie is Secure', async (t) => {
  const { server } = await operate(t);
  const response = await signInAt(server.url, TOKEN, { 'X-Forwarded-Proto': 'https' });
  assert.match(response.headers.get('set-cookie') ?? '', /; Secure$/);
});

test('requests and preflights of other origins are refused', async (t) => {
  const { server } = await operate(t);
  const preflight = await fetch(`${server.url}/admin/api/keys`, {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://evil.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-atlas-panel',
    },
  });
  assert.equal(preflight.status, 404);
  const answer = await fetch(`${server.url}/admin/api/keys`, { headers: { Origin: 'https://evil.example' } });
  for (const { headers } of [preflight, answer]) {
    assert.equal(headers.get('access-control-allow-origin'), null);
  }
});

test('after ten wrong tokens in a minute even the right token must wait', async (t) => {
  const { server, operate: ask } = await operate(t);
  const attempt = (token: string) => signInAt(server.url, token);
  for (let i = 0; i < 10; i++) {
    const response = await attempt(`guess ${i}`);
    assert.equal(response.status, 401);
    assert.equal((await errorOf(response)).error.code, 'wrong_token');
  }
  for (const response of [await attempt('guess'), await attempt(TOKEN), await ask('/keys')]) {
    assert.equal(response.status, 429);
    const { error, retryAfter } = await errorOf(response);
    assert.equal(error.code, 'too_many_failures');
    assert.ok(retryAfter !== undefined && retryAfter > 50 && retryAfter <= 60, String(retryAfter));
    assert.equal(response.headers.get('retry-after'), String(retryAfter));
  }
});

test('requests that another site can forge never count as wrong tokens', async (t) => {
  const { server } = await operate(t);
  const url = `${server.url}/admin/api`;
  const post = (path: string, type: string) =>
    fetch(url + path, { method: 'POST', headers: { 'Content-Type': type }, body: '{"token":"guess"}' });
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/json',
  ]) {
    for (let i = 0; i < 4; i++) {
      const forged = await post('/session', type);
      assert.equal(forged.status, 403, type);
      assert.equal((await errorOf(forged)).error.code, 'not_the_panel');
      assert.equal((await post('/keys', type)).status, 401);
      assert.equal(
        (await fetch(`${url}/keys?token=guess`, { headers: { cookie: 'atlas_admin=guess' } })).status,
        401,
      );
    }
  }
  assert.equal((await signInAt(server.url, TOKEN)).status, 200);
});

test('a chunked body is not read and the connection closes', async (t) => {
  const { server } = await operate(t);
  const { port, hostname } = new URL(server.url);
  for (const path of ['session', 'keys', 'keys/1/revoke']) {
    const socket = connect(Number(port), hostname);
    socket.write(`POST /admin/api/${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n000`);
    assert.match(await text(socket), /^HTTP\/1\.1 411 [\s\S]*"length_required"/, path);
  }
});

test('a lockout lasts one minute, affects one address and spares open sessions', () => {
  let now = 0;
  const auth = new AdminAuth('secret', () => now);
  const session = auth.signIn('secret', 'a', false).split(';')[0] ?? '';
  const authorize = (authorization: string, clientNetwork: string, cookie = '') =>
    auth.authorize({ authorization, clientNetwork, cookie, csrfHeader: cookie === '' ? '' : '1' });
  for (let i = 0; i < 10; i++) {
    now = i * 1000;
    assert.throws(() => authorize('Bearer wrong', 'a'), { code: 'wrong_token' });
  }
  assert.throws(() => authorize('Bearer secret', 'a'), TooManyFailures);
  authorize('Bearer secret', 'b');
  authorize('', 'a', session);
  now = 60_000;
  authorize('Bearer secret', 'a');
  assert.throws(() => authorize('Bearer wrong', 'a'), { code: 'wrong_token' });
  assert.throws(
    () => authorize('Bearer wrong', 'a'),
    TooManyFailures,
    'nine of the last minute and this one',
  );
});

test('a session expires', () => {
  let now = 0;
  const auth = new AdminAuth('secret', () => now);
  const cookie = auth.signIn('secret', 'a', false).split(';')[0] ?? '';
  const authorize = () => auth.authorize({ authorization: '', cookie, csrfHeader: '1', clientNetwork: 'a' });
  now = SESSION_SECONDS * 1000 - 1;
  authorize();
  now++;
  assert.throws(authorize, { code: 'not_signed_in' });
});

test('beyond a hundred sessions the oldest end', () => {
  const auth = new AdminAuth('secret', () => 0);
  const cookies = Array.from({ length: 102 }, () => auth.signIn('secret', 'a', false).split(';')[0] ?? '');
  const valid = cookies.map((cookie) => auth.isSignedIn({ cookie, csrfHeader: '1' }));
  assert.deepEqual(valid, [false, false, ...Array(100).fill(true)]);
});

test('failures are recorded for a bounded number of networks', () => {
  const throttle = new AdminThrottle(() => 0);
  for (let i = 0; i < 10; i++) throttle.recordFailure('first');
  for (let i = 0; i < 9_999; i++) throttle.recordFailure(`other ${i}`);
  assert.equal(throttle.retryAfterSeconds('first'), 60);
  throttle.recordFailure('one more');
  assert.equal(throttle.retryAfterSeconds('first'), 0);
});

test('an IPv6 /64 network counts as one address, an IPv4 address as itself in every notation', () => {
  const v6 = (tail: number) => Uint8Array.from([0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, tail]);
  assert.equal(clientNetworkOf(v6(1)), '2001:db8:0:1::/64');
  assert.equal(clientNetworkOf(v6(2)), clientNetworkOf(v6(1)));
  const v4 = Uint8Array.from([192, 0, 2, 1]);
  const mapped = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]);
  assert.equal(clientNetworkOf(v4), '192.0.2.1');
  assert.equal(clientNetworkOf(mapped), clientNetworkOf(v4));
  assert.notEqual(clientNetworkOf(Uint8Array.from([192, 0, 2, 2])), clientNetworkOf(v4));
});
