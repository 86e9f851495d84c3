/** /api/wallet_tokens while the wallet moves its tokens. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Serving, serve } from '../../server/serving.ts';
import { address, type NamedTransfer, ZERO_ADDRESS } from '../../support/index/index-fixture.ts';

const ALICE = address('alice');

interface Page {
  tokens: { tokenAddress: string; balance: string; lastBlock: number }[];
  asOf: string;
  nextCursor: string | null;
}

const move = (token: string, from: string, to: string, amount = 1n): NamedTransfer => ({
  kind: 'erc20',
  token,
  from,
  to,
  amount,
});

async function get({ json }: Serving, query: string): Promise<Page> {
  return (await json(`/api/wallet_tokens?address=${ALICE}&${query}`)) as unknown as Page;
}

/** Alice has one of each of the tokens. */
async function serveHolder(t: TestContext, tokens: string[]): Promise<Serving> {
  const serving = await serve(t);
  serving.index.append(tokens.map((token) => ({ [token]: [move(token, 'zero', 'alice')] })));
  return serving;
}

test('pages and what moved since the first one leave no gap, though a token moves between all of them', async (t) => {
  const names = Array.from({ length: 12 }, (_, i) => `token ${i}`);
  const serving = await serveHolder(t, names);
  const { index } = serving;
  let moves = 0;
  const step = (transfer: NamedTransfer) => index.append([{ [`move ${moves++}`]: [transfer] }]);
  for (const seed of names.keys()) {
    const kept = new Map<string, string>();
    const keep = ({ tokens }: Page) => {
      for (const { tokenAddress, balance } of tokens) kept.set(tokenAddress, balance);
    };
    const first = await get(serving, 'limit=3');
    keep(first);
    for (let { nextCursor } = first; nextCursor !== null; ) {
      // Oldest tokens move first: the next page would have listed them.
      const last = (await get(serving, 'limit=200')).tokens.at(-1);
      const name = names.find((candidate) => address(candidate) === last?.tokenAddress) ?? '';
      step(moves % 3 === seed % 3 ? move(name, 'alice', 'bob') : move(name, 'bob', 'alice'));
      const page = await get(serving, `limit=3&cursor=${nextCursor}`);
      keep(page);
      nextCursor = page.nextCursor;
    }
    const listed = kept.size;
    keep(await get(serving, `limit=200&moved_since=${first.asOf}`));
    const expected = await get(serving, 'limit=200&include_zero=true');
    assert.deepEqual(
      [...kept].filter(([, balance]) => BigInt(balance) > 0n).sort(),
      expected.tokens
        .filter(({ balance }) => BigInt(balance) > 0n)
        .map(({ tokenAddress, balance }) => [tokenAddress, balance])
        .sort(),
    );
    if (seed === 0) assert.ok(listed < names.length, 'pages alone lose a token');
  }
});

test('moved_since lists tokens of any balance, and nothing at the head', async (t) => {
  const serving = await serveHolder(t, ['a', 'b', 'c']);
  const { asOf } = await get(serving, '');
  assert.equal(asOf, `3:${serving.index.writer.hashAt(3)}`);
  assert.deepEqual((await get(serving, `moved_since=${asOf}`)).tokens, []);
  serving.index.append([{ sell: [move('a', 'alice', 'bob')], buy: [move('c', 'zero', 'alice')] }]);
  const balances = async (query: string) =>
    (await get(serving, query)).tokens.map(({ tokenAddress, balance }) => [tokenAddress, balance]);
  const moved = [
    [address('c'), '2'],
    [address('a'), '0'],
  ];
  assert.deepEqual(await balances(`moved_since=${asOf}`), moved);
  const page = await get(serving, `moved_since=${asOf}&limit=1`);
  assert.deepEqual(await balances(`moved_since=${asOf}&limit=1&cursor=${page.nextCursor}`), moved.slice(1));
});

test('moved_since a block that was replaced or rewritten is refused with the block to begin from', async (t) => {
  const serving = await serveHolder(t, ['a', 'b', 'c']);
  const { asOf } = await get(serving, '');
  const refusal = async (since: string) => {
    const answer = await serving.fetch(`/api/wallet_tokens?address=${ALICE}&moved_since=${since}`);
    const { error, from } = (await answer.json()) as {
      error: { code: string; param: string };
      from?: number;
    };
    return [answer.status, error.code, error.param, from];
  };
  serving.index.rewrite(3, [{ again: [move('d', 'zero', 'alice')] }]);
  assert.deepEqual(await refusal(asOf), [409, 'reorged', 'moved_since', 3]);
  const later = await get(serving, '');
  assert.match(later.asOf, /^3:0x[0-9a-f]{64}:1-3-[0-9a-f]{8}$/);
  assert.deepEqual((await get(serving, `moved_since=${later.asOf}`)).tokens, []);
  serving.index.writer.rollback(2);
  serving.index.append([{}], 'other branch');
  assert.deepEqual(await refusal(later.asOf), [409, 'reorged', 'moved_since', 1]);
  assert.deepEqual(await refusal('3'), [400, 'invalid_parameter', 'moved_since', undefined]);
});

test('token gives one row, whatever its balance', async (t) => {
  const serving = await serveHolder(t, ['a', 'b', 'c']);
  serving.index.append([{ sell: [move('a', 'alice', 'bob')], other: [move('d', 'zero', 'bob')] }]);
  const rows = async (token: string) =>
    (await get(serving, `token=${token}`)).tokens.map(({ tokenAddress, balance, lastBlock }) => [
      tokenAddress,
      balance,
      lastBlock,
    ]);
  assert.deepEqual(await rows(address('b')), [[address('b'), '1', 2]]);
  assert.deepEqual(await rows(address('a')), [[address('a'), '0', 4]]);
  for (const none of [address('d'), address('bob'), address('nobody'), ZERO_ADDRESS])
    assert.deepEqual(await rows(none), [], none);
});
