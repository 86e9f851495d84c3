/** Shared by the bots: the events of a filter, across reconnects. */
import { on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignalFilter } from '../../src/schemas/stream-filters.ts';
import type { Signal } from '../../src/schemas/stream-records.ts';

const RECONNECT_MS = 1_000;

/**
 * Yields events as they arrive, including those missed or reverted while the connection was down. After a reconnect the
 * last blocks' events may be repeated, so give your actions an id made of blockHash, txHash and eventIndex. It resumes
 * at the last progress: after a restart, the service no longer knows the block of an event that a reorg has removed.
 */
export async function* signals(url: string, key: string, filter: SignalFilter): AsyncGenerator<Signal> {
  for (let resume = {}; ; await sleep(RECONNECT_MS)) {
    const socket = new WebSocket(`${url}/ws/signals`, { headers: { 'X-API-Key': key } });
    const params = { ...filter, progress: true, ...resume };
    socket.onopen = () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'atlas_subscribe', params }));
    try {
      for await (const [{ data }] of on(socket, 'message', { close: ['close', 'error'] })) {
        const { error, params } = JSON.parse(data);
        if (error) throw new Error(error.message);
        if (!params) continue; // the reply to the subscribe
        const { progress } = params.result;
        if (progress === undefined) yield params.result;
        else resume = { fromBlock: undefined, lastSeen: { ...progress, live: undefined } };
      }
      console.error(`no connection to ${url}; trying again`);
    } finally {
      socket.close();
    }
  }
}
