/** Bodies and messages of extreme depth, width and length, to every face of a real daemon that takes any. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { WebSocket } from 'ws';
import { PUBLIC_KEY } from '../../src/access/key.ts';
import { TOKEN } from '../server/operating.ts';
import { type Cleanup, nestedCleanup } from '../support/cleanup.ts';
import { bounded, type DaemonProcess, startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { rpcBodies, type Shape, shapes } from '../support/fuzz/shapes.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { WAIT_TIMEOUT_MS, waitFor } from '../support/wait.ts';

const MAX_MESSAGE = 65_536;
/** Visitors share the unlimited key. */
const PUBLIC = { ATLAS_SERVER__PUBLIC_EXPLORER: 'true', ATLAS_SERVER__PUBLIC_KEY: '1' };
const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface Face {
  path: string;
  headers: Record<string, string>;
  maxBytes: number;
  bodies: (shape: Shape) => Shape[];
}

/** A value alone, as a member that the face knows, and in a list of them. */
const members =
  (...names: string[]) =>
  ({ name, value }: Shape): Shape[] => [
    { name, value },
    ...names.flatMap((member) => [
      { name: `${name} as ${member}`, value: `{${JSON.stringify(member)}:${value}}` },
      { name: `${name} in a list of ${member}`, value: `{${JSON.stringify(member)}:[${value}]}` },
    ]),
  ];

/** Every face that takes a body, with the key in `headers`. */
function faces(headers: Record<string, string>): Face[] {
  return [
    {
      path: '/rpc',
      headers,
      maxBytes: 2_000_000,
      bodies: (shape) => rpcBodies('eth_call', shape).slice(0, 2),
    },
    { path: '/rpc', headers, maxBytes: 65_000, bodies: (shape) => rpcBodies('eth_getLogs', shape) },
    { path: '/mcp', headers, maxBytes: 65_000, bodies: (shape) => rpcBodies('tools/call', shape) },
    { path: '/mcp', headers, maxBytes: 65_000, bodies: (shape) => rpcBodies('resources/read', shape) },
    { path: '/api/wallets/batch', headers, maxBytes: 65_000, bodies: members('addresses') },
  ];
}

function adminFaces(headers: Record<string, string>): Face[] {
  const face = (path: string, maxBytes: number, ...names: string[]): Face => ({
    path: `/admin/api${path}`,
    headers,
    maxBytes,
    bodies: members(...names),
  });
  return [
    face('/session', 4_000, 'token'),
    face('/keys', 4_000, 'name', 'tier', 'allow', 'expiresAt'),
    face('/keys/1', 4_000, 'name', 'tier', 'allow'),
    face('/keys/999/rotate', 4_000),
    face('/hooks', 128_000, 'url', 'filter', 'events', 'wallets'),
    face('/hooks/1/pause', 4_000),
    face('/sockets/1/close', 4_000),
  ];
}

