/** A node for passthrough tests, which answers over a real socket with whatever the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../support/cleanup.ts';

interface TestNode {
  url: string;
  /** Bodies received since `answers`, in order. */
  received: string[];
  /** Most concurrent requests since then. */
  mostAtOnce(): number;
  /** Answers like this from now on. */
  answers(answer: CallResult): void;
}

export type CallResult = (body: string, response: ServerResponse, request: IncomingMessage) => void;

/** Starts a node that is closed with its owner. */
export async function startNode(t: Cleanup, answer: CallResult): Promise<TestNode> {
  let received: string[] = [];
  let inFlight = 0;
  let most = 0;
  const server = createServer((request, response) => {
    let body = '';
    most = Math.max(most, ++inFlight);
    response.on('close', () => inFlight--);
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push(body);
      answer(body, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get received() {
      return received;
    },
    mostAtOnce: () => most,
    answers(next) {
      answer = next;
      received = [];
      most = inFlight;
    },
  };
}

interface Call {
  id: number;
  method: string;
  params: string[];
}

/** Answers each call, also in a batch, with the result of `resultOf`. */
export function answering(resultOf: (call: Call) => unknown): CallResult {
  const reply = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: resultOf(call) });
  return (body, response) => {
    const request: Call | Call[] = JSON.parse(body);
    response.end(JSON.stringify(Array.isArray(request) ? request.map(reply) : reply(request)));
  };
}

/** Answers each call with a result derived from its method. */
export const echo: CallResult = (body, response) => {
  const { id, method, params } = JSON.parse(body);
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { method, params } }));
};
