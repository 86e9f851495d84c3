/** A client that reconnects with the last block it saw learns what was reverted meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nestedCleanup } from '../../support/cleanup.ts';
import { StreamIndex, tells } from '../stream-index.ts';

test('after a reorg the withdrawn transfers come newest first, then the replay from the fork', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(3);
  const seen = index.head();
  index.rollBack(1);
  index.commit(3, { branch: 'b', payments: 2 });
  await tells(await index.reconnect('alice', seen), '-3 -2 +2 +2 +3 +3 +4 +4');
});

test('a block withdrawn, restored and withdrawn again is reported by its current state', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(2);
  const seen = index.head();
  index.rollBack(1);
  index.commit(1, { branch: 'b' });
  const other = index.head();
  index.rollBack(1);
  index.commit(1);
  assert.equal(index.head().hash, seen.hash);
  await tells(await index.reconnect('alice', seen), '+2');
  await tells(await index.reconnect('bob', other), '-2 +2');
});

test('without a reorg the replay begins with the block that was seen last', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(2);
  const seen = index.head();
  index.commit(2);
  const client = await index.reconnect('alice', seen);
  await tells(client, '+2 +3 +4');
  index.commit(1);
  await tells(client, '+2 +3 +4 +5');
});

test('refuses an unknown block', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(2);
  const unknown = { to: 2, hash: `0x${'ab'.repeat(32)}` } as const;
  await assert.rejects(index.reconnect('alice', unknown), { message: /reload your stored data/ });
});

test('a block that a repair has rewritten is unknown, unless its mark was seen as well', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(4);
  const seen = index.head();
  const live = await index.wallet('alice', 1);
  await tells(live, '+1 +2 +3 +4');
  assert.equal(live.mark, null);
  index.repair(3);
  index.commit(2, { payments: 2 });
  assert.equal(index.head().hash, seen.hash);
  await tells(live, '+1 +2 +3 +4 -4 -3 +3 +3 +4 +4');
  assert.match(live.mark ?? '', /^1-3-[0-9a-f]{8}$/);

  await assert.rejects(index.reconnect('alice', seen), { message: /a repair has rewritten it: reload/ });
  await assert.rejects(index.reconnect('alice', seen, '0'), { message: /a repair has rewritten it: reload/ });
  await tells(await index.reconnect('alice', seen, live.mark), '+4 +4');
  index.commit(1);
  await tells(await index.reconnect('alice', index.head()), '+5');
});
