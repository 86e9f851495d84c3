/** A verification beside a node of another chain, or one that lacks the blocks. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { verifyFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const START = 1;
const HEAD = 40;
const HASH = '0x[0-9a-f]{64}';

function nodeOf(t: TestContext, { seed = 1, chainId = 7, head = HEAD } = {}) {
  const chain = [...generateChain({ seed, blocks: HEAD, txPerBlock: 5 }).blocks];
  return startNode(t, { chain, chainId, head });
}

/** Every message names the node's fault, none tells the operator to replace blocks. */
async function refusal(path: string, http: string): Promise<string> {
  const texts: string[] = [];
  for (const all of [false, true])
    await assert.rejects(verifyFile({ path, http, all }), ({ name, message }: Error) => {
      assert.equal(name, 'FatalError');
      assert.doesNotMatch(message, /--repair/);
      return texts.push(message) > 0;
    });
  assert.equal(texts[0], texts[1]);
  return texts[0] ?? '';
}

test('a node of another genesis is named with both hashes, and no repair is advised', async (t) => {
  const right = await nodeOf(t);
  const path = await buildIndex({ url: right.url, dir: tempDir(t), startBlock: START });
  const wrong = await nodeOf(t, { seed: 2 });
  const expected = new RegExp(
    `another chain: its block 1 is ${HASH}, the index has ${HASH}; nothing else was`,
  );
  assert.match(await refusal(path, wrong.url), expected);
  const otherId = await nodeOf(t, { chainId: 8 });
  assert.match(await refusal(path, otherId.url), /the index holds chain 7 but the node is on chain 8/);
});

test('a chain that shares only the first block is another chain, a fork further up is none', async (t) => {
  const node = await nodeOf(t);
  const path = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: START });
  node.fork(START + 1);
  const expected = new RegExp(
    `another chain: all 16 blocks compared above block 1 differ, such as block 2, which is ${HASH} on the node`,
  );
  assert.match(await refusal(path, node.url), expected);
  const forked = await nodeOf(t);
  forked.fork(HEAD - 10);
  const report = await verifyFile({ path, http: forked.url });
  assert.ok(report.differences > 0);
});

test('a node that has none of the blocks is told from one that has some of them', async (t) => {
  const node = await nodeOf(t);
  const path = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 20 });
  node.setHead(10);
  assert.match(await refusal(path, node.url), /none of the index's blocks 20 to 40: it is at block 10/);
  node.setHead(25);
  const { checks, differences } = await verifyFile({ path, http: node.url });
  assert.equal(differences, 0);
  const notes = checks.find(({ name }) => name === 'transfers')?.notes ?? [];
  assert.equal(notes.filter((note) => note.includes('could not be read')).length, 4);
  assert.ok(notes.includes('12 more blocks could not be read'), notes.join('\n'));
});
