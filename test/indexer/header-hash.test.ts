import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { statusTable } from '../../src/cli/status/status-table.ts';
import type { JsonObject } from '../../src/decode/read-json.ts';
import { hashOfHeader, isProvenHeader, unprovenReason } from '../../src/indexer/header-hash.ts';
import { describeStatus } from '../../src/server/http/health.ts';
import { headerOf, root } from '../support/chain/header.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

test('a header hashes to its hash before and after the Amsterdam fork, in any spelling', async () => {
  for (const count of [15, 16, 17, 20, 21, 22, 23])
    assert.ok(await isProvenHeader(headerOf(count)), `${count} fields`);
  const header = headerOf();
  for (const spelled of [
    { number: 0xfffff, gasUsed: '21000', slotNumber: '0x', blobGasUsed: '0x00' },
    { hash: String(header.hash).toUpperCase(), miner: `0X${'03'.repeat(20)}`, nonce: '0x0' },
    { unknown: null },
  ])
    assert.ok(await isProvenHeader({ ...header, ...spelled }), JSON.stringify(spelled));
  const { slotNumber, ...without } = header;
  assert.equal(slotNumber, '0x0');
  assert.ok(!(await isProvenHeader(without)), 'a field left out differs from one that is zero');
  assert.ok(!(await isProvenHeader({ ...header, gasUsed: '0x0' })));
  for (const gasUsed of ['0xzz', {}, -1, 'no'])
    assert.equal(await hashOfHeader({ ...header, gasUsed }), null);
});

test('the reason why a header is not proven names the fields that this program does not know', () => {
  assert.equal(unprovenReason(headerOf()), 'its fields do not give its hash');
  const unknown = { nextForkHash: root('0d'), ['bad\nname']: 1, absent: null };
  assert.match(unprovenReason({ ...headerOf(), ...unknown }), /does not know \(nextForkHash, bad name\)$/);
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, '0x1']));
  assert.match(unprovenReason({ ...headerOf(), ...many }), /\(f0, f1, f2, f3, f4 and 4 more\)$/);
});

const CHAIN = [...generateChain({ seed: 9, blocks: 4, txPerBlock: 3 }).blocks];

/** What the log and the status of an index say about the headers of a node. */
async function told(t: TestContext, replace: (block: JsonObject) => object) {
  const node = await startNode(t, { chain: CHAIN });
  const proxy = await startMisbehavingNode({ upstream: node.url });
  t.after(() => proxy.close());
  proxy.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? replace(result as JsonObject) : result,
  });
  const indexer = startIndexer(t, { http: proxy.url, dir: tempDir(t) });
  await waitFor(() => indexer.status().capabilities !== null, { what: 'the node to be probed' });
  await indexer.client.stop();
  const status = indexer.status();
  return {
    logged: indexer.logs.filter((line) => /headers of this chain/.test(line)),
    reason: describeStatus(status, 0, Date.now()).unprovenHeaders,
    table: statusTable(
      { status, sink: null, cluster: null, staleReason: null, disk: null, tokenRefused: false },
      Date.now(),
    ),
  };
}

test('log and status say when the newest header does not hash to its own hash', async (t) => {
  const proven = await told(t, () => headerOf());
  assert.deepEqual([proven.logged, proven.reason], [[], null]);
  assert.doesNotMatch(proven.table, /^ *headers/m);
  const unproven = await told(t, () => ({ ...headerOf(), nextForkHash: root('0d'), hash: root('0e') }));
  const reason =
    'the newest header does not hash to its own hash: it has fields that this program does not know (nextForkHash)';
  assert.equal(unproven.reason, reason);
  assert.match(unproven.table, /^headers +not verified: the newest header does not hash/m);
  assert.equal(unproven.logged.length, 1);
  assert.match(unproven.logged[0] ?? '', /^warn .*nextForkHash.*update atlas-node/);
});
