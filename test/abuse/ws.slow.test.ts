/** What the holder of a key can do over WebSockets, and what it costs, with hand-made frames. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { suiteCleanup } from '../support/cleanup.ts';
import {
  bounded,
  type DaemonProcess,
  type Dialled,
  startDaemonProcess,
} from '../support/daemon/daemon-process.ts';

const MAX_MESSAGE = 65_536;
const MAX_CONNECTIONS = 40;

/** How long a flood lasts that should be cut off. */
const FLOOD_MS = 150_000;

const OPCODE = { continuation: 0, text: 1, ping: 9, pong: 10 } as const;
const FIN = 0x80;
const RSV1 = 0x40;

/** A client frame, masked with zeros. */
function frame(first: number, payload: string | Buffer): Buffer {
  const body = Buffer.from(payload);
  const length = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10);
  length[0] = first;
  if (length.length === 2) length[1] = 0x80 | body.length;
  else if (length.length === 4) {
    length[1] = 0x80 | 126;
    length.writeUInt16BE(body.length, 2);
  } else {
    length[1] = 0x80 | 127;
    length.writeBigUInt64BE(BigInt(body.length), 2);
  }
  return Buffer.concat([length, Buffer.alloc(4), body]);
}

suite('abuse over WebSockets', () => {
  const cleanup = suiteCleanup();
  let daemon: DaemonProcess;
  before(async () => {
    daemon = await startDaemonProcess(cleanup, {
      ATLAS_NODE_HTTP: 'http://127.0.0.1:9',
      ATLAS_STREAM__MAX_MESSAGE_BYTES: String(MAX_MESSAGE),
      ATLAS_STREAM__MAX_BACKLOG_BYTES: '1048576',
      ATLAS_SERVER__MAX_CONNECTIONS: String(MAX_CONNECTIONS),
    });
  });

  /** An upgraded connection; `offer` holds further header lines. */
  async function upgraded(path = '/ws', offer = '', key = daemon.key): Promise<Dialled> {
    const connection = daemon.dial();
    await connection.send(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${offer}\r\n`,
    );
    await connection.receives(/^HTTP\/1\.1 101 [\s\S]*?\r\n\r\n/);
    return connection;
  }

  test('compression is never negotiated, and a compressed message closes the connection unread', async () => {
    const bomb = deflateRawSync(Buffer.alloc(30_000_000, 'a'));
    assert.ok(bomb.length < MAX_MESSAGE);
    for (const path of ['/ws', '/ws/signals']) {
      const connection = await upgraded(path, 'Sec-WebSocket-Extensions: permessage-deflate\r\n');
      assert.doesNotMatch(connection.text, /permessage-deflate/i);
      await bounded(daemon, 'a compressed message', async () => {
        await connection.send(frame(FIN | RSV1 | OPCODE.text, bomb));
        await connection.end('the connection that compresses');
      });
    }
  });

  test('an endless fragmented message is cut off like one that is too large', async () => {
    for (const size of [1, 100, 60_000]) {
      await bounded(daemon, `fragments of ${size} bytes`, async () => {
        const connection = await upgraded();
        await connection.send(frame(OPCODE.text, 'a'));
        const fragment = frame(OPCODE.continuation, 'a'.repeat(size));
        const many = Buffer.concat(Array.from({ length: Math.ceil(60_000 / size) }, () => fragment));
        await connection.floodWith(many, FLOOD_MS);
        assert.ok(connection.ended, `fragments of ${size} bytes go on`);
      });
    }
  });

  test('any number of empty fragments costs no memory', async () => {
    await bounded(daemon, 'empty fragments', async () => {
      const connection = await upgraded();
      await connection.send(frame(OPCODE.text, ''));
      const many = Buffer.concat(Array.from({ length: 10_000 }, () => frame(OPCODE.continuation, '')));
      await connection.floodWith(many, 3_000);
      connection.socket.destroy();
    });
  });

  test('a frame that only claims to be huge is refused by its length', async () => {
    const connection = await upgraded();
    const claim = frame(FIN | OPCODE.text, Buffer.alloc(65_536)).subarray(0, 14);
    claim.writeBigUInt64BE(2n ** 40n, 2);
    await bounded(daemon, 'a claim', async () => {
      await connection.send(claim);
      await connection.floodWith(Buffer.alloc(65_536), FLOOD_MS);
      assert.ok(connection.ended);
    });
  });

  test('unread pongs and answers close the connection', async () => {
    const call = '{"jsonrpc":"2.0","id":1,"method":"unknown_method"}';
    const floods = {
      pings: frame(FIN | OPCODE.ping, 'a'.repeat(125)),
      calls: frame(FIN | OPCODE.text, call),
    };
    for (const [what, one] of Object.entries(floods)) {
      await bounded(daemon, `${what} unread`, async () => {
        const connection = await upgraded();
        connection.socket.pause();
        await connection.floodWith(Buffer.concat(Array.from({ length: 500 }, () => one)), FLOOD_MS);
        assert.ok(connection.ended, `${what} go on`);
      });
    }
  });

  test('a client that floods with refused messages or pongs is cut off even if it reads the answers', async () => {
    const small = frame(FIN | OPCODE.text, 'x');
    const subscribe = frame(
      FIN | OPCODE.text,
      '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":[]}',
    );
    const floods: [string, string, Buffer][] = [
      ['calls', '/ws', small],
      ['subscribes', '/ws', subscribe],
      ['calls', '/ws/signals', small],
      ['pings', '/ws', frame(FIN | OPCODE.ping, '')],
      ['pongs', '/ws', frame(FIN | OPCODE.pong, '')],
    ];
    for (const [what, path, one] of floods) {
      await bounded(daemon, `${what} on ${path}`, async () => {
        const connection = await upgraded(path, '', daemon.freeKey);
        const many = Buffer.concat(Array.from({ length: 10_000 }, () => one));
        await connection.floodWith(many, FLOOD_MS / 10);
        assert.ok(connection.ended, `${what} on ${path} go on`);
        assert.match(connection.text, /too many messages/);
      });
    }
  });

  test('a client that sends faster than we can handle is cut off, even with an unlimited key', async () => {
    const floods = {
      'messages that are not calls': '',
      calls: '{"jsonrpc":"2.0","id":1,"method":"unknown_method"}',
      notifications: '{"jsonrpc":"2.0","method":"unknown_method"}',
      subscribes: '{"jsonrpc":"2.0","method":"eth_subscribe"}',
    };
    for (const [what, text] of Object.entries(floods)) {
      await bounded(daemon, what, async () => {
        const connection = await upgraded();
        const one = frame(FIN | OPCODE.text, text);
        const many = Buffer.concat(Array.from({ length: 100_000 }, () => one));
        await connection.floodWith(many, FLOOD_MS / 10);
        assert.ok(connection.ended, `${what} go on`);
      });
    }
  });

  test('closed connections make room for others', async () => {
    for (let i = 0; i < 2 * MAX_CONNECTIONS; i++) {
      const connection = await upgraded();
      connection.socket.end();
      await connection.end('a connection that was closed by its client');
    }
    await daemon.answersWithin();
  });
});
