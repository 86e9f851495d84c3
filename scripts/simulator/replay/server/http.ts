import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AnswerChunks, totalLength } from './dispatch.ts';
import type { Latency } from './latency.ts';

const KEEP_ALIVE_MS = 120_000;
const HEADERS = { 'content-type': 'application/json' };

interface HttpHandlers {
  /** Answers the body of a POST. */
  rpc(body: string): AnswerChunks;
  /** Answers any other request. */
  stats(): object;
}

/** JSON-RPC over POST at any path. */
export function createHttpServer(handlers: HttpHandlers, latency: Latency): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true }, (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(200, HEADERS).end(JSON.stringify(handlers.stats()));
      return;
    }
    readBody(request, (body) => latency.delay(() => send(response, handlers.rpc(body))));
  });
}

/** A callback, not a promise, because this is the hot path of every measurement against the node. */
function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks).toString()));
}

/** All pieces leave in one system call, without being joined. */
function send(response: ServerResponse, bytes: AnswerChunks): void {
  response.writeHead(200, { ...HEADERS, 'content-length': totalLength(bytes) });
  response.cork();
  for (const piece of bytes) response.write(piece);
  response.end();
  response.uncork();
}
