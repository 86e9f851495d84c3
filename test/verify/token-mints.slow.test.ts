/** Verify recounts what was minted of each token. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/store/open-database.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { forgetDerived } from '../support/index/older-index.ts';
import { differencesOf, repairFile, verifyAlone } from '../support/index/verify.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

function indexOfMints(t: Parameters<typeof createIndex>[0]) {
  const index = createIndex(t);
  const move = (from: string, to: string, token: string) => ({
    kind: 'erc20' as const,
    token,
    from,
    to,
    amount: 5n,
  });
  index.append([{ first: [move('zero', 'alice', 'coin'), move('alice', 'bob', 'plain')] }]);
  index.append([{ second: [move('zero', 'bob', 'coin'), move('bob', 'zero', 'coin')] }]);
  return index;
}

for (const [what, damage, expected] of [
  [
    'a sum is another',
    "UPDATE token_mints SET minted = x'0b'",
    /^tokens: what was minted of token 0x\w+ is 11 in the index, must be 10$/,
  ],
  ['a sum is missing', 'DELETE FROM token_mints', /is undefined in the index, must be 10$/],
  ['a sum is of nothing', "INSERT INTO token_mints VALUES (2, x'')", /is 0 in the index, must be undefined$/],
  [
    'a sum is of no token',
    "INSERT INTO token_mints VALUES (9, x'01')",
    /^blocks: token_mints has a row of token 9, but 2 is the last one: rebuild the index$/,
  ],
] as const)
  test(`verify finds when ${what}`, async (t) => {
    const index = indexOfMints(t);
    assert.deepEqual(differencesOf(await verifyAlone(index.path)), []);
    index.damage(damage);
    const differences = differencesOf(await verifyAlone(index.path));
    assert.ok(
      differences.some((text) => expected.test(text)),
      differences.join('\n'),
    );
  });

test('verify says that what an older index has not summed yet is not compared', async (t) => {
  const index = indexOfMints(t);
  forgetDerived(index.path);
  const notes = async () => {
    const report = await verifyAlone(index.path);
    assert.deepEqual(differencesOf(report), []);
    return report.checks.find(({ name }) => name === 'tokens')?.notes ?? [];
  };
  const text = 'what was minted of each token was not compared: the daemon has not added up all of it yet';
  assert.ok((await notes()).includes(text));
  while (index.writer.deriveStep(1) !== null);
  assert.deepEqual(await notes(), []);
});

for (const [what, damage] of [
  ['another', "UPDATE token_mints SET minted = x'0b' WHERE token = (SELECT max(token) FROM token_mints)"],
  ['missing', 'DELETE FROM token_mints'],
] as const)
  test(`a repair mends a sum that is ${what}`, async (t) => {
    const { node } = await startGeneratedNode(t, { blocks: 30, txPerBlock: 30 });
    const path = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 });
    const mints = () => dumpIndex(path).filter((row) => row.startsWith('token_mints '));
    const before = mints();
    assert.ok(before.length > 0);
    const db = openDatabase(path);
    db.exec(damage);
    db.close();
    assert.ok((await repairFile(path, node.url, null, 0)).rebuilt);
    assert.deepEqual(mints(), before);
    assert.deepEqual(differencesOf(await verifyAlone(path)), []);
  });

test('a rollback of more mints than were summed says to rebuild the index', (t) => {
  const index = indexOfMints(t);
  index.damage("UPDATE token_mints SET minted = x'04'");
  assert.throws(() => index.writer.rollback(1), /the mints of token 1 add up to more than their stored sum/);
});
