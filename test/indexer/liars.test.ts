/** What a node may lie about without being refused: only what nothing else in its answers contradicts. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeRules } from '../../src/decode/rules.ts';
import { loadBlocks } from '../../src/indexer/backfill/load-blocks.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import { newRules } from '../../src/model/index-rules.ts';
import { RpcClient } from '../../src/node/client.ts';
import { type BlockAnswers, honestBlock, liesAbout } from '../support/chain/lying-block.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

const BLOCK = 5;
const OTHER = 6;

/** `gap`: the block lacks traces. The indexer requests them again before it records a trace gap. */
type Outcome = 'refused' | 'harmless' | 'gap' | 'stored';

/** Tells lies to a loader and says what becomes of each. */
async function listener(t: TestContext, blockReceipts: boolean) {
  let answers: BlockAnswers = honestBlock(BLOCK);
  const node = await startMisbehavingNode({
    answer(method, [param]) {
      if (method === 'eth_getBlockByNumber') return answers.block;
      if (method === 'eth_getBlockReceipts') return answers.receipts;
      if (method === 'eth_getTransactionReceipt')
        return answers.receipts.find(({ transactionHash }) => transactionHash === param) ?? null;
      return answers.traces;
    },
  });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 2, maxBatch: 30 });
  t.after(() => client.close());
  const traces = 'debug_traceBlockByHash' as const;
  const made = decodeRules(newRules({ chainId: 0, monad: false, configured: {} }));
  const rules = { ...made, traces, blockReceipts };
  const load = async () => ({ ...(await loadBlocks(client, rules, BLOCK, BLOCK)), tracedBlock: null });
  const truth = JSON.stringify(await load());
  return async (tell: (answers: BlockAnswers) => void): Promise<Outcome> => {
    answers = honestBlock(BLOCK);
    tell(answers);
    try {
      const batch = await load();
      if (batch.gaps.length > 0) return 'gap';
      return JSON.stringify(batch) === truth ? 'harmless' : 'stored';
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return 'refused';
    }
  };
}

const CHANGES = ['changed', 'swapped', 'of another block'];
/** The block before contradicts a parent hash, and only the header's hash and roots (`index.check_roots`) the rest. */
const UNPROVABLE = [
  ...['parentHash', 'timestamp'].flatMap((name) =>
    ['changed', 'of another block'].map((how) => `block.${name} ${how}`),
  ),
  ...['log.address', 'log.data', 'inner frame.from', 'inner frame.to'].flatMap((name) =>
    CHANGES.map((how) => `${name} ${how}`),
  ),
  ...['value dropped', 'value changed', 'value swapped'].map((lie) => `inner frame.${lie}`),
  ...[
    'first item dropped',
    'last item dropped',
    'all dropped',
    'last item duplicated',
    'last item of another block',
    'all of another block',
  ].map((lie) => `calls of a frame: ${lie}`),
];

test('a lie is refused or harmless unless nothing in the answers contradicts it', async (t) => {
  const told = await listener(t, true);
  const stored: string[] = [];
  for (const { name, tell } of liesAbout(BLOCK, OTHER)) {
    const outcome = await told(tell);
    if (process.env['SHOW_LIES']) console.log(`${outcome.padEnd(9)} ${name}`);
    if (outcome === 'stored') stored.push(name);
  }
  assert.deepEqual(stored.sort(), UNPROVABLE.sort());
});
