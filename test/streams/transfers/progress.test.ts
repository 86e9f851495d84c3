/** Reports of how far a subscription is (`progress`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nestedCleanup } from '../../support/cleanup.ts';
import { codeBlock } from '../../support/docs.ts';
import { waitFor } from '../../support/wait.ts';
import { StreamIndex, tells } from '../stream-index.ts';

for (const announces of [true, false]) {
  test(`a report follows the events of each commit, also without any (announced: ${announces})`, async (context) => {
    const index = new StreamIndex(nestedCleanup(context), announces);
    index.commit(2);
    const client = await index.wallet('alice', null, { progress: true });
    await tells(client, '=2');
    index.commit(1, { payments: 2 });
    await tells(client, '=2 +3 +3 =3');
    index.commit(1, { payments: 0 });
    await tells(client, '=2 +3 +3 =3 =4');
    assert.deepEqual(client.progress, index.head());
    const silent = await index.wallet('alice');
    index.commit(1);
    await tells(client, '=2 +3 +3 =3 =4 +5 =5');
    await tells(silent, '+5');
  });
}

test('a reorg takes back events, then the report names the block of the new branch', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(3);
  const client = await index.wallet('bob', 2, { progress: true });
  await tells(client, '+2 +3 =3');
  index.rollBack(1);
  index.commit(2, { branch: 'b' });
  await tells(client, '+2 +3 =3 -3 -2 =1 +2 +3 =3');
  assert.deepEqual(client.progress, index.head());
});

test('a replay reports whole blocks as it goes, and its end as live', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), false);
  index.commit(4, { payments: 150 });
  index.commit(1, { payments: 0 });
  const client = await index.payments(2, true);
  await waitFor(() => client.told.at(-1) === '=5', { what: `the end; told ${client.told.slice(-3)}` });
  const events = client.told.filter((told) => told.startsWith('+'));
  assert.equal(events.length, 450);
  for (const [i, told] of client.told.entries()) {
    const block = Number(told.slice(1));
    if (told.startsWith('~'))
      for (const later of client.told.slice(i + 1))
        assert.ok(Number(later.slice(1)) > block, client.told.join(' '));
  }
  assert.ok(
    client.told.some((told) => told.startsWith('~')),
    'no report during the replay',
  );
  assert.ok(!client.told.includes('~1'), 'a block before the replay');
});

test('while blocks are committed in batches, the newest is reported up to four times a second', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), false);
  index.commit(1);
  const client = await index.wallet('alice', null, { progress: true });
  await tells(client, '=1');
  const startedAt = performance.now();
  for (let i = 0; i < 40; i++) {
    index.commitAtOnce(2);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await waitFor(() => client.told.at(-1) === '=81', { what: 'the newest block to be reported' });
  const reports = client.told.filter((told) => told.startsWith('=')).length;
  const allowed = 2 + (performance.now() - startedAt) / 250;
  assert.ok(reports <= allowed, `${reports} reports, ${allowed} allowed`);
});

test('a reported block works as lastSeen, also without events or after a repair read it again', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(2);
  index.commit(1, { payments: 0 });
  const client = await index.wallet('alice', null, { progress: true });
  await tells(client, '=3');
  const seen = client.progress;
  assert.ok(seen);
  index.commit(2);
  await tells(await index.reconnect('alice', seen), '+4 +5');
  index.repair(4);
  index.commit(2);
  await waitFor(() => client.told.at(-1) === '=5' && client.mark !== null, {
    what: 'the mark of the repair',
  });
  assert.ok(client.progress);
  await tells(await index.reconnect('alice', client.progress, client.mark), '+5');
  await assert.rejects(index.reconnect('alice', client.progress), /a repair has rewritten it/);
});

test('the documented recipe credits every deposit once, and none that a shallower reorg withdraws', async (context) => {
  const { confirmations } = await import(
    `data:text/javascript,${encodeURIComponent(codeBlock('js confirmations'))}`
  );
  const needed = 4;
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const client = await index.wallet('bob', 1, { progress: true });
  for (let i = 0; i < 60; i++) {
    if (i % 3 === 2) index.rollBack(index.head().to - 1 - (i % (needed - 1)));
    index.commit(1 + (i % needed), { branch: `${i}`, payments: i % 3 });
    await new Promise((resolve) => setImmediate(resolve));
  }
  index.commit(needed, { branch: 'end', payments: 0 });
  const { to } = index.head();
  await waitFor(() => client.told.at(-1) === `=${to}`, { what: `the head ${to}` });

  const keyOf = ({ blockHash, txHash }: Record<string, unknown>) => `${blockHash} ${txHash}`;
  const credited = new Set<string>();
  const onChain = new Set<string>();
  let withdrawn = 0;
  const receive = confirmations(needed, (event: Record<string, unknown>) => {
    assert.ok(!credited.has(keyOf(event)), 'credited twice');
    credited.add(keyOf(event));
  });
  for (const result of client.results) {
    receive(result);
    if ('progress' in result) continue;
    if (result.removed !== true) onChain.add(keyOf(result));
    else {
      withdrawn++;
      onChain.delete(keyOf(result));
      assert.ok(!credited.has(keyOf(result)), `${keyOf(result)} was credited and then withdrawn`);
    }
  }
  assert.ok(withdrawn > 10, `${withdrawn} withdrawn`);
  assert.deepEqual([...credited].sort(), [...onChain].sort());
});
