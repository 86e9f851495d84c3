/** Memory that requests leave behind: a retained part must not keep the whole text alive. */

// Own process: its bounds are on the memory of the whole process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startGateway } from '../gateway.ts';
import { answering, startNode } from '../node.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const REQUESTS = 40;
const PADDING = ' '.repeat(1_900_000);
/** Bytes; a tenth of the size of the requests. */
const MOST_KEPT = 8e6;

/** Size of texts and buffers. Excludes garbage, and what the last request releases a moment later. */
async function bytesInUse(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await sleep(20);
    collectGarbage();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Reports block 16 as final, and answers 0x1 to everything else. */
const node = answering(({ method }) => {
  const hash = `0x${'1'.repeat(64)}`;
  const block = { number: '0x10', hash, parentHash: hash, timestamp: '0x1' };
  return method === 'eth_getBlockByNumber' ? block : '0x1';
});

const wallet = (i: number) => `0x${i.toString(16).padStart(40, '0')}`;
const KEPT: Record<string, (i: number) => string> = {
  'names of methods': (i) => `"method":"eth_aMethodThatNobodyKnows${i}","params":[]`,
  'refused names of methods': (i) => `"method":"eth_${i}${'a'.repeat(1_000_000)}","params":[]`,
  'cached answers': (i) => `"method":"eth_getBalance","params":["${wallet(i)}","0x1"]`,
};

for (const [what, memberOf] of Object.entries(KEPT)) {
  test(`${what} do not retain the requests they came with`, async (t) => {
    const finality = { rule: 'instant', maxReorg: 0 } as const;
    const gateway = startGateway(t, { url: (await startNode(t, node)).url, finality });
    const ask = (i: number) => gateway.answer(`{"jsonrpc":"2.0","id":1,${memberOf(i)}${PADDING}}`);
    for (let i = 0; i < 5; i++) await ask(i);
    const before = await bytesInUse();
    // Only repeated requests are cached.
    const times = what === 'cached answers' ? 2 : 1;
    for (let i = 0; i < REQUESTS * times; i++) await ask(100 + Math.floor(i / times));
    const kept = (await bytesInUse()) - before;
    assert.ok(kept < MOST_KEPT, `${Math.round(kept / 1e6)} MB are kept`);
    if (what === 'cached answers') assert.ok((await gateway.metric('atlas_rpc_cache_bytes')) > 0);
  });
}

test('delivered logs that a reorg may remove do not pin their whole answers in memory', async (t) => {
  const hashAt = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
  const FIRST_HEAD = 100;
  let head = FIRST_HEAD;
  const answers = answering(({ method, params }) => {
    const number = params[0] === 'latest' ? head : Number(params[0]);
    const header = {
      number: `0x${number.toString(16)}`,
      hash: hashAt(number),
      parentHash: hashAt(number - 1),
    };
    const block = params[0] === 'finalized' ? null : { ...header, timestamp: '0x1' };
    const logs =
      head === FIRST_HEAD
        ? []
        : [{ blockHash: hashAt(head - 1), data: PADDING }, { blockHash: hashAt(head) }];
    return method === 'eth_getLogs' ? logs : block;
  });
  const gateway = startGateway(t, { url: (await startNode(t, answers)).url });
  const ids: unknown[] = [];
  for (let i = 0; i < REQUESTS; i++) ids.push(await gateway.result('eth_newFilter', { address: wallet(i) }));
  const before = await bytesInUse();
  head += 2;
  gateway.handler.headChanged();
  for (const id of ids) assert.equal(((await gateway.result('eth_getFilterChanges', id)) as []).length, 2);
  const kept = (await bytesInUse()) - before;
  assert.ok(kept < MOST_KEPT, `${Math.round(kept / 1e6)} MB are kept`);
});

test('an impossible method name is refused, whatever its length', async (t) => {
  const { url, received } = await startNode(t, node);
  const gateway = startGateway(t, { url });
  const { error } = await gateway.call(`eth_${'a'.repeat(200)}`);
  assert.equal(error?.code, -32601);
  assert.deepEqual(received, []);
});
