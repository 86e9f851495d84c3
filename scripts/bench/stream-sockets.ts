/** Many WebSocket clients in one process, as cheap as they can be made: frames are counted and timed, no more. */
import { connect, type Socket } from 'node:net';

/** A message and when it came, Unix milliseconds with fractions. */
export interface Receipt {
  text: string;
  at: number;
}

const UPGRADE =
  'Host: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';
/** Connections made at a time. */
const AT_ONCE = 50;

/** Opens `count` sockets. With `first`, each sends that message and has its answer when this resolves; answers are no receipts. */
export async function openSockets(port: number, path: string, count: number, first?: (i: number) => string) {
  const receipts: Receipt[] = [];
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, k) => i + k);
    sockets.push(...(await Promise.all(some.map((k) => openSocket(port, path, receipts, first?.(k))))));
  }
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { receipts, close };
}

async function openSocket(
  port: number,
  path: string,
  receipts: Receipt[],
  first: string | undefined,
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  socket.write(`GET ${path} HTTP/1.1\r\n${UPGRADE}`);
  let pending: Buffer = Buffer.alloc(0);
  let upgraded = false;
  let answered = first === undefined;
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (data) => {
      const at = performance.timeOrigin + performance.now();
      pending = pending.length === 0 ? data : Buffer.concat([pending, data]);
      if (!upgraded) {
        const end = pending.indexOf('\r\n\r\n');
        if (end < 0) return;
        if (!pending.toString('latin1', 0, 12).endsWith('101'))
          return reject(new Error(pending.toString('latin1')));
        pending = pending.subarray(end + 4);
        upgraded = true;
        if (first === undefined) resolve();
        else socket.write(maskedText(first));
      }
      for (let frame = readFrame(pending); frame !== null; frame = readFrame(pending)) {
        pending = pending.subarray(frame.end);
        if (frame.opcode === 9) socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
        if (frame.opcode !== 1) continue;
        if (answered) receipts.push({ text: frame.payload.toString('latin1'), at });
        else resolve();
        answered = true;
      }
    });
  });
  socket.removeAllListeners('error');
  socket.on('error', () => undefined);
  return socket;
}

/** The first whole frame of what came, or null. Servers do not mask. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | null {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 127;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return null;
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const end = start + length;
  return bytes.length < end ? null : { opcode: bytes[0]! & 15, payload: bytes.subarray(start, end), end };
}

/** A text frame with a mask of zeros. */
function maskedText(text: string): Buffer {
  const payload = Buffer.from(text);
  const header =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([header, Buffer.alloc(4), payload]);
}
