/** Deliveries go to the public internet only, whatever a name resolves to. */
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Sender } from '../../src/hooks/sender.ts';
import { checkedLookup, isPublicAddress, parseTarget } from '../../src/hooks/target.ts';
import { HookReceiver } from '../support/runs/hook-receiver.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const messageTo = (url: string) => ({ hook: 1, id: 'evt_1', url, secrets: [SECRET], body: '{}' });

function sender(context: TestContext, allowPrivate: boolean): Sender {
  const made = new Sender({ allowPrivate, timeoutMs: 2_000 });
  context.after(() => made.close());
  return made;
}

test('addresses of this machine and of private networks are not public', () => {
  const privates =
    '127.0.0.1 127.8.8.8 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 ' +
    '198.18.0.1 224.0.0.1 255.255.255.255 ::1 :: ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 fe80::1 ' +
    'fc00::1 fd12::1 ff02::1 2001:db8::1 2002:7f00:1:: 2001::1 localhost';
  for (const address of privates.split(' ')) assert.equal(isPublicAddress(address), false, address);
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::200e'])
    assert.equal(isPublicAddress(address), true, address);
});

test('URLs of other schemes, and private addresses however they are written, are refused', () => {
  const refused = [
    'ftp://example.org/',
    'file:///etc/passwd',
    'not a url',
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::1]:80/',
    'http://[::ffff:10.0.0.1]/',
  ];
  for (const url of refused) assert.equal(typeof parseTarget(url, false), 'string', url);
  assert.equal(typeof parseTarget('https://example.org/hook', false), 'object');
  assert.equal(typeof parseTarget('http://127.0.0.1/', true), 'object');
});

/** Resolves a name with these addresses. */
function resolving(addresses: LookupAddress[], allowPrivate: boolean): Promise<LookupAddress[]> {
  const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
  type Callback = (error: null, addresses: LookupAddress[]) => void;
  const fake = (_host: string, _options: object, callback: Callback) => callback(null, addresses);
  const lookup = checkedLookup(allowPrivate, fake as Parameters<typeof checkedLookup>[1]);
  lookup('name.example', { all: true }, (error, found) => {
    if (error) reject(error);
    else resolve(found as LookupAddress[]);
  });
  return promise;
}

test('a name is refused if any of its addresses is private', async () => {
  const good = { address: '8.8.8.8', family: 4 };
  const bad = { address: '10.0.0.1', family: 4 };
  assert.deepEqual(await resolving([good], false), [good]);
  await assert.rejects(resolving([good, bad], false), /name.example is not on the public internet/);
  assert.deepEqual(await resolving([bad], true), [bad]);
});

test('a name that resolves to this machine is not connected to', async (context) => {
  const receiver = await HookReceiver.start(context);
  const url = receiver.url.replace('127.0.0.1', 'localhost');
  const outcome = await sender(context, false).send(messageTo(url));
  assert.equal(outcome.kind, 'failed');
  assert.match(JSON.stringify(outcome), /localhost is not on the public internet; set hooks.allow_private/);
  assert.equal(receiver.bodies.length, 0);
  assert.deepEqual(await sender(context, true).send(messageTo(url)), { kind: 'accepted' });
});

test('reports an untrusted certificate with its reason, and sends nothing', async (context) => {
  const file = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url));
  let requests = 0;
  const server = createServer(
    { cert: file('new-cert.pem'), key: file('new-key.pem') },
    (_request, response) => {
      requests++;
      response.end();
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const outcome = await sender(context, true).send(messageTo(`https://127.0.0.1:${port}/secret-path`));
  assert.match(JSON.stringify(outcome), /"failed".*(SELF_SIGNED|CERT)/);
  assert.ok(!JSON.stringify(outcome).includes('secret-path'));
  assert.equal(requests, 0);
});

test('an endless response is read only as far as needed', async (context) => {
  const receiver = await HookReceiver.start(context);
  let closed = false;
  receiver.behave = (response) => {
    response.on('close', () => {
      closed = true;
    });
    response.writeHead(200);
    const write = (): void => {
      while (!closed && response.write(Buffer.alloc(16_384))); // until the connection is full
      if (!closed) response.once('drain', write);
    };
    write();
  };
  assert.deepEqual(await sender(context, true).send(messageTo(receiver.url)), { kind: 'accepted' });
  const deadline = performance.now() + 5_000;
  while (!closed && performance.now() < deadline) await new Promise(setImmediate);
  assert.ok(closed);
});
