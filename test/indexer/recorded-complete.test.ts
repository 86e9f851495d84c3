/** The recorded blocks of all chains pass every check of completeness: no false alarm. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { IncompleteBlockError } from '../../src/decode/block-checks.ts';
import { decodeRules } from '../../src/decode/rules.ts';
import { loadBlocks } from '../../src/indexer/backfill/load-blocks.ts';
import { newRules } from '../../src/model/index-rules.ts';
import { RpcClient } from '../../src/node/client.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { recordedDataOrSkip } from '../support/nodes/recorded.ts';

interface Exchange {
  method: string;
  params: unknown[];
  result: unknown;
}

test('no recorded block is called incomplete', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const replay = join(folder, 'replay');
  const answers = new Map<string, unknown>();
  const node = await startMisbehavingNode({
    answer: (method, [block]) => answers.get(`${method} ${String(block)}`) ?? null,
  });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 2, maxBatch: 30 });
  t.after(() => client.close());
  let blocks = 0;
  for (const name of readdirSync(replay).filter((each) => !each.includes('rechained'))) {
    answers.clear();
    const numbers = new Set<number>();
    for (const line of gunzipSync(readFileSync(join(replay, name)))
      .toString()
      .trim()
      .split('\n')) {
      const { method, params, result } = JSON.parse(line) as Exchange;
      answers.set(`${method} ${String(params[0])}`, result);
      if (method === 'eth_getBlockReceipts') numbers.add(Number(params[0]));
    }
    const isTraced = [...answers.keys()].some((key) => key.startsWith('debug_trace'));
    const traces = isTraced ? ('debug_traceBlockByNumber' as const) : null;
    for (const inFull of [false, true])
      for (const number of numbers) {
        const monad = name.startsWith('monad');
        const made = decodeRules(newRules({ chainId: 0, monad, configured: {} }));
        const rules = { ...made, traces, blockReceipts: true };
        // What decoding reads of the answers, and whole answers.
        const load = loadBlocks(client, { ...rules, inFull }, number, number);
        await load.catch((error: unknown) => {
          if (error instanceof IncompleteBlockError) throw new Error(`${name}: ${error.message}`);
        });
        blocks++;
      }
  }
  assert.ok(blocks > 900, `${blocks} blocks`);
});
