import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateChain } from '../../src/bench/chain/generate.ts';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { decodeBlock, needsTraces } from '../../src/decode/block.ts';
import { BLOCK, RECEIPTS } from '../../src/decode/wanted.ts';
import { Members, parseWanted, type Wanted } from '../../src/lib/members.ts';

function wantedOf(text: string | Buffer, wanted: Wanted): unknown {
  const answer = parseWanted(Buffer.from(`{"result":${text}}`), new Members({ result: wanted }));
  return (answer as { result: unknown }).result;
}

const RULES = { monad: true, wrappedNative: new Set<string>() };

test('blocks and receipts with only what is wanted of them decode as whole ones do', () => {
  const { blocks } = generateChain({ seed: 3, blocks: 40 }, { expects: false });
  const whole = new BatchBuilder();
  const cut = new BatchBuilder();
  for (const generated of blocks) {
    const traces = { form: 'tree', value: JSON.parse(String(generated.trace)) } as const;
    const block: unknown = JSON.parse(String(generated.block));
    const receipts: unknown = JSON.parse(String(generated.receipts));
    const cutBlock = wantedOf(generated.block, BLOCK);
    const cutReceipts = wantedOf(generated.receipts, RECEIPTS);
    assert.equal(needsTraces(cutBlock, cutReceipts, RULES), needsTraces(block, receipts, RULES));
    decodeBlock(whole, { block, receipts, traces }, RULES);
    decodeBlock(cut, { block: cutBlock, receipts: cutReceipts, traces }, RULES);
  }
  assert.ok(whole.transferCount > 1_000);
  assert.deepEqual(cut.finish(), whole.finish());
});
