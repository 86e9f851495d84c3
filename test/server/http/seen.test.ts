/** `seen`: a poller learns that what it has read was replaced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, type NamedBlock } from '../../support/index/index-fixture.ts';
import { serve } from '../serving.ts';

const TRANSFERS = `/api/address_transfers?address=${address('alice')}`;

function blocks(from: number, count: number, amount = 1n): NamedBlock[] {
  return Array.from({ length: count }, (_, i) => ({
    [`tx ${from + i}`]: [{ from: 'alice', to: 'bob', amount }],
  }));
}

/** The block that an answer names, as it is sent back. */
function seenOf({ headers }: Response, withMark = true): string {
  const mark = withMark ? headers.get('x-indexed-rewrites') : null;
  const seen = `${headers.get('x-indexed-block')}:${headers.get('x-indexed-hash')}`;
  return mark === null ? seen : `${seen}:${mark}`;
}

test('a block on the chain goes on, a replaced one says from where to read again', async (t) => {
  const { fetch, index } = await serve(t);
  index.append(blocks(1, 300));
  const first = await fetch(TRANSFERS);
  assert.equal(first.headers.get('x-indexed-hash'), index.writer.hashAt(300));
  assert.equal(first.headers.get('x-indexed-rewrites'), null);
  const seen = seenOf(first);
  const ask = (text: string) => fetch(`${TRANSFERS}&seen=${text}`);
  assert.equal((await ask(seen)).status, 200);
  index.append(blocks(301, 5));
  assert.equal((await ask(seen)).status, 200);
  assert.equal((await ask(seen.toUpperCase().replace('X', 'x'))).status, 200, 'in upper case');

  index.writer.rollback(298);
  index.append(blocks(299, 2), 'other branch');
  const gone = await ask(seen);
  assert.equal(gone.status, 409);
  assert.equal(gone.headers.get('x-indexed-block'), null);
  const { error, from } = (await gone.json()) as { error: { code: string; param: string }; from: number };
  assert.deepEqual([error.code, error.param, from], ['reorged', 'seen', 300 - 128]);
  index.writer.setFinalized(290);
  assert.equal(((await (await ask(seen)).json()) as { from: number }).from, 290);
  index.writer.setFinalized(300); // proves nothing about the branch that was seen
  assert.equal(((await (await ask(seen)).json()) as { from: number }).from, 300 - 128);
  assert.equal((await ask(seenOf(await fetch(TRANSFERS)))).status, 200);
});

test('a block that a repair has rewritten is told from what was read after it', async (t) => {
  const { fetch, index } = await serve(t);
  index.append(blocks(1, 20));
  const ask = async (text: string) => {
    const answer = await fetch(`${TRANSFERS}&seen=${text}`);
    const { from } = (await answer.json()) as { from?: number };
    return [answer.status, from];
  };
  const before = await fetch(TRANSFERS);
  const below = `5:${index.writer.hashAt(5)}`;
  const etag = before.headers.get('etag') ?? '';
  index.rewrite(10, blocks(10, 11, 7n));
  assert.equal((await fetch(TRANSFERS, { headers: { 'If-None-Match': etag } })).status, 200);
  assert.deepEqual(await ask(seenOf(before)), [409, 10]);
  assert.deepEqual(await ask(below), [200, undefined]);
  assert.deepEqual(await ask(`${below}:0`), [200, undefined]);

  const after = await fetch(TRANSFERS);
  assert.match(after.headers.get('x-indexed-rewrites') ?? '', /^1-10-[0-9a-f]{8}$/);
  assert.deepEqual(await ask(seenOf(after)), [200, undefined]);
  assert.deepEqual(await ask(seenOf(after, false)), [409, 10], 'nobody can tell without the mark');
  index.append(blocks(21, 1));
  assert.deepEqual(await ask(seenOf(await fetch(TRANSFERS), false)), [200, undefined], 'indexed since');

  index.rewrite(15, blocks(15, 7, 8n));
  assert.deepEqual(await ask(seenOf(after)), [409, 15]);
  index.rewrite(4, blocks(4, 20, 9n), 'other branch'); // lower, and a reorg at once
  assert.deepEqual(await ask(seenOf(after)), [409, 1]);
  assert.deepEqual(await ask(`${below}:0`), [409, 1]);
});

test('seen is refused unless it is a block of an answer', async (t) => {
  const { fetch, index } = await serve(t);
  index.append(blocks(1, 3));
  const hash = index.writer.hashAt(3);
  for (const text of ['', '3', `3:${hash}:`, `3:${hash}:x`, `-3:${hash}`, `3:${hash?.slice(0, 60)}`]) {
    const answer = await fetch(`${TRANSFERS}&seen=${text}`);
    assert.equal(answer.status, 400, text);
    const { error } = (await answer.json()) as { error: { code: string; param: string } };
    assert.deepEqual([error.code, error.param], ['invalid_parameter', 'seen']);
  }
  assert.equal((await fetch(`${TRANSFERS}&seen=9:${hash}`)).status, 409, 'above the index');
});
