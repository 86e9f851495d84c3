/** A node that answers every id as a text and puts an error of null beside every result: no client notices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnchored } from '../../src/gateway/anchored-call.ts';
import { isObject } from '../../src/lib/text.ts';
import { StreamClient } from '../streams/client.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { waitFor } from '../support/wait.ts';

/** What the WebSocket of the node sends, loosened like its HTTP answers. */
function relay(text: string): string[] {
  const message: unknown = JSON.parse(text);
  if (!isObject(message) || message.id === undefined) return [text];
  const { id, ...reply } = message;
  return [JSON.stringify({ ...reply, ...('result' in reply && { error: null }), id: String(id) })];
}

test('calls, batches, filters and subscriptions work through a node with loose answers', async (t) => {
  const { node: strict } = await startGeneratedNode(t, { blocks: 60, txPerBlock: 6 }, { head: 30 });
  const node = await startMisbehavingNode({ upstream: strict.url });
  t.after(() => node.close());
  node.misbehave({ loose: true, relay });
  const flags = { '--node-http': node.url, '--node-ws': node.wsUrl, '--start-block': 'latest' };
  const served = await startTestDaemon(t, { flags });
  await served.reaches(30);

  const calls = [
    ['eth_getBlockByNumber', ['0x5', false]],
    ['eth_getBlockByNumber', ['0x7fffffff', false]],
    ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x1e' }]],
    ['eth_chainId', []],
    ['eth_newBlockFilter', []],
  ].map(([method, params], i) => ({ jsonrpc: '2.0', id: i + 1, method, params }));
  const client = await StreamClient.open(t, served.url, served.key);
  const onSocket = async (message: unknown) => {
    const at = client.answerTexts.length;
    client.socket.send(JSON.stringify(message));
    return JSON.parse(await client.answerAt(at));
  };
  const onHttp = async (message: unknown) => {
    const headers = { 'X-API-Key': served.key, connection: 'close' };
    const init = { method: 'POST', headers, body: JSON.stringify(message) };
    return (await fetch(`${served.url}/rpc`, init)).json();
  };
  for (const send of [onHttp, onSocket]) {
    const answers = await send(calls);
    for (const call of calls) answers.push(await send(call));
    for (const [i, answer] of answers.entries()) {
      assert.deepEqual(Object.keys(answer), ['jsonrpc', 'id', 'result']);
      assert.equal(answer.id, (i % calls.length) + 1);
    }
  }

  const filter = await client.call('eth_newFilter', {});
  const heads = await client.subscribe<{ number: string }>('newHeads');
  const logs = await client.subscribe('logs');
  strict.mine(2);
  await waitFor(() => heads.results.length === 2 && logs.results.length > 0, { what: 'two heads, and logs' });
  await waitFor(async () => (await client.call<unknown[]>('eth_getFilterChanges', filter)).length > 0, {
    what: 'logs of the filter',
  });
});

test('an answer in a batch with its anchors is found by an id that is a text', () => {
  const header = { number: '0x5', hash: `0x${'5'.repeat(64)}`, parentHash: `0x${'4'.repeat(64)}` };
  const batch = [
    { jsonrpc: '2.0', result: header, error: null, id: '2' },
    { jsonrpc: '2.0', result: '0x1', error: null, id: '1' },
  ];
  const answer = readAnchored(Buffer.from(JSON.stringify(batch)), { before: ['0x5'], after: [] });
  assert.equal(answer?.tail.toString(), '"result":"0x1"}');
  assert.equal(answer?.headers[0]?.number, 5);
});
