/** A pooler in transaction mode in the least code: each transaction of a client goes to another session. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from '../cleanup.ts';

const SESSIONS = 2;
/** Code of the request for TLS, in place of a version. */
const SSL_REQUEST = 80_877_103;
const READY = 'Z'.charCodeAt(0);
const IDLE = 'I'.charCodeAt(0);

/** Serves a PostgreSQL of this machine that trusts its clients. Returns the port. */
export async function startTransactionPooler(cleanup: Cleanup, target: number): Promise<number> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    track(client);
    serve(client, () => track(connect(target, '127.0.0.1')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.after(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the pooler has no port');
  return address.port;
}

function serve(client: Socket, dial: () => Socket): void {
  const sessions: Socket[] = [];
  let current = 0;
  client.on('data', (bytes: Buffer) => {
    if (sessions.length > 0) return void sessions[current]?.write(bytes);
    if (bytes.readInt32BE(4) === SSL_REQUEST) return void client.write('N');
    for (let number = 0; number < SESSIONS; number++) {
      const session = dial();
      sessions.push(session);
      session.write(bytes);
      session.on('close', () => client.destroy());
      let isStarted = false;
      onMessages(session, (message) => {
        const isReady = message[0] === READY && message[5] === IDLE;
        if (number === current && (isStarted || number === 0)) client.write(message);
        if (isReady && isStarted && number === current) current = (current + 1) % SESSIONS;
        isStarted ||= isReady;
      });
    }
  });
  client.on('close', () => {
    for (const session of sessions) session.destroy();
  });
}

/** Calls with each whole message of the protocol. */
function onMessages(socket: Socket, call: (message: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length > 4 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      call(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}
