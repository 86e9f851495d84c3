/** Following the finalized head of nodes that share an address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoadRules, loadRange } from '../../src/indexer/backfill/load-blocks.ts';
import { Pipeline } from '../../src/indexer/backfill/pipeline.ts';
import { type SyncOptions, sync } from '../../src/indexer/follow.ts';
import { fetchNodeHead } from '../../src/indexer/node-chain.ts';
import { bytesToHex } from '../../src/lib/hex.ts';
import { RpcClient } from '../../src/node/client.ts';
import { PLAIN_RULES } from '../decode/plain.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { startBalancedNodes } from '../support/nodes/balanced-nodes.ts';
import { resultOf } from '../support/nodes/replay.ts';

const CHAIN = { blocks: 30, txPerBlock: 4, wallets: 20, tokens: 6, traces: false };
const RULES: LoadRules = { ...PLAIN_RULES, traces: null, blockReceipts: true, monad: true };
const HEAD = 18;

/** Monad's head. */
const FOLLOWED = { headTag: 'finalized', rule: 'tag', maxReorg: 128 } as const;

test('a block of another node at the height of the finalized head is not mistaken for it', async (t) => {
  const cleanup = nestedCleanup(t);
  const { nodes, url, pin } = await startBalancedNodes(cleanup, CHAIN, [HEAD + 2, HEAD]);
  nodes[1]!.fork(HEAD);
  const open = (address: string) => {
    const client = new RpcClient({ url: address, timeoutMs: 5_000, maxSockets: 4, maxBatch: 10 });
    cleanup.after(() => client.close());
    return client;
  };
  const ahead = open(nodes[0]!.url);
  const balanced = open(url);
  const stop = new AbortController();
  const outcomes: (string | undefined)[] = [];
  const options: SyncOptions = {
    headTag: 'finalized',
    startBlock: 1,
    local: { head: () => null, hashAt: () => null },
    nodeHead: () => fetchNodeHead(ahead, FOLLOWED, stop.signal),
    guard: { confirmChain: async () => undefined, findReorg: async () => 'behind' },
    pipeline: new Pipeline((from, to, signal) => loadRange(balanced, RULES, from, to, signal), {
      depth: 2,
      batchTransfers: 100_000,
    }),
    waitForHead: async () => undefined,
    onNodeHead: () => undefined,
    onStepOutcome(error) {
      outcomes.push(error?.message);
      if (error !== null) pin(0);
    },
  };
  pin(1);
  const { value: event } = await sync(options, stop.signal).next();
  stop.abort();
  assert.match(outcomes[0] ?? '', /^the node sent 0x\w+ as block 18 after it had called 0x\w+ finalized$/);
  assert.deepEqual(outcomes.slice(1), [undefined]);
  assert.ok(event?.kind === 'blocks');
  const { hash } = await resultOf<{ hash: string }>(nodes[0]!.url, 'eth_getBlockByNumber', '0x12', false);
  assert.equal(bytesToHex(event.batches.at(-1)!.hash.subarray(-32)), hash);
});
