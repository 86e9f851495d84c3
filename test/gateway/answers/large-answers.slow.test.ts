/** Memory of answers of many megabytes that the gateway assembles, while clients do not read them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Serving, serve } from '../../server/serving.ts';
import { waitFor } from '../../support/wait.ts';
import { type CallResult, startNode } from '../node.ts';

const MB = 2 ** 20;
/** Memory that one key may hold in unread answers, and the overhead of a test. */
const KEY_BYTES = 128 * MB;
const OTHER_BYTES = 40 * MB;
/** More connections than 30 MB answers that fit into memory. */
const CONNECTIONS = 15;
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const LOG = `{"address":"0x${'ab'.repeat(20)}","data":"0x${'cd'.repeat(480)}"}`;
/** The logs of this many blocks, 38 kB each, without the brackets. */
const logsOf = (blocks: number) =>
  Array<string>(blocks * 37)
    .fill(LOG)
    .join();

const LOGS_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 'é',
  method: 'eth_getLogs',
  params: [{ fromBlock: '0x1', toBlock: '0x320' }],
});
const LOGS_ANSWER = `{"jsonrpc":"2.0","id":"é","result":[${logsOf(800)}]}`;
const LOGS_BYTES = Buffer.from(LOGS_ANSWER);

const BATCH = JSON.stringify(
  Array.from({ length: 8 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'debug_traceCall', params: [id] })),
);
const answerOf = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":[${logsOf(100)}]}`;
const BATCH_ANSWER = `[${Array.from({ length: 8 }, (_, id) => answerOf(id)).join()}]`;

/** A node with 3.8 MB of logs in a hundred blocks, the most that it accepts, and as much for each trace. */
const largeNode: CallResult = (body, response) => {
  const { id, method, params } = JSON.parse(body);
  const start = `{"jsonrpc":"2.0","id":${id},"result":`;
  const [{ fromBlock, toBlock } = { fromBlock: 1, toBlock: 100 }] = method === 'eth_getLogs' ? params : [];
  const blocks = toBlock - fromBlock + 1;
  if (method === 'eth_blockNumber') response.end(`${start}"0x400"}`);
  else if (method === 'eth_getBlockByNumber') response.end(`${start}${HEADER}}`);
  else if (blocks <= 100) response.end(`${start}[${logsOf(blocks)}]}`);
  else response.end(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"block range too large"}}`);
};
const HEADER = `{"number":"0x320","hash":"0x${'11'.repeat(32)}","parentHash":"0x${'10'.repeat(32)}","timestamp":"0x1"}`;

/** Bytes of all buffers in this process: of clients, gateway and node. Excludes garbage. */
function bytesInUse(): number {
  collectGarbage();
  return process.memoryUsage().external;
}

const BASELINE = bytesInUse();

async function serveLarge(t: TestContext): Promise<Serving> {
  await waitFor(() => bytesInUse() - BASELINE < OTHER_BYTES, { what: 'the test before', everyMs: 100 });
  const node = await startNode(t, largeNode);
  return serve(t, { upstream: node.url, rpc: { cache_mb: 0 } });
}

/** Sends one call over its own connection and reads only the beginning of the answer: 64 KiB or all of it. */
async function askAndStall(t: TestContext, { server, key }: Serving, body: string) {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  const length = Buffer.byteLength(body);
  socket.write(
    `POST /rpc HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: ${length}\r\n\r\n${body}`,
  );
  const [beginning] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return { socket, beginning: beginning.toString('latin1') };
}

for (const [what, call, answer] of [
  ['logs that were collected', LOGS_CALL, LOGS_ANSWER],
  ['batches', BATCH, BATCH_ANSWER],
] as const) {
  test(`${what}: unread answers stay within the memory budget of their key`, async (t) => {
    const serving = await serveLarge(t);
    const sockets: Socket[] = [];
    t.after(() => {
      for (const socket of sockets) socket.destroy(); // a closing server waits for them
    });
    for (let i = 0; i < CONNECTIONS; i++) {
      sockets.push((await askAndStall(t, serving, call)).socket);
      const held = bytesInUse() - BASELINE;
      assert.ok(held < KEY_BYTES + OTHER_BYTES, `${Math.round(held / MB)} MB are held for ${i + 1} answers`);
    }
    const refused = await (await serving.post('/rpc', call)).text();
    assert.ok(refused.includes('this key has too many bytes of answers in flight'), refused.slice(0, 100));
    for (const socket of sockets) socket.destroy();
    await waitFor(() => bytesInUse() - BASELINE < OTHER_BYTES, {
      what: 'the memory to be free',
      everyMs: 100,
    });
    const whole = await serving.post('/rpc', call);
    assert.equal(whole.headers.get('content-length'), String(Buffer.byteLength(answer)));
    assert.ok((await whole.text()) === answer, 'the next answer is whole');
  });
}

test('an answer that is read late is complete, and its memory is released as it is read', async (t) => {
  const serving = await serveLarge(t);
  const { socket, beginning } = await askAndStall(t, serving, LOGS_CALL);
  assert.ok(bytesInUse() - BASELINE > 16 * MB, 'most of it is held');
  let expected = LOGS_BYTES.subarray(beginning.length - beginning.indexOf('\r\n\r\n') - 4);
  let isNearEnd = false;
  socket.on('data', (data) => {
    assert.ok(
      data.equals(expected.subarray(0, data.length)),
      `other bytes, ${expected.length} before the end`,
    );
    expected = expected.subarray(data.length);
    if (expected.length > 4 * MB || isNearEnd) return;
    isNearEnd = true;
    socket.pause();
  });
  socket.resume();
  await waitFor(() => isNearEnd, { what: 'the end to be near' });
  await waitFor(() => bytesInUse() - BASELINE < 16 * MB, {
    what: 'what was read to be released',
    everyMs: 100,
  });
  socket.resume();
  await waitFor(() => expected.length === 0, { what: 'the end of the answer' });
});
