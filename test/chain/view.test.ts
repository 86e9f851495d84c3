/** The chain as the filters see it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChainView } from '../../src/chain/view.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import type { BlockHeader } from '../../src/node/block-header.ts';

const GENESIS: BlockHeader = { number: 0, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'00'.repeat(32)}` };

test('a refresh that waits for one that fails still runs', async () => {
  let fails = true;
  const fetch = async () => {
    if (!fails) return GENESIS;
    fails = false;
    throw new UpstreamError('connection', 'the node is down');
  };
  const view = new ChainView(fetch, fetch, () => 0);
  const first = view.refresh();
  await Promise.resolve(); // the first refresh has begun
  const second = view.refresh();
  await assert.rejects(first, /the node is down/);
  await second;
  assert.deepEqual(view.changesSince(view.position), []);
  assert.equal(await view.isCanonical({ number: 0, hash: GENESIS.hash }), true);
});
