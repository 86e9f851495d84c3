/** The largest messages at the default settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamClient } from '../../streams/client.ts';
import { startTestDaemon } from '../../support/daemon/daemon.ts';
import { startGeneratedNode } from '../../support/nodes/replay.ts';

/** A transaction with six blobs, as hexadecimal digits: blobs, commitments and cell proofs. */
const BLOB_TRANSACTION = `0x03${'a5'.repeat(6 * (131_072 + 48 + 128 * 48) + 500)}`;

test('a transaction with six blobs is forwarded from /ws as from /rpc, and 2 MB is the limit of both', async (t) => {
  const { node } = await startGeneratedNode(t, { blocks: 3, txPerBlock: 1 });
  const { url, key } = await startTestDaemon(t, {
    flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
  });
  const call = (padding: string) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [padding] });
  const post = (body: string) => fetch(`${url}/rpc`, { method: 'POST', headers: { 'X-API-Key': key }, body });
  const ofLength = (bytes: number) => call('0'.repeat(bytes - call('').length));

  const client = await StreamClient.open(t, url, key);
  for (const [i, body] of [call(BLOB_TRANSACTION), ofLength(2_000_000)].entries()) {
    const answered = await post(body);
    assert.equal(answered.status, 200);
    client.socket.send(body);
    assert.equal(await client.answerAt(i), await answered.text());
  }
  const signals = await StreamClient.open(t, url, key, '/ws/signals');
  signals.socket.send(ofLength(2_000_000));
  assert.match(await signals.answerAt(0), /use atlas_subscribe/);

  assert.equal((await post(ofLength(2_000_001))).status, 413);
  for (const { socket } of [client, signals]) socket.send(ofLength(2_000_001));
  for (const refused of [client, signals]) assert.equal((await refused.closed()).code, 1009);
});
