/** Receivers that break HTTP, or the connection, at any moment: each fails its own message and nothing else. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { retryAfterMs, Sender, type SendOutcome } from '../../src/hooks/sender.ts';
import { type Cleanup, nestedCleanup } from '../support/cleanup.ts';
import { answers, HookReceiver } from '../support/runs/hook-receiver.ts';
import { waitFor } from '../support/wait.ts';
import { HookWorld } from './hook-world.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OUT = { filter: { events: ['wallet_native_out'] } };
const head = (status: number, ...fields: string[]) =>
  `HTTP/1.1 ${[`${status} Status`, ...fields].join('\r\n')}\r\n\r\n`;
const EMPTY = 'Content-Length: 0';

/** Answers before it has read the body; the connection can be kept. Then reads what is there, and closes. */
const earlyAnswer = (socket: Socket): void => {
  socket.pause();
  socket.write(head(401, EMPTY));
  setTimeout(() => {
    socket.resume();
    setImmediate(() => socket.destroy());
  }, 10);
};

const PEERS: Record<string, (socket: Socket, server: Server) => void> = {
  'answers early and keeps': earlyAnswer,
  'answers early and closes': (socket) =>
    void socket.pause().write(head(413, EMPTY, 'Connection: close'), () => socket.destroy()),
  'answers early and resets': (socket) =>
    void socket.pause().write(head(404, EMPTY), () => socket.resetAndDestroy()),
  'closes at once': (socket) => void socket.destroy(),
  'resets at once': (socket) => void socket.resetAndDestroy(),
  'resets within the body': (socket) => void socket.once('data', () => socket.resetAndDestroy()),
  'sends garbage': (socket) => void socket.write('\0\0SSH-2.0-OpenSSH_9.6\r\n'),
  'sends half a head': (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Le', () => socket.end()),
  'sends an endless head': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const write = (): void => void (socket.writable && socket.write(`X: ${'x'.repeat(8_000)}\r\n`, write));
    write();
  },
  'switches protocols': (socket) => void socket.write(head(101, 'Upgrade: x', 'Connection: Upgrade')),
  'sends only 100 Continue': (socket) => {
    const timer = setInterval(() => socket.write(head(100)), 5);
    socket.on('close', () => clearInterval(timer));
  },
  'never answers': () => undefined,
  'resets within its body': (socket) =>
    void socket.write(`${head(500, 'Content-Length: 100')}x`, () => socket.resetAndDestroy()),
  'sends a wrong length': (socket) => void socket.write(`${head(500, 'Content-Length: 1')}xxxx`),
  'sends two lengths': (socket) => void socket.write(head(200, 'Content-Length: 1', 'Content-Length: 2')),
};

async function startPeer(cleanup: Cleanup, behave: (socket: Socket, server: Server) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    behave(socket, server);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
}

/** An error without a listener fails the test, because the runner reports it. */
for (const [name, behave] of Object.entries(PEERS)) {
  test(`a receiver that ${name} fails its message, each time`, async (context) => {
    const cleanup = nestedCleanup(context);
    const url = await startPeer(cleanup, behave);
    const sender = new Sender({ allowPrivate: true, timeoutMs: 300 });
    cleanup.after(() => sender.close());
    for (const size of [10, 100_000, 20_000_000]) {
      const message = { hook: 1, id: 'evt_1', url, secrets: [SECRET], body: 'x'.repeat(size) };
      const outcome = await sender.send(message);
      assert.equal(outcome.kind, 'failed', JSON.stringify(outcome));
      assert.ok(!JSON.stringify(outcome).includes('secret-path'));
    }
  });
}

test('a connection has a listener for errors during its whole life', async (context) => {
  const cleanup = nestedCleanup(context);
  const receiver = await HookReceiver.start(cleanup);
  const created: Socket[] = [];
  const { Socket: NetSocket } = await import('node:net');
  const { connect } = NetSocket.prototype;
  context.mock.method(NetSocket.prototype, 'connect', function spy(this: Socket, ...args: unknown[]) {
    created.push(this);
    return Reflect.apply(connect, this, args);
  });
  const sender = new Sender({ allowPrivate: true });
  cleanup.after(() => sender.close());
  const message = { hook: 1, id: 'evt_1', url: receiver.url, secrets: [SECRET], body: '{}' };
  assert.deepEqual(await sender.send(message), { kind: 'accepted' });
  const [socket] = created;
  assert.ok(socket !== undefined);
  socket.emit('error', new Error('write EPIPE')); // between two requests
  socket.emit('error', new Error('write EPIPE'));
});

