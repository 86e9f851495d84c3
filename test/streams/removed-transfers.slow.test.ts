/** Which clients learn that transfers are removed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { nestedCleanup } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { type Client, StreamIndex, tells } from './stream-index.ts';

v8.setFlagsFromString('--expose-gc');
const gc: () => void = vm.runInNewContext('gc');

/** References from the last loop may still be on the stack. */
async function assertForgotten(left: readonly WeakRef<Client>[]): Promise<void> {
  await nextTurn();
  gc();
  const kept = left.filter((client) => client.deref() !== undefined).length;
  assert.ok(kept < 3, `${kept} are kept`);
}

for (const announces of [false, true]) {
  const how = announces ? 'matched before the commit' : 'read from the index';

  test(`${how}: exactly the clients that got a transfer get its removal`, async (context) => {
    const index = new StreamIndex(nestedCleanup(context), announces);
    index.commit(8);
    const early = await index.wallet('alice');
    const stranger = await index.wallet('carol', 1);
    const signals = await index.payments(8);
    index.commit(2);
    await tells(early, '+9 +10');
    const late = await index.wallet('bob');
    const replayed = await index.wallet('bob', 7);
    index.commit(1);
    await tells(late, '+11');
    await tells(replayed, '+7 +8 +9 +10 +11');
    await tells(signals, '+8 +9 +10 +11');
    index.rollBack(9);
    await tells(early, '+9 +10 +11 -11 -10');
    await tells(late, '+11 -11');
    await tells(replayed, '+7 +8 +9 +10 +11 -11 -10');
    await tells(signals, '+8 +9 +10 +11 -11 -10');
    index.commit(1, { branch: 'b' });
    for (const client of [early, late, replayed, signals])
      await waitFor(() => client.told.at(-1) === '+10', { what: 'block 10 of the other branch' });
    index.rollBack(8);
    await tells(early, '+9 +10 +11 -11 -10 +10 -10 -9');
    await tells(late, '+11 -11 +10 -10');
    await tells(replayed, '+7 +8 +9 +10 +11 -11 -10 +10 -10 -9');
    await tells(signals, '+8 +9 +10 +11 -11 -10 +10 -10 -9');
    assert.deepEqual(stranger.told, []);
    assert.ok([early, late, replayed, signals, stranger].every(({ closed }) => !closed));
  });

  test(`${how}: a replay in progress gets removals only for the transfers it has pushed`, async (context) => {
    const index = new StreamIndex(nestedCleanup(context), announces);
    index.commit(3, { payments: 2_000 });
    const client = await index.wallet('alice', 1);
    const tellsSome = () => client.told.length > 2_000 && client.told.length < 6_000;
    while (!tellsSome()) await nextTurn();
    const before = [...client.told];
    index.rollBack(1);
    const back = client.told.slice(before.length);
    assert.deepEqual(
      back,
      before
        .slice(2_000)
        .reverse()
        .map((told) => told.replace('+', '-')),
    );
    index.commit(1, { branch: 'b', payments: 1 });
    await waitFor(() => client.told.length === before.length + back.length + 1, { what: 'the other branch' });
    assert.equal(client.closed, false);
  });

  test(`${how}: clients that left leave nothing in memory, whatever they got and whoever stays`, async (context) => {
    const index = new StreamIndex(nestedCleanup(context), announces);
    index.commit(3, { payments: 20 });
    const staying = await index.wallet('alice', 1);
    const left: WeakRef<Client>[] = [];
    for (let i = 0; i < 200; i++) {
      const client = await index.wallet('alice', 1);
      await waitFor(() => client.told.length === 60, { what: 'the replay', everyMs: 1 });
      client.unsubscribe();
      left.push(new WeakRef(client));
    }
    await assertForgotten(left);
    index.rollBack(1);
    assert.equal(staying.told.filter((told) => told.startsWith('-')).length, 40);
    assert.equal(staying.closed, false);
  });
}

test('clients that left leave nothing in memory when the announced blocks are never committed', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(1);
  const left: WeakRef<Client>[] = [];
  const clients = await Promise.all(Array.from({ length: 20 }, () => index.wallet('alice')));
  index.announce();
  for (const client of clients.splice(0)) {
    client.unsubscribe();
    left.push(new WeakRef(client));
  }
  await assertForgotten(left);
});
