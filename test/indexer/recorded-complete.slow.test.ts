/** The recorded blocks of all chains pass every check of completeness: no false alarm. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readBlock } from '../../scripts/simulator/replay/blocks/block.ts';
import { startReplayNode } from '../../scripts/simulator/replay/node.ts';
import { REPLAY_DEFAULTS } from '../../scripts/simulator/replay/options.ts';
import { loadRecording } from '../../scripts/simulator/replay/recording/recording.ts';
import { TextStore } from '../../scripts/simulator/replay/text-store.ts';
import { decodeRules } from '../../src/decode/rules.ts';
import { loadBlocks } from '../../src/indexer/backfill/load-blocks.ts';
import { newRules } from '../../src/model/index-rules.ts';
import { withClient } from '../support/index/verify.ts';
import { recordedDataOrSkip } from '../support/nodes/recorded.ts';

test('no recorded block is called incomplete', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const replay = join(folder, 'replay');
  let blocks = 0;
  for (const name of readdirSync(replay).filter((each) => !each.includes('rechained'))) {
    const store = new TextStore(REPLAY_DEFAULTS.memoryBytes);
    const recording = await loadRecording([join(replay, name)], store);
    const chain = recording.blocks.map((block) => readBlock(store, block));
    const node = await startReplayNode({ chain });
    const isTraced = chain.some(({ trace }) => trace !== null);
    const traces = isTraced ? ('debug_traceBlockByNumber' as const) : null;
    const made = decodeRules(newRules({ chainId: 0, monad: name.startsWith('monad'), configured: {} }));
    const rules = { ...made, traces, blockReceipts: true };
    const loadAll = withClient(node.url, async (client) => {
      for (const { number, receipts } of chain) {
        if (receipts === null) continue;
        // What decoding reads of the answers, and whole answers.
        for (const inFull of [false, true]) {
          await assert.doesNotReject(loadBlocks(client, { ...rules, inFull }, number, number), name);
          blocks++;
        }
      }
    });
    await loadAll.finally(() => node.close());
    store.close();
  }
  assert.ok(blocks > 900, `${blocks} blocks`);
});
