/** What an unauthenticated client can do over HTTP, and what it costs: a real daemon, raw sockets, and its memory. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../../src/access/key.ts';
import { nestedCleanup, suiteCleanup } from '../support/cleanup.ts';
import {
  bounded,
  type DaemonProcess,
  type Dialled,
  startDaemonProcess,
} from '../support/daemon/daemon-process.ts';
import { waitFor } from '../support/wait.ts';

const MAX_CONNECTIONS = 300;

/**
 * How long a flood lasts that should be cut off. The library allows ten seconds to send a request or a body, or to read
 * an answer.
 */
const FLOOD_MS = 150_000;

const REFUSED = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Missing or invalid X-API-Key header"}}';

suite('abuse over HTTP', () => {
  const cleanup = suiteCleanup();
  let daemon: DaemonProcess;
  before(async () => {
    daemon = await startDaemonProcess(cleanup, {
      ATLAS_NODE_HTTP: 'http://127.0.0.1:9',
      ATLAS_SERVER__MAX_CONNECTIONS: String(MAX_CONNECTIONS),
    });
  });

  const etagOf = async (path: string) => (await fetch(daemon.url + path)).headers.get('etag');

  test('a client that trickles its headers or body, or sends nothing, is cut off', async () => {
    const withKey = `X-API-Key: ${daemon.key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    const beginnings = [
      '',
      'GET /healthz HT',
      'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      `POST /rpc HTTP/1.1\r\nHost: x\r\n${withKey}`,
      `POST /api/wallets/batch HTTP/1.1\r\nHost: x\r\n${withKey}`,
      'POST /admin/api/session HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n',
    ];
    const slow = beginnings.map((beginning) => {
      const connection = daemon.dial();
      connection.socket.write(beginning);
      return connection;
    });
    const drip = setInterval(() => {
      for (const { socket, ended } of slow.slice(1)) if (!ended) socket.write('a');
    }, 500);
    cleanup.after(() => clearInterval(drip));
    for (const [i, connection] of slow.entries()) {
      await connection.end(`the connection that sends ${JSON.stringify(beginnings[i])}`);
    }
    clearInterval(drip);
  });

  test('headers beyond the library’s limits close the connection', async () => {
    const line = (i: number) => `X-Header-${i}: ${'a'.repeat(20)}\r\n`;
    const heads = [
      `X-Long: ${'a'.repeat(100_000)}\r\n\r\n`,
      `${Array.from({ length: 1_000 }, (_, i) => line(i)).join('')}\r\n`,
    ];
    for (const head of heads) {
      const connection = daemon.dial();
      await connection.send(`GET /healthz HTTP/1.1\r\nHost: x\r\n${head}`);
      await connection.end('a connection with a flood of headers');
      assert.match(connection.text, /^(HTTP\/1\.1 4\d\d |$)/);
    }
    await bounded(daemon, 'headers without end', async () => {
      const flooding = Array.from({ length: 20 }, async () => {
        const connection = daemon.dial();
        await connection.send('GET /healthz HTTP/1.1\r\n');
        await connection.floodWith(line(1).repeat(1_000), FLOOD_MS);
        assert.ok(connection.ended);
      });
      await Promise.all(flooding);
    });
  });

  test('a URL may fill the header limit but not exceed it', async () => {
    const { url, key } = daemon;
    for (const path of ['/', '/nothing', '/api/wallet_summary', '/docs']) {
      const response = await fetch(`${url}${path}?a=${'b'.repeat(2_500)}`, { headers: { 'X-API-Key': key } });
      assert.ok(response.status < 500 || response.status === 503, `${path} gave ${response.status}`);
      const connection = daemon.dial();
      await connection.send(`GET ${path}?a=${'b'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await connection.end(`a connection that asks for ${path} at length`);
      assert.match(connection.text, /^(HTTP\/1\.1 4\d\d |$)/);
    }
  });

  test('an endless body is refused and not buffered', async () => {
    const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    const head = (path: string, key: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const withKey = `X-API-Key: ${daemon.key}\r\n`;
    const cases: [string, string, RegExp][] = [
      ['/rpc', withKey, /^HTTP\/1\.1 413 /],
      ['/rpc', '', /^HTTP\/1\.1 401 /],
      ['/api/wallets/batch', withKey, /^HTTP\/1\.1 413 /],
      ['/api/wallets/batch', '', /^HTTP\/1\.1 401 /],
      ['/healthz', '', /^HTTP\/1\.1 405 /],
    ];
    await bounded(daemon, 'bodies without end', () =>
      Promise.all(
        cases.map(async ([path, key, answer]) => {
          const connection = daemon.dial();
          await connection.send(head(path, key));
          await connection.floodWith(chunk, FLOOD_MS);
          assert.ok(connection.ended, `${path} takes a body without end`);
          // The close may overtake the answer: the system drops unread data when more arrives.
          if (connection.text !== '') assert.match(connection.text, answer, path);
        }),
      ),
    );
  });

  test('a body in tiny chunks is cut off before it delays others', async () => {
    const crumbs = '1\r\n \r\n'.repeat(50_000);
    await bounded(daemon, 'a body in crumbs', async () => {
      const connection = daemon.dial();
      await connection.send(
        `POST /rpc HTTP/1.1\r\nHost: x\r\nX-API-Key: ${daemon.key}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      for (let i = 0; i < 30 && !connection.ended; i++) await connection.send(crumbs);
      await connection.end('the connection that sends crumbs');
      assert.equal(connection.text, '', 'before its body was too large');
    });
  });

  test('a client whose chunked body is not read is cut off, with or without a key', async () => {
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' +
      'dGhlIHNhbXBsZSBub25jZQ==\r\n';
    const asked = [
      ['GET /ws', upgrade],
      ['GET /ws/signals', `${upgrade}X-API-Key: atlas_x\r\n`],
      ['POST /rpc', ''],
      ['POST /api/wallets/batch', ''],
      ['POST /api/wallets/batch', `X-API-Key: ${daemon.key}\r\n`], // refused for its content type
      ['POST /healthz', ''],
      ['POST /nothing', ''],
      ['POST /admin/api/nothing', ''],
      ['GET /healthz', ''],
      ['GET /docs', ''],
      ['HEAD /', ''],
      ['OPTIONS /rpc', ''],
      ['GET /api/wallet_summary', `X-API-Key: ${daemon.key}\r\n`],
    ];
    const crumbs = '1\r\n \r\n'.repeat(50_000);
    for (const [line, headers] of asked) {
      await bounded(daemon, `${line} with crumbs`, async () => {
        const connection = daemon.dial();
        await connection.send(`${line} HTTP/1.1\r\nHost: x\r\n${headers}Transfer-Encoding: chunked\r\n\r\n`);
        await connection.floodWith(crumbs, FLOOD_MS / 10);
        assert.ok(connection.ended, `${line} takes chunks without end`);
      });
    }
  });

  test('the incomplete bodies of a key share a bounded budget, which is released when they end', async () => {
    const head = `POST /rpc HTTP/1.1\r\nHost: x\r\nX-API-Key: ${daemon.key}\r\nContent-Length: 2000000\r\n\r\n`;
    const most = head + ' '.repeat(1_900_000);
    for (const round of [1, 2]) {
      await bounded(daemon, `unfinished bodies, round ${round}`, async () => {
        const open = Array.from({ length: 150 }, () => daemon.dial());
        await Promise.all(open.map((connection) => connection.send(most, 10_000)));
        await waitFor(() => open.filter(({ ended }) => ended).length >= 110, {
          what: 'the end of most of them',
        });
        for (const { socket } of open) socket.write(' '.repeat(100_000));
        const isAnswered = ({ text }: Dialled) => text.includes('parse error');
        await waitFor(() => open.every((one) => one.ended || isAnswered(one)), {
          what: 'an answer to those that were not cut off',
        });
        const answered = open.filter(isAnswered).length;
        assert.ok(answered > 10, `${answered} of ${open.length} were answered`);
        for (const { socket } of open) socket.destroy();
      });
    }
  });

  test('a client that sends requests and never reads is cut off, with or without a key', async () => {
    const { key } = daemon;
    const requests: Record<string, string> = {
      'a small answer': 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
      'a large answer': 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n',
      'a small answer without its body': 'HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
      'a file': 'GET /docs HTTP/1.1\r\nHost: x\r\n\r\n',
      preflights: 'OPTIONS /rpc HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n\r\n',
      'refused calls': 'POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
      'refused reads': 'GET /api/wallet_summary HTTP/1.1\r\nHost: x\r\n\r\n',
      reads: `GET /api/wallet_summary HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`,
    };
    requests['an unchanged file'] =
      `GET /docs HTTP/1.1\r\nHost: x\r\nIf-None-Match: ${await etagOf('/docs')}\r\n\r\n`;
    for (const [what, request] of Object.entries(requests)) {
      await bounded(daemon, `${what} unread`, async () => {
        const connection = daemon.dial();
        connection.socket.pause();
        await connection.floodWith(request.repeat(500), FLOOD_MS);
        assert.ok(connection.ended, `${what}: the connection goes on`);
      });
    }
  });

  test('a pipelining client does not monopolise the daemon', async () => {
    const requests = {
      'without a key': 'GET /rpc HTTP/1.1\r\nHost: x\r\n\r\n',
      'beyond a limit': `GET /api/whale_transfers HTTP/1.1\r\nHost: x\r\nX-API-Key: ${daemon.freeKey}\r\n\r\n`,
      preflights: 'OPTIONS /rpc HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n\r\n',
      'whose answers have no body': `GET /docs HTTP/1.1\r\nHost: x\r\nIf-None-Match: ${await etagOf('/docs')}\r\n\r\n`,
    };
    for (const [what, request] of Object.entries(requests)) {
      await bounded(daemon, `requests ${what}`, async () => {
        const connection = daemon.dial();
        await connection.floodWith(request.repeat(20_000), FLOOD_MS / 10);
        assert.ok(connection.ended, `${what}: the connection goes on`);
      });
    }
  });

  test('connections beyond the limit are closed at once; closed ones make room', async () => {
    const told = () =>
      (daemon.stdout() + daemon.stderr()).includes('refused connections beyond server.max_connections');
    const many: Dialled[] = [];
    await bounded(daemon, 'a flood of connections', async () => {
      for (let i = 0; i < 3 * MAX_CONNECTIONS; i++) many.push(daemon.dial());
      await waitFor(() => many.filter(({ ended }) => ended).length >= 1.9 * MAX_CONNECTIONS, {
        what: 'the end of those beyond the limit',
      }).finally(() => {
        for (const { socket } of many) socket.destroy();
      });
    });
    await waitFor(told, { what: 'the line in the log' });
    // A newly accepted connection has the place of a closed one, since no queue holds it behind them.
    await waitFor(() => daemon.answersWithin(), { what: 'room for one' });
    const open = Array.from({ length: MAX_CONNECTIONS - 50 }, () => daemon.dial());
    await Promise.all(
      open.map(async (connection) => {
        await connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
        await connection.receives(/200 OK/);
        connection.socket.destroy();
      }),
    );
  });

  test('guessing keys fails, is counted, and does not slow others', async () => {
    const { url, key } = daemon;
    const near = [...'0aZ'].map((letter) => key.slice(0, -1) + letter).filter((other) => other !== key);
    const guesses = [...near, ...Array.from({ length: 3_000 }, generateKey)];
    await bounded(daemon, '3,000 guesses', async () => {
      const next = guesses.values();
      const guess = async () => {
        for (const wrong of next) {
          const response = await fetch(`${url}/api/wallet_summary`, { headers: { 'X-API-Key': wrong } });
          assert.equal(response.status, 401);
          assert.equal(await response.text(), REFUSED);
        }
      };
      await Promise.all(Array.from({ length: 8 }, guess));
    });
    assert.notEqual(
      (await fetch(`${url}/api/wallet_summary`, { headers: { 'X-API-Key': key } })).status,
      401,
    );
  });
});

test('under TLS, connections without a handshake are cut off and those beyond the limit closed', async (t) => {
  const cleanup = nestedCleanup(t);
  const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));
  const { port, dial, child } = await startDaemonProcess(cleanup, {
    ATLAS_NODE_HTTP: 'http://127.0.0.1:9',
    ATLAS_SERVER__TLS_CERT: fixture('old-cert'),
    ATLAS_SERVER__TLS_KEY: fixture('old-key'),
    ATLAS_SERVER__MAX_CONNECTIONS: '10',
  });
  const many = Array.from({ length: 40 }, dial);
  for (const { socket } of many.slice(0, 5)) socket.write('\x16\x03\x01');
  await Promise.all(many.map((connection) => connection.end('a connection without a handshake')));
  const status = await new Promise((resolve, reject) => {
    const asking = request({ port, host: '127.0.0.1', path: '/healthz', rejectUnauthorized: false });
    asking.on('response', (response) => resolve(response.resume().statusCode));
    asking.on('error', reject).end();
  });
  assert.equal(status, 200);
  assert.equal(child.exitCode, null);
});
