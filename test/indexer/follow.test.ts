/** Following a node whose own blocks do not form a chain, as anvil's after a reorg that failed half-way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pipeline } from '../../src/indexer/backfill/pipeline.ts';
import { sync } from '../../src/indexer/follow.ts';
import { blockOf, decode } from '../decode/plain.ts';

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as const;

/** A block of the node. The parent of BROKEN is none of its blocks. */
const BROKEN = 4;
function load(number: number) {
  const { block, receipts } = blockOf({});
  const parentHash = number === BROKEN ? `0x${'5b'.repeat(32)}` : hashOf(number - 1);
  const hash = hashOf(number);
  const header = { ...(block as object), number, hash, parentHash };
  const own = (receipts as object[]).map((receipt) => ({ ...receipt, blockHash: hash }));
  return decode({ block: header, receipts: own, traces: null });
}

test('a break among loaded blocks is a failure that lasts, not a success after which nothing happens', async () => {
  const stop = new AbortController();
  const outcomes: (string | undefined)[] = [];
  let waits = 0;
  const pipeline = new Pipeline(async (from) => [load(from)], {
    depth: 8,
    batchTransfers: 1_000,
    firstRange: 1,
  });
  const events = sync(
    {
      headTag: 'latest',
      startBlock: 0,
      local: { head: () => ({ number: 1, hash: hashOf(1) }), hashAt: hashOf },
      nodeHead: async () => ({ number: 8, hash: hashOf(8) }),
      guard: { confirmChain: async () => undefined, findReorg: async () => 'agrees' },
      pipeline,
      async waitForHead() {
        waits++;
        stop.abort();
      },
      onNodeHead: () => undefined,
      onStepOutcome(error) {
        outcomes.push(error?.message);
        if (outcomes.length === 3) stop.abort();
      },
    },
    stop.signal,
  );
  assert.deepEqual(await events.next(), { done: true, value: undefined });
  assert.deepEqual(outcomes, Array(3).fill("the node's block 4 is not a child of its block 3"));
  assert.equal(waits, 0);
});
