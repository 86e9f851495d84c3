/** The recipes of docs/api.md give what the endpoints made for a single wallet or token give. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Serving, serve } from '../server/serving.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { createIndex, txHash } from '../support/index/index-fixture.ts';

const BLOCKS = randomBlocks(1, 150, txHash('no parent'), 11);
const ZERO = `0x${'0'.repeat(40)}`;

interface Token {
  type: string;
  tokenAddress: string;
  balance: string;
}
interface Entry {
  firstFunder: string | null;
  tokens?: { tokens: Token[]; nextCursor: string | null };
}
/** The blocks up to `last`. */
function serveBlocks(t: TestContext, last: number): Promise<Serving> {
  const index = createIndex(t);
  index.writer.append([toBatch(BLOCKS.slice(0, last))]);
  return serve(t, { index });
}

/** The entries of any number of wallets, in as many requests as it takes. */
async function batchOf({ post }: Serving, addresses: string[], fields: string[] = []) {
  const entries = new Map<string, Entry | null>();
  for (let at = 0; at < addresses.length; at += 100) {
    const answer = await post(
      '/api/wallets/batch',
      JSON.stringify({ addresses: addresses.slice(at, at + 100), fields }),
    );
    const { wallets } = (await answer.json()) as { wallets: Record<string, Entry | null> };
    for (const [address, entry] of Object.entries(wallets)) entries.set(address, entry);
  }
  return entries;
}

async function list<T>({ json }: Serving, path: string, name: string): Promise<T[]> {
  return (await json(`/api/${path}`))[name] as T[];
}

/** Every address and every token contract of the chain. */
const WALLETS = [
  ...new Set(
    BLOCKS.flatMap(({ transactions }) =>
      transactions.flatMap(({ transfers }) => transfers.flatMap(({ from, to }) => [`0x${from}`, `0x${to}`])),
    ),
  ),
];
const TOKENS = [
  ...new Set(
    BLOCKS.flatMap(({ transactions }) =>
      transactions.flatMap(({ transfers }) =>
        transfers.flatMap(({ token }) => (token === '' ? [] : [`0x${token}`])),
      ),
    ),
  ),
];

test('first buyers who still hold, by tokens of the batch', async (t) => {
  const serving = await serveBlocks(t, BLOCKS.length);
  let holding = 0;
  for (const token of TOKENS) {
    const buyers = await list<{ address: string }>(
      serving,
      `token_first_buyers?token=${token}&limit=200`,
      'buyers',
    );
    const found: string[] = [];
    const entries = await batchOf(
      serving,
      buyers.map(({ address }) => address),
      ['tokens'],
    );
    for (const [address, entry] of entries) {
      const page = entry?.tokens;
      assert.ok(page);
      let row = page.tokens.find(({ tokenAddress }) => tokenAddress === token);
      if (row === undefined && page.nextCursor !== null)
        [row] = await list<Token>(serving, `wallet_tokens?address=${address}&token=${token}`, 'tokens');
      if (row !== undefined && BigInt(row.balance) > 0n) found.push(address);
    }
    const holders = await list<{ address: string }>(
      serving,
      `token_holders?token=${token}&limit=200`,
      'holders',
    );
    const held = new Set(holders.map(({ address }) => address));
    assert.deepEqual(
      found,
      buyers.flatMap(({ address }) => (held.has(address) ? [address] : [])),
    );
    holding += found.length;
  }
  assert.ok(holding > 20);
});

test('funding chains of many wallets, by batches', async (t) => {
  const serving = await serveBlocks(t, BLOCKS.length);
  const funderOf = new Map<string, string | null>();
  for (let hop = 0, wanted = WALLETS; hop < 10 && wanted.length > 0; hop++) {
    for (const [address, entry] of await batchOf(serving, wanted))
      funderOf.set(address, entry?.firstFunder ?? null);
    const funders = wanted.flatMap((wallet) => funderOf.get(wallet) ?? []);
    wanted = [...new Set(funders)].filter((funder) => !funderOf.has(funder));
  }
  let longest = 0;
  for (const wallet of WALLETS) {
    const chain: string[] = [];
    for (let at = wallet; chain.length < 10 && at !== ZERO; ) {
      const funder = funderOf.get(at) ?? null;
      if (funder === null || funder === wallet || chain.includes(funder)) break;
      chain.push(funder);
      at = funder;
    }
    const hops = await list<{ funder: string }>(serving, `funding_chain?address=${wallet}&depth=10`, 'chain');
    assert.deepEqual(
      chain,
      hops.map(({ funder }) => funder),
    );
    longest = Math.max(longest, chain.length);
  }
  assert.ok(longest > 1);
});

test('the balance of a token at a block', async (t) => {
  const block = 90;
  const [now, then] = [await serveBlocks(t, BLOCKS.length), await serveBlocks(t, block)];
  let changed = 0;
  for (const wallet of WALLETS.slice(0, 5)) {
    for (const token of TOKENS) {
      const query = `wallet_tokens?address=${wallet}&token=${token}`;
      const [at] = await list<Token>(now, `${query}&block=${block}`, 'tokens');
      const [before] = await list<Token>(then, query, 'tokens');
      assert.equal(at?.balance, before?.balance, `${wallet} ${token}`);
      const [row] = await list<Token>(now, query, 'tokens');
      if (row?.balance !== before?.balance) changed++;
    }
  }
  assert.ok(changed > 5);
});