/** Sends every body. Each must be answered, and none with the error for a defect. */
async function postAll(daemon: DaemonProcess, { path, headers, maxBytes, bodies }: Face): Promise<number> {
  const all = shapes(maxBytes)
    .flatMap(bodies)
    .filter(({ value }) => value.length <= maxBytes);
  const next = all.values();
  const work = async (): Promise<void> => {
    for (const { name, value } of next) {
      const answer = await fetch(daemon.url + path, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...headers },
        body: value,
        signal: AbortSignal.timeout(WAIT_TIMEOUT_MS),
      }).catch((error: unknown) => assert.fail(`${path}: ${name}: ${error}; ${daemon.stderr().slice(-800)}`));
      const text = await answer.text();
      assert.notEqual(answer.status, 500, `${path}: ${name}: ${text.slice(0, 300)}`);
      assert.doesNotMatch(text, /"code":-32603,"message":"(internal|Maximum)/i, `${path}: ${name}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return all.length;
}

/** Sends every message. Each must be answered, or the socket closed with a reason. */
async function sayAll(daemon: DaemonProcess, path: string, key: string, messages: Shape[]): Promise<void> {
  let socket: WebSocket | null = null;
  for (const { name, value } of messages) {
    if (socket === null) {
      socket = new WebSocket(`${daemon.url.replace('http', 'ws')}${path}?api_key=${key}`);
      await once(socket, 'open');
    }
    const { promise, resolve } = Promise.withResolvers<{ text: string } | { code: number; reason: string }>();
    const onMessage = (data: WebSocket.RawData) => resolve({ text: data.toString() });
    const onClose = (code: number, reason: Buffer) => resolve({ code, reason: reason.toString() });
    socket.once('message', onMessage).once('close', onClose);
    socket.send(value);
    const timer = setTimeout(() => resolve({ code: 0, reason: '' }), WAIT_TIMEOUT_MS);
    const outcome = await promise;
    clearTimeout(timer);
    socket.off('message', onMessage).off('close', onClose);
    if ('text' in outcome) {
      assert.doesNotMatch(outcome.text, /internal error/, `${path}: ${name}`);
      continue;
    }
    assert.ok(![0, 1006, 1011].includes(outcome.code), `${path}: ${name}: ${JSON.stringify(outcome)}`);
    assert.notEqual(outcome.reason, '', `${path}: ${name}`);
    socket = null;
  }
  socket?.terminate();
}

function messages(path: string): Shape[] {
  const method = path === '/ws' ? 'eth_subscribe' : 'atlas_subscribe';
  return shapes(MAX_MESSAGE + 5_000).flatMap((shape) => [
    ...rpcBodies(method, shape),
    ...['newHeads', 'logs', 'chainLogs', 'wallet_transfers', 'token_transfers'].map((topic) => ({
      name: `${shape.name} as a filter of ${topic}`,
      value: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":["${topic}",${shape.value}]}`,
    })),
  ]);
}

async function start(cleanup: Cleanup, env: Record<string, string>): Promise<DaemonProcess> {
  const node = await startMisbehavingNode({ answer: (method) => (method === 'eth_chainId' ? '0x1' : null) });
  cleanup.after(() => node.close());
  return startDaemonProcess(cleanup, {
    ATLAS_NODE_HTTP: node.url,
    ATLAS_NODE_WS: node.wsUrl,
    ATLAS_ADMIN_TOKEN: TOKEN,
    ATLAS_STREAM__MAX_MESSAGE_BYTES: String(MAX_MESSAGE),
    ...env,
  });
}

/** The daemon has survived, and nothing was caught that somebody should mend. */
async function checkWell(daemon: DaemonProcess): Promise<void> {
  assert.equal(daemon.child.exitCode, null);
  assert.ok((await daemon.answersWithin()) < WAIT_TIMEOUT_MS);
  assert.doesNotMatch(daemon.stderr(), /unexpected|request failed|RangeError/);
}

suite('bodies and messages of any depth, width and length are answered', () => {
  const cases: [string, Record<string, string>, (daemon: DaemonProcess) => Face[]][] = [
    ['with a key', {}, (daemon) => faces({ 'x-api-key': daemon.key })],
    ['without a key', {}, () => faces({})],
    [
      'by visitors of a public explorer',
      PUBLIC,
      () => faces({ 'x-api-key': PUBLIC_KEY }).filter(({ path }) => path !== '/rpc'),
    ],
    [
      'by the operator, and by those who are not',
      {},
      () => [...adminFaces({ authorization: `Bearer ${TOKEN}` }), ...adminFaces({ 'x-atlas-panel': '1' })],
    ],
  ];
  for (const [who, env, facesOf] of cases) {
    test(`bodies ${who}`, async (t) => {
      const daemon = await start(nestedCleanup(t), env);
      await bounded(daemon, `bodies ${who}`, async () => {
        for (const face of facesOf(daemon)) assert.ok((await postAll(daemon, face)) > 10);
      });
      await checkWell(daemon);
    });
  }

  test('messages of sockets', async (t) => {
    const daemon = await start(nestedCleanup(t), PUBLIC);
    await bounded(daemon, 'messages', async () => {
      for (const path of ['/ws', '/ws/signals']) await sayAll(daemon, path, daemon.key, messages(path));
      await sayAll(daemon, '/ws', PUBLIC_KEY, messages('/ws').slice(0, 40));
    });
    await checkWell(daemon);
  });

  test('headers and queries', async (t) => {
    const daemon = await start(nestedCleanup(t), {});
    const names = [
      'x-api-key',
      'if-none-match',
      'accept-encoding',
      'accept',
      'origin',
      'cookie',
      'authorization',
    ];
    const values = ['x', ',', ';q=1,', '%ff', '"', '=&'];
    const paths = ['/', '/docs', '/api/wallet_summary', '/rpc', '/mcp', '/ws', '/admin/api/keys', '/nothing'];
    const ask = async (request: string): Promise<void> => {
      const connection = daemon.dial();
      await connection.send(`${request}\r\n`);
      await waitFor(() => connection.ended || /^HTTP\/1\.1 \d{3}/.test(connection.text), {
        what: `an answer to ${request.slice(0, 80)}`,
      });
      assert.doesNotMatch(connection.text, /^HTTP\/1\.1 500/, request.slice(0, 200));
      connection.socket.destroy();
    };
    await bounded(daemon, 'headers and queries', async () => {
      for (const path of paths) {
        for (const value of values) {
          const long = value.repeat(3_000 / value.length);
          for (const name of names) await ask(`GET ${path} HTTP/1.1\r\nHost: x\r\n${name}: ${long}\r\n`);
          const method = path === '/rpc' || path === '/mcp' ? 'POST' : 'GET';
          const head = `X-API-Key: ${daemon.key}\r\nContent-Length: 0\r\n`;
          for (const query of [
            long,
            `address=${long}`,
            `${long}=1`,
            `address=1&${long}`,
            'a=1&'.repeat(700),
          ]) {
            await ask(`${method} ${path}?${query.replaceAll('"', '%22')} HTTP/1.1\r\nHost: x\r\n${head}`);
          }
        }
      }
    });
    await checkWell(daemon);
  });
});
