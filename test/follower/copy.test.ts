/** What a copy of the index does next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CopiedBlock, nextOfCopy } from '../../src/follower/copy.ts';

/**
 * Blocks `first` to `last`; those above `fork` are of branch `b`. Every block has two transfers, repaired ones three.
 */
function chain(
  first: number,
  last: number,
  { fork = last, repaired = last }: { fork?: number; repaired?: number } = {},
) {
  const block = (number: number): CopiedBlock | null => {
    if (number < first || number > last) return null;
    const lastTransfer = 2 * number + (number > repaired ? 1 : 0);
    return { number, hash: `${number > fork ? 'b' : 'a'}${number}`, lastTransfer };
  };
  return { block, head: block(last)! };
}

async function nextOf(
  copy: ReturnType<typeof chain> | null,
  index: ReturnType<typeof chain>,
  upTo: number | null = index.head.number,
  rewrittenFrom: number | null = null,
) {
  let reads = 0;
  const next = await nextOfCopy(copy?.head ?? null, {
    head: index.head,
    first: 5,
    upTo,
    rewrittenFrom,
    indexed: index.block,
    copied: async (number) => {
      reads++;
      return copy?.block(number) ?? null;
    },
  });
  return { next, reads };
}

test('an empty copy begins with its first block, once that counts', async () => {
  assert.deepEqual((await nextOf(null, chain(0, 9))).next, { kind: 'rows', upTo: 9 });
  assert.deepEqual((await nextOf(null, chain(0, 4))).next, { kind: 'idle' });
  assert.deepEqual((await nextOf(null, chain(0, 9), null)).next, { kind: 'idle' });
});

test('a copy on the chain of the index continues, without reading its own blocks', async () => {
  const found = await nextOf(chain(5, 20), chain(0, 30));
  assert.deepEqual(found, { next: { kind: 'rows', upTo: 30 }, reads: 0 });
  assert.deepEqual((await nextOf(chain(5, 30), chain(0, 30))).next, { kind: 'idle' });
  assert.deepEqual(
    (await nextOf(chain(5, 20), chain(0, 30), 12)).next,
    { kind: 'idle' },
    'final below the tip',
  );
});

test('an index that ends below the copy on the same chain is behind', async () => {
  assert.deepEqual((await nextOf(chain(5, 20), chain(0, 15))).next, { kind: 'behind' });
});

test('a copy on another branch withdraws down to the highest block in common', async () => {
  for (const fork of [5, 6, 17, 18, 19]) {
    const copy = chain(5, 20);
    const { next } = await nextOf(copy, chain(0, 30, { fork }));
    assert.deepEqual(next, { kind: 'withdrawn', from: fork + 1, to: copy.block(fork), cause: 'reorg' });
  }
});

test('a shorter index on another branch is a reorg', async () => {
  const { next } = await nextOf(chain(5, 20), chain(0, 18, { fork: 16 }));
  assert.equal(next.kind === 'withdrawn' && next.from, 17);
});

test('a shallow reorg of a long copy takes few reads', async () => {
  const { reads } = await nextOf(chain(5, 1_000_000), chain(0, 1_000_001, { fork: 999_998 }));
  assert.ok(reads <= 4, `${reads} reads`);
});

test('the same blocks with other rows were rewritten', async () => {
  const copy = chain(5, 20);
  const { next } = await nextOf(copy, chain(0, 30, { repaired: 11 }));
  assert.deepEqual(next, { kind: 'withdrawn', from: 12, to: copy.block(11), cause: 'rewrite' });
});

test('an index without a block in common is unrelated', async () => {
  assert.deepEqual((await nextOf(chain(5, 20), chain(0, 30, { fork: 4 }))).next, { kind: 'unrelated' });
});

test('a rewrite is withdrawn down to its lowest block although no row shows it', async () => {
  const copy = chain(5, 20);
  const nextAfterRewrite = async (index: ReturnType<typeof chain>, from: number) =>
    (await nextOf(copy, index, index.head.number, from)).next;
  const downTo = (number: number) => ({
    kind: 'withdrawn',
    from: number + 1,
    to: copy.block(number),
    cause: 'rewrite',
  });
  assert.deepEqual(await nextAfterRewrite(chain(0, 30), 12), downTo(11));
  assert.deepEqual(await nextAfterRewrite(chain(0, 30), 20), downTo(19));
  assert.deepEqual(await nextAfterRewrite(chain(0, 30), 21), { kind: 'rows', upTo: 30 }, 'above the copy');
  assert.deepEqual(await nextAfterRewrite(chain(0, 13), 12), downTo(11), 'the index is being indexed again');
  assert.deepEqual(await nextAfterRewrite(chain(0, 9), 12), { kind: 'behind' }, 'it ends far below');
});

test('a rewrite from the first block on leaves nothing of the copy', async () => {
  const { next } = await nextOf(chain(5, 20), chain(0, 30, { repaired: 3 }), 30, 3);
  assert.deepEqual(next, { kind: 'withdrawn', from: 5, to: null, cause: 'rewrite' });
  const unrecorded = await nextOf(chain(5, 20), chain(0, 30, { repaired: 3 }));
  assert.deepEqual(unrecorded.next, next, 'by a version that did not record it');
});

test('a rewrite and a reorg at once are withdrawn down to the lower of the two', async () => {
  const copy = chain(5, 20);
  const reorgBelow = await nextOf(copy, chain(0, 30, { fork: 9 }), 30, 15);
  assert.deepEqual(reorgBelow.next, { kind: 'withdrawn', from: 10, to: copy.block(9), cause: 'reorg' });
  const rewriteBelow = await nextOf(copy, chain(0, 30, { fork: 15 }), 30, 10);
  assert.deepEqual(rewriteBelow.next, { kind: 'withdrawn', from: 10, to: copy.block(9), cause: 'rewrite' });
});
