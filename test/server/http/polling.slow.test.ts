/** The documented clients: through reorgs and repairs they lose nothing and keep nothing twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomInt } from '../../../src/lib/random.ts';
import { randomSource } from '../../support/chain/random-chain.ts';
import { codeBlock } from '../../support/docs.ts';
import { address, type IndexFixture, type NamedBlock } from '../../support/index/index-fixture.ts';
import { type Serving, serve } from '../serving.ts';

interface Transfer {
  id: number;
  blockNumber: number;
  blockHash: string;
  txHash: string;
  eventIndex: number;
  amountWei: string;
}

type Ask = (path: string) => Promise<Response>;

/** From the documentation. */
const {
  whalePoller,
}: { whalePoller: (ask: Ask, minMon: number, first: number) => () => Promise<Transfer[]> } = await import(
  `data:text/javascript,${encodeURIComponent(codeBlock('js poll'))}`
);

const FIRST = 3;
const ALICE = address('alice');

/** Changes an index at random: blocks, reorgs of some depth, and repairs, which change ids under unchanged hashes. */
function changes(index: IndexFixture, random: () => number) {
  let made = 0;
  const blocksFrom = (first: number, count: number): NamedBlock[] =>
    Array.from({ length: count }, (_, i) =>
      Object.fromEntries(
        Array.from({ length: randomInt(random, 0, 4) }, () => [
          `tx ${first + i} ${made++}`,
          Array.from({ length: randomInt(random, 1, 3) }, () => ({
            from: random() < 0.5 ? 'alice' : 'carol',
            to: 'bob',
            amount: BigInt(randomInt(random, 1, 9)),
          })),
        ]),
      ),
    );
  const head = () => index.writer.head()?.number ?? 0;
  /** The branch of each block. */
  const branches: string[] = [];
  const append = () => {
    const blocks = blocksFrom(head() + 1, randomInt(random, 2, 6));
    branches.push(...blocks.map(() => `branch ${made}`));
    index.append(blocks, `branch ${made}`);
  };
  const reorg = () => {
    branches.length = head() - randomInt(random, 1, Math.min(20, head() - 1));
    index.writer.rollback(branches.length);
    append();
  };
  /** The same blocks with other transfers, as if their traces came later. */
  const repair = () => {
    const first = head() - randomInt(random, 0, Math.min(30, head() - 1));
    const [block = {}, ...others] = blocksFrom(first, head() - first + 1);
    index.rewrite(first, [block], branches[first - 1]);
    for (const [i, other] of others.entries()) index.append([other], branches[first + i]);
  };
  append();
  return { append, reorg, repair };
}

/** Runs `poll` while the index changes between and, through `ask`, within its passes. */
async function pollThroughChanges(
  { index, fetch }: Serving,
  seed: number,
  makePoller: (ask: Ask) => () => Promise<unknown>,
): Promise<void> {
  const random = randomSource(seed);
  const { append, reorg, repair } = changes(index, random);
  const change = () => {
    const kind = random();
    if (kind < 0.6) append();
    else if (kind < 0.85) reorg();
    else repair();
  };
  let left = 0;
  const poll = makePoller((path) => {
    if (left > 0 && random() < 0.3) {
      left--; // or a pass over many pages would not end
      change();
    }
    return fetch(path);
  });
  for (let i = 0; i < 30; i++) {
    change();
    left = 2;
    await poll();
  }
  left = 0;
  await poll();
}

/** Every transfer of at least `min` wei from FIRST on, oldest first. */
async function allWhales({ json }: Serving): Promise<Transfer[]> {
  const listed: Transfer[] = [];
  for (let cursor: unknown = ''; cursor !== null; ) {
    const page = await json(`/api/whale_transfers?min_mon=0&limit=200&blocks=1000000${cursor}`);
    listed.push(...(page.transfers as Transfer[]));
    cursor = page.nextCursor === null ? null : `&cursor=${page.nextCursor}`;
  }
  return listed.filter(({ blockNumber }) => blockNumber >= FIRST).reverse();
}

for (const seed of [1, 2]) {
  test(`the documented poller of whale_transfers has the chain's transfers, seed ${seed}`, async (t) => {
    const serving = await serve(t);
    let kept: Transfer[] = [];
    await pollThroughChanges(serving, seed, (ask) => {
      const poll = whalePoller(ask, 0, FIRST);
      return async () => {
        kept = await poll();
      };
    });
    assert.deepEqual(kept, await allWhales(serving));
    assert.ok(kept.length > 20);
  });

  test(`a client that pages address_transfers in passes has the wallet's transfers, seed ${seed}`, async (t) => {
    const serving = await serve(t);
    const client = new PagingClient();
    await pollThroughChanges(serving, seed, (ask) => () => client.pass(ask));
    const expected = new PagingClient();
    await expected.pass(serving.fetch);
    assert.deepEqual(client.kept, expected.kept);
    assert.ok(client.kept.length > 10);
    assert.ok(client.refusals > 3, `${client.refusals} answers 409`);
  });
}

test('a client that follows cursors without seen loses or doubles transfers', async (t) => {
  const serving = await serve(t);
  let kept: Transfer[] = [];
  await pollThroughChanges(serving, 1, (ask) => async () => {
    const answer = await ask(`/api/whale_transfers?min_mon=0&limit=200&after_id=${kept.at(-1)?.id ?? 0}`);
    kept = [...kept, ...((await answer.json()) as { transfers: Transfer[] }).transfers];
  });
  assert.notDeepEqual(
    kept.filter(({ blockNumber }) => blockNumber >= FIRST),
    await allWhales(serving),
  );
});

/** Keeps a wallet's transfers by passes over its pages, newest first, as documented. */
class PagingClient {
  /** Oldest first. */
  kept: Transfer[] = [];
  refusals = 0;
  private seen: string | null = null;
  /** The next pass begins with this block. */
  private first = 0;

  async pass(ask: Ask): Promise<void> {
    let read: Transfer[] = [];
    let last: number | null = null;
    for (let cursor: number | null = null; ; ) {
      const query = `address=${ALICE}&limit=10&after_block=${this.first}`;
      const place = cursor === null ? '' : `&cursor=${cursor}`;
      const seen = this.seen === null ? '' : `&seen=${this.seen}`;
      const answer = await ask(`/api/address_transfers?${query}${place}${seen}`);
      const body = (await answer.json()) as {
        transfers: Transfer[];
        nextCursor: number | null;
        from: number;
      };
      if (answer.status === 409) {
        this.refusals++;
        this.dropFrom(body.from);
        [read, cursor, last] = [[], null, null];
        continue;
      }
      assert.equal(answer.status, 200);
      const headers = ['X-Indexed-Block', 'X-Indexed-Hash', 'X-Indexed-Rewrites'];
      this.seen = headers.flatMap((name) => answer.headers.get(name) ?? []).join(':');
      last ??= Number(answer.headers.get('X-Indexed-Block'));
      read.push(...body.transfers);
      cursor = body.nextCursor;
      if (cursor !== null) continue;
      this.kept.push(...read.reverse());
      this.first = last + 1;
      return;
    }
  }

  private dropFrom(from: number): void {
    this.kept = this.kept.filter(({ blockNumber }) => blockNumber < from);
    const newest = this.kept.at(-1);
    this.seen = newest === undefined ? null : `${newest.blockNumber}:${newest.blockHash}`;
    this.first = Math.min(this.first, from);
  }
}
