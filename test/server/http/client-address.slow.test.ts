/** Which client the throttle of operator tokens counts, with and without proxies. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { parseAddress } from '../../../src/server/http/client-address.ts';
import { operate } from '../operating.ts';

test('addresses are read in every notation', () => {
  assert.deepEqual(parseAddress('192.0.2.7'), Uint8Array.of(192, 0, 2, 7));
  assert.deepEqual(
    parseAddress('2001:db8::1'),
    Uint8Array.from([0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1]),
  );
  assert.deepEqual(parseAddress('::'), new Uint8Array(16));
  assert.deepEqual(parseAddress('::ffff:192.0.2.7')?.subarray(10), Uint8Array.of(255, 255, 192, 0, 2, 7));
  for (const nonsense of ['', 'unknown', '1.2.3', 'fe80::1%eth0', '[::1]', '1.2.3.4:80']) {
    assert.equal(parseAddress(nonsense), null, nonsense);
  }
});

for (const [proxies, forwarded, counted] of [
  [[], '203.0.113.9', '127.0.0.1'],
  [['10.0.0.0/8'], '203.0.113.9', '127.0.0.1'],
  [['127.0.0.0/8'], '203.0.113.9', '203.0.113.9'],
  [['127.0.0.1'], '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  [['127.0.0.1', '203.0.113.0/24'], '198.51.100.1, 203.0.113.9', '198.51.100.1'],
  [['127.0.0.1'], '2001:db8::7', '2001:db8:0:0::/64'],
  [['127.0.0.1'], 'unknown', '127.0.0.1'],
  [['127.0.0.1'], '', '127.0.0.1'],
] as const) {
  test(`with the proxies [${proxies}] and X-Forwarded-For "${forwarded}", ${counted} counts`, async (t) => {
    const { server, logs } = await operate(t, { settings: { trusted_proxies: proxies } });
    const response = await fetch(`${server.url}/admin/api/keys`, {
      headers: { Authorization: 'Bearer wrong', ...(forwarded !== '' && { 'X-Forwarded-For': forwarded }) },
    });
    assert.equal(response.status, 401);
    assert.equal(countedIn(logs), counted);
  });
}

for (const [proxies, counted] of [
  [['127.0.0.1'], '203.0.113.9'],
  [[], '127.0.0.1'],
] as const) {
  test(`the PROXY protocol counts from the proxies [${proxies}] as ${counted}`, async (t) => {
    const { server, logs } = await operate(t, { settings: { trusted_proxies: proxies } });
    const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
    const addresses = Buffer.from([203, 0, 113, 9, 127, 0, 0, 1, 0x30, 0x39, 0x1f, 0x90]);
    const preface = Buffer.concat([signature, Buffer.from([0x21, 0x11, 0, addresses.length]), addresses]);
    assert.match(await rawAnswer(server.port, preface, []), /^HTTP\/1.1 401/);
    assert.equal(countedIn(logs), counted);
  });
}

test('of several X-Forwarded-For headers the last one counts, which the proxy added', async (t) => {
  const { server, logs } = await operate(t, { settings: { trusted_proxies: ['127.0.0.1'] } });
  const headers = ['X-Forwarded-For: 198.51.100.1', 'X-Forwarded-For: 203.0.113.9'];
  assert.match(await rawAnswer(server.port, Buffer.alloc(0), headers), /^HTTP\/1.1 401/);
  assert.equal(countedIn(logs), '203.0.113.9');
});

/** Sends a wrong token, with bytes in front of the request and raw headers. */
function rawAnswer(port: number, preface: Buffer, headers: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const lines = [
    'GET /admin/api/keys HTTP/1.1',
    'Host: a',
    'Authorization: Bearer wrong',
    'Connection: close',
  ];
  socket.write(Buffer.concat([preface, Buffer.from([...lines, ...headers, '', ''].join('\r\n'))]));
  socket.setTimeout(2_000, () => socket.end());
  return text(socket);
}

/** The client that the log blames for a wrong token. */
function countedIn(logs: readonly string[]): unknown {
  return JSON.parse(logs.find((one) => one.includes('wrong operator token')) ?? '{}').from;
}
