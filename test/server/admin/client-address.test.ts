/** Whom the throttle of operator tokens counts, in front of and behind proxies. */
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
    const line = logs.find((one) => one.includes('wrong operator token'));
    assert.equal(JSON.parse(line ?? '{}').from, counted);
  });
}

for (const [proxies, counted] of [
  [['127.0.0.1'], '203.0.113.9'],
  [[], '127.0.0.1'],
] as const) {
  test(`the PROXY protocol counts from the proxies [${proxies}] as ${counted}`, async (t) => {
    const { server, logs } = await operate(t, { settings: { trusted_proxies: proxies } });
    const socket = connect(server.port, '127.0.0.1');
    const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
    const addresses = Buffer.from([203, 0, 113, 9, 127, 0, 0, 1, 0x30, 0x39, 0x1f, 0x90]);
    socket.write(Buffer.concat([signature, Buffer.from([0x21, 0x11, 0, addresses.length]), addresses]));
    socket.write(
      'GET /admin/api/keys HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\nConnection: close\r\n\r\n',
    );
    socket.setTimeout(2_000, () => socket.end());
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1.1 401/, answer);
    assert.equal(JSON.parse(logs.find((one) => one.includes('wrong operator token')) ?? '{}').from, counted);
  });
}