test('a failed TLS handshake and an unknown name fail their message', async (context) => {
  const cleanup = nestedCleanup(context);
  const file = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url));
  const tls = createTlsServer({ cert: file('new-cert.pem'), key: file('new-key.pem') }).listen(
    0,
    '127.0.0.1',
  );
  await once(tls, 'listening');
  cleanup.after(() => void tls.close());
  const plain = await startPeer(cleanup, PEERS['sends garbage']!);
  const sender = new Sender({ allowPrivate: true, timeoutMs: 2_000 });
  cleanup.after(() => sender.close());
  const send = (url: string) => sender.send({ hook: 1, id: 'evt_1', url, secrets: [SECRET], body: '{}' });
  const urls = [
    `https://127.0.0.1:${(tls.address() as AddressInfo).port}/`,
    plain.replace('http:', 'https:'),
    'http://receiver.invalid/',
    'https://receiver.invalid/',
  ];
  for (const url of urls) assert.equal((await send(url)).kind, 'failed', url);
});

test('receivers that answer early and close delay no other hook', async (context) => {
  const cleanup = nestedCleanup(context);
  const world = new HookWorld(cleanup);
  const receiver = await HookReceiver.start(cleanup);
  const early = await startPeer(cleanup, earlyAnswer);
  for (let i = 0; i < 5; i++) world.hook(early, OUT);
  world.hook(receiver.url, OUT);
  world.start();
  for (let block = 1; block <= 20; block++) {
    world.pay(1, { payments: 90 });
    world.store.db.exec('UPDATE hooks SET next_attempt_at = NULL');
    world.wake();
    await waitFor(() => receiver.events.length >= block * 90, { what: `block ${block}`, everyMs: 5 });
  }
  for (const hook of world.store.list().slice(0, 5))
    assert.match(hook.lastError ?? '', /401|closed the conn/);
});

test('a hook waits neither for the connection nor for the answer of another to the same host', async (context) => {
  const cleanup = nestedCleanup(context);
  const receiver = await HookReceiver.start(cleanup);
  const world = new HookWorld(cleanup);
  const held: (() => void)[] = [];
  receiver.behave = (response, request) => {
    if (request.url === '/slow') {
      held.push(() => answers(200)(response, request));
      return;
    }
    receiver.events.push(...JSON.parse(receiver.bodies.at(-1)!).deliveries);
    answers(200)(response, request);
  };
  const host = new URL(receiver.url).origin;
  const slow = [1, 2, 3].map(() => world.hook(`${host}/slow`, OUT));
  const fast = world.hook(`${host}/fast`, OUT);
  world.start();
  world.pay(1);
  await waitFor(() => held.length === slow.length, { what: 'the slow requests', everyMs: 5 });
  for (let block = 2; block <= 5; block++) {
    world.pay(1);
    await waitFor(() => receiver.events.length >= block, { what: `block ${block}`, everyMs: 5 });
  }
  assert.equal(world.store.get(fast.id).failures, 0);
  for (const { id } of slow) assert.equal(world.store.get(id).delivered, 0, 'it was answered');
  for (const answer of held) answer();
});

test('the deadline of a message begins when it goes out, not while it waits for its connection', async (context) => {
  const cleanup = nestedCleanup(context);
  const receiver = await HookReceiver.start(cleanup);
  receiver.behave = (response) => setTimeout(() => response.writeHead(200).end(), 350);
  const sender = new Sender({ allowPrivate: true, timeoutMs: 1_000 });
  cleanup.after(() => sender.close());
  const message = { hook: 1, id: 'evt_1', url: receiver.url, secrets: [SECRET], body: '{}' };
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => sender.send(message)));
  assert.deepEqual(outcomes, Array<SendOutcome>(5).fill({ kind: 'accepted' }));
});

test('a Retry-After is a number of seconds or a date of HTTP', () => {
  const now = Date.UTC(2026, 0, 1);
  const delays: [value: string | undefined, seconds: number][] = [
    ['60', 60],
    [' 60 ', 60],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60],
    ['Thu Jan  1 00:01:00 2026', 60],
    ['Thu, 01 Jan 2026 09:00:00 GMT', 900],
    ['99999999999999999999', 900],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['0', 0],
    ['-5', 0],
    ['1e3', 0],
    ['soon', 0],
    ['', 0],
    [undefined, 0],
  ];
  for (const [value, seconds] of delays) assert.equal(retryAfterMs(value, now), seconds * 1000, value);
});
