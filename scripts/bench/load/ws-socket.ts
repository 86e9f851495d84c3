/**
 * A WebSocket client that only notices the arrival of messages. A complete client takes longer to read a message than
 * the server to send it, so 1,000 of them would measure themselves.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** First byte of an unfragmented text message. */
const TEXT = 0x81;
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Shared by all sockets, because each read is processed before the next. */
const readBuffer = Buffer.allocUnsafe(64 * 1024);

export class WsSocket {
  private readonly socket: Socket;
  private readonly onMessage: () => void;
  /** Receives the bytes until the socket is open and subscribed. */
  private opening: { receive: (bytes: Buffer) => void; fail: (error: Error) => void } | null = null;

  /** Connects and sends `subscribe`, unless empty. Rejects when either is refused. */
  static async open(url: URL, key: string, subscribe: string, onMessage: () => void): Promise<WsSocket> {
    const client = new WsSocket(url, onMessage);
    await client.roundTrip(upgradeRequest(url, key), upgradeError);
    if (subscribe !== '') await client.roundTrip(textFrame(subscribe), subscribeError);
    return client;
  }

  private constructor(url: URL, onMessage: () => void) {
    this.onMessage = onMessage;
    this.socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: {
        buffer: readBuffer,
        callback: (length) => {
          this.receive(length);
          return true;
        },
      },
    });
    this.socket.setNoDelay(true);
    this.socket.on('error', (error) => this.opening?.fail(error));
    this.socket.on('close', () => this.opening?.fail(new Error('the server closed the connection')));
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(length: number): void {
    if (this.opening === null) {
      // Pings, and later parts of a message read in several pieces, usually start with other bytes.
      if (readBuffer[0] === TEXT) this.onMessage();
    } else this.opening.receive(readBuffer.subarray(0, length));
  }

  /** Sends a message and waits for the answer; `errorOf` returns what is wrong with it, or null. */
  private roundTrip(request: string | Buffer, errorOf: (answer: Buffer) => string | null): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => fail(new Error('a WebSocket was not answered')), HANDSHAKE_TIMEOUT_MS);
      const fail = (error: Error) => {
        clearTimeout(timer);
        this.opening = null;
        reject(error);
      };
      const receive = (answer: Buffer) => {
        const problem = errorOf(answer);
        if (problem !== null) return fail(new Error(problem));
        clearTimeout(timer);
        this.opening = null;
        resolve();
      };
      this.opening = { receive, fail };
      this.socket.write(request);
    });
  }
}

function upgradeRequest({ pathname }: URL, key: string): string {
  const lines = [
    `GET ${pathname} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...(key === '' ? [] : [`X-API-Key: ${key}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function upgradeError(answer: Buffer): string | null {
  const line = answer.toString('latin1').split('\r\n', 1)[0] ?? '';
  return line.includes(' 101 ') ? null : `the WebSocket was refused: ${line}`;
}

function subscribeError(answer: Buffer): string | null {
  const text = answer.toString('latin1');
  return text.includes('"result"') ? null : `the subscription was refused: ${text}`;
}

/** A message as clients send it: masked, here with zeros. RFC 6455, section 5.2. */
function textFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(8);
  head[0] = TEXT;
  head[1] = 0x80 | 126;
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}
