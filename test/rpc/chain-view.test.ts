/** The chain as filters see it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../src/rpc/call.ts';
import { ChainView } from '../../src/rpc/filters/chain-view.ts';
import { resultPayload } from '../../src/rpc/payload.ts';

const GENESIS = { number: '0x0', hash: `0x${'ab'.repeat(32)}` as const, parentHash: `0x${'00'.repeat(32)}` };

const unavailable: Answer = { payload: Buffer.from('"error":{}}'), status: 502 };
const genesis: Answer = { payload: resultPayload(JSON.stringify(GENESIS)), status: 200 };

test('an update that waits for one that fails is made all the same', async () => {
  const answers = [unavailable, genesis];
  const ask = async () => answers.shift() ?? genesis;
  const view = new ChainView(ask, ask);
  const first = view.refresh();
  await Promise.resolve(); // the first update has begun
  const second = view.refresh();
  await assert.rejects(first, /does not give block latest/);
  await second;
  assert.deepEqual(view.changesSince(view.position), []);
  assert.equal(await view.isCanonical({ number: 0, hash: GENESIS.hash }), true);
});
