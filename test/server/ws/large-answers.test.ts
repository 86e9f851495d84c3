/** Answers of 30 MB over a WebSocket: in fragments, and whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { startNode } from '../../gateway/node.ts';
import { StreamClient } from '../../streams/client.ts';
import { startTestDaemon } from '../../support/daemon/daemon.ts';
import { startGeneratedNode } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';

const LOGS = Array.from(
  { length: 3_700 },
  (_, i) => `{"data":"0x${'cd'.repeat(500)}","logIndex":"${i}"}`,
).join();
const CALLS = 8;
const BATCH = JSON.stringify(
  Array.from({ length: CALLS }, (_, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x1', toBlock: '0x1' }],
  })),
);
const answerOf = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":[${LOGS}]}`;
const ANSWER = `[${Array.from({ length: CALLS }, (_, id) => answerOf(id)).join()}]`;

test('a 30 MB answer arrives whole while notifications wait, also for a client that pauses', async (t) => {
  const { node: chain } = await startGeneratedNode(
    t,
    { blocks: 40, txPerBlock: 5, startBlock: 1 },
    { head: 5 },
  );
  const node = await startNode(t, (body, response) => {
    if (body.includes('"eth_getLogs"')) {
      const { id } = JSON.parse(body);
      response.end(`{"jsonrpc":"2.0","id":${id},"result":[${LOGS}]}`);
    } else {
      fetch(chain.url, { method: 'POST', body })
        .then((answer) => answer.text())
        .then((text) => response.end(text))
        .catch(() => response.destroy());
    }
  });
  const { url, key } = await startTestDaemon(t, {
    flags: { '--node-http': node.url, '--node-ws': chain.wsUrl },
  });
  const { socket } = await StreamClient.open(t, url, key);
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  socket.send('{"jsonrpc":"2.0","id":"heads","method":"eth_subscribe","params":["newHeads"]}');
  await waitFor(() => messages.length === 1, { what: 'the subscription' });
  const before = node.received.length;
  socket.send(BATCH);
  await waitFor(() => node.received.slice(before).some((body) => body.includes('eth_getLogs')), {
    what: 'the batch to be asked of the node',
  });
  socket.pause();
  chain.mine(10);
  socket.resume();
  await waitFor(() => messages.includes(ANSWER), { what: 'the answer' });
  await waitFor(() => messages.filter((text) => text.includes('"eth_subscription"')).length >= 10, {
    what: 'the notifications',
  });
  assert.equal(socket.readyState, WebSocket.OPEN);
});
