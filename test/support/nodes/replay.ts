/** Replay nodes for tests, closed when their test ends, and helpers to query them. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { GeneratedBlock } from '../../../scripts/simulator/chain/block.ts';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import type { ChainOptions } from '../../../scripts/simulator/chain/options.ts';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import { startReplayNode } from '../../../scripts/simulator/replay/node.ts';
import type { ReplayOptions } from '../../../scripts/simulator/replay/options.ts';
import { type Cleanup, suiteCleanup } from '../cleanup.ts';
import { recordedFile } from './recorded.ts';

export { type Cleanup, suiteCleanup };

/** A node with these options. */
export async function startNode(cleanup: Cleanup, options: ReplayOptions): Promise<ReplayNode> {
  const node = await startReplayNode(options);
  cleanup.after(() => node.close());
  return node;
}

/** A node of a generated chain, with the blocks. */
export async function startGeneratedNode(
  cleanup: Cleanup,
  chain: Partial<ChainOptions>,
  options: ReplayOptions = {},
): Promise<{ node: ReplayNode; blocks: GeneratedBlock[] }> {
  const generated = generateChain(chain);
  const blocks = [...generated.blocks];
  const node = await startNode(cleanup, { chainId: generated.options.chainId, ...options, chain: blocks });
  return { node, blocks };
}

/** A node of recorded datasets; several need `rechain`. `folder` is the result of `recordedDataOrSkip`. */
export function startRecordedNode(
  cleanup: Cleanup,
  folder: string,
  datasets: string | readonly string[],
  options: ReplayOptions = {},
): Promise<ReplayNode> {
  const files = [datasets].flat().map((dataset) => recordedFile(folder, dataset));
  return startNode(cleanup, { ...options, files });
}

export interface Reply<T = unknown> {
  id: unknown;
  result?: T;
  error?: { code: number; message: string };
}

/**
 * Posts any JSON, or a text verbatim. Opens a connection per call: a test that computes for longer than the node keeps
 * idle connections would find its own closed.
 */
export async function post<T>(url: string, body: unknown): Promise<T> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', body: text, headers: { connection: 'close' } });
  return JSON.parse(await response.text());
}

/** One call over HTTP, with its result or its error. */
export function ask<T = unknown>(url: string, method: string, ...params: unknown[]): Promise<Reply<T>> {
  return post(url, { jsonrpc: '2.0', id: 1, method, params });
}

/** The result of one call over HTTP. Rejects for an error. */
export async function resultOf<T = unknown>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await ask<T>(url, method, ...params);
  if (error) throw new Error(`${method} gave ${error.code} ${error.message}`);
  if (result === undefined) throw new Error(`${method} gave neither a result nor an error`);
  return result;
}

/** Subscribes over its own connection; `received` collects every notification's result, in order. */
export async function subscribe<T>(
  cleanup: Cleanup,
  wsUrl: string,
  ...params: unknown[]
): Promise<{ received: T[] }> {
  const socket = new WebSocket(wsUrl);
  cleanup.after(() => socket.terminate());
  await once(socket, 'open');
  const received: T[] = [];
  const subscribed = once(socket, 'message');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }));
  const [answer] = await subscribed;
  const { error }: Reply = JSON.parse(String(answer));
  if (error) throw new Error(`eth_subscribe gave ${error.code} ${error.message}`);
  socket.on('message', (data) => {
    const notification: { params: { result: T } } = JSON.parse(data.toString());
    received.push(notification.params.result);
  });
  return { received };
}
