/**
 * A node as its clients see it: passes JSON-RPC over HTTP and WebSocket on to an anvil. A process of its own, so that
 * it can be killed and frozen. Its parent tells it to lag, and is told of every transaction.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocket, WebSocketServer } from 'ws';
import { isObject } from '../../../src/lib/text.ts';

const [target = '', port = ''] = process.argv.slice(2);

/** Newest block to show; null shows the node's head. */
let shown: Promise<number> | null = null;
/** Open requests, which may report a newer block than later ones. */
const inFlight = new Set<Promise<unknown>>();

process.on('message', (message) => {
  const isLate = isObject(message) && message['isLate'] === true;
  shown = isLate ? Promise.allSettled(inFlight).then(head) : null;
});
process.on('disconnect', () => process.exit());

const server = createServer(async (request, response) => {
  const body = await text(request);
  if (body.includes('eth_sendRawTransaction')) process.send?.({ body });
  try {
    response.end(await tracked(shown === null ? ask(body) : askLate(body, await shown)));
  } catch {
    response.destroy();
  }
});

const sockets = new WebSocketServer({ server });
sockets.on('connection', (client) => {
  const node = new WebSocket(target.replace('http', 'ws'));
  const early: string[] = [];
  client.on('message', (data) => {
    if (node.readyState === WebSocket.OPEN) node.send(String(data));
    else early.push(String(data));
  });
  node.on('open', () => {
    for (const message of early) node.send(message);
  });
  node.on('message', (data) => {
    const message = String(data);
    if (shown === null || !message.includes('eth_subscription')) client.send(message);
  });
  for (const [one, other] of [
    [client, node],
    [node, client],
  ] as const) {
    one.on('close', () => other.terminate());
    one.on('error', () => other.terminate());
  }
});

server.listen(Number(port), '127.0.0.1', () => process.send?.({ listening: true }));

async function tracked<T>(request: Promise<T>): Promise<T> {
  inFlight.add(request);
  try {
    return await request;
  } finally {
    inFlight.delete(request);
  }
}

async function head(): Promise<number> {
  return Number(
    JSON.parse(await ask('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}')).result,
  );
}

async function ask(body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(target, { method: 'POST', body, headers })).text();
}

/** The answer of a node without blocks above `head`. */
async function askLate(body: string, head: number): Promise<string> {
  const calls: unknown = JSON.parse(body);
  if (!Array.isArray(calls)) return answerLate(calls, head);
  return `[${await Promise.all(calls.map((call: unknown) => answerLate(call, head)))}]`;
}

async function answerLate(call: unknown, head: number): Promise<string> {
  if (!isObject(call)) return ask(JSON.stringify(call));
  const { id, method, params } = call;
  if (method === 'eth_blockNumber') return JSON.stringify({ jsonrpc: '2.0', id, result: hex(head) });
  if (method !== 'eth_getBlockByNumber' || !Array.isArray(params)) return ask(JSON.stringify(call));
  const [block, ...rest]: unknown[] = params;
  if (Number(block) > head) return JSON.stringify({ jsonrpc: '2.0', id, result: null });
  return ask(JSON.stringify({ ...call, params: [block === 'latest' ? hex(head) : block, ...rest] }));
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
