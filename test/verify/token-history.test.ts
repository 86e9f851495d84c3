/** Verify recounts the histories of tokens, page by page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOKEN_PAGE_BYTES } from '../../src/store/tokens/token-history.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { forgetDerived } from '../support/index/older-index.ts';
import { differencesOf, verifyAlone } from '../support/index/verify.ts';

const NOT_COMPARED =
  'the transfers of each token were not compared: the daemon has not listed all of them yet';

/** An index with a token of two full pages and a begun one. */
function indexOfPages(t: Parameters<typeof createIndex>[0]) {
  const index = createIndex(t);
  const transfers = Array.from({ length: 2 * TOKEN_PAGE_BYTES + 9 }, (_, i) => ({
    kind: 'erc20' as const,
    from: 'alice',
    to: `${i % 10}`,
  }));
  index.append([{ first: transfers.slice(0, 700) }, { second: transfers.slice(700) }]);
  return index;
}

const FLIP = (column: string) =>
  `${column} = CAST(substr(${column}, 1, 5) || x'7f' || substr(${column}, 7) AS BLOB)`;

for (const [what, damage, expected] of [
  [
    'the full pages are missing',
    'DELETE FROM token_activity',
    /^tokens: the number of full history pages of token/,
  ],
  [
    'the first page is missing',
    'DELETE FROM token_activity WHERE first_transfer = 1',
    /^tokens: the history of token 0x\w+: page 1 has transfer none where 1 must be$/,
  ],
  [
    'a byte of a full page is another',
    `UPDATE token_activity SET ${FLIP('entries')} WHERE first_transfer > 1`,
    /^tokens: the history of token 0x\w+: page 2 has transfer 643 where 517 must be$/,
  ],
  [
    'a byte of the open page is another',
    `UPDATE tokens SET ${FLIP('recent')}`,
    /^tokens: the history of token 0x\w+: page 3 has transfer \d+ where \d+ must be$/,
  ],
  [
    'a page of no token',
    'UPDATE token_activity SET token = 9',
    /^blocks: token_activity has a row of token 9, but 1 is the last one: rebuild the index$/,
  ],
] as const)
  test(`verify finds when ${what}`, async (t) => {
    const index = indexOfPages(t);
    assert.deepEqual(differencesOf(await verifyAlone(index.path)), []);
    index.damage(damage);
    const differences = differencesOf(await verifyAlone(index.path));
    assert.ok(
      differences.some((text) => expected.test(text)),
      differences.join('\n'),
    );
  });

test('verify says that the histories of an older index are not compared, until they are complete', async (t) => {
  const index = indexOfPages(t);
  forgetDerived(index.path);
  const isSaid = async () => {
    const report = await verifyAlone(index.path);
    assert.deepEqual(differencesOf(report), []);
    return report.checks.find(({ name }) => name === 'tokens')?.notes.includes(NOT_COMPARED);
  };
  assert.equal(await isSaid(), true);
  index.writer.deriveStep(900);
  assert.equal(await isSaid(), true);
  index.writer.deriveStep(900);
  assert.equal(await isSaid(), false);
});
