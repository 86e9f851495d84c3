/** Commits, reorgs, delayed messages of the writer, and clients that connect and disconnect, all at random. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Prng } from '../../../src/lib/random.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { type Client, StreamIndex } from '../stream-index.ts';

/** A client, and the first block that it must receive. */
interface Listener {
  client: Client;
  first: number;
}

for (let seed = 1; seed <= 16; seed++) {
  test(`each client gets what is committed, once and in order, and nothing earlier: seed ${seed}`, async (context) => {
    const prng = new Prng(seed);
    const index = new StreamIndex(nestedCleanup(context), false);
    const turns = new Prng(seed + 1_000);
    let now = 0;
    // Turns end at any point because time passes at random.
    context.mock.method(performance, 'now', () => (now += turns.below(seed % 3)));
    /** Messages of the writer that have not arrived yet. */
    const messages: (() => void)[] = [];
    /** How often Alice paid in each block, as far as the stream knows. */
    const payments: number[] = [0];
    const listeners = new Set<Listener>();

    function commit(): void {
      const count = prng.below(4) === 0 ? 0 : prng.below(40);
      const batch = index.nextBlock(String(prng.below(1e9)), count);
      const announcement = index.announcement(batch);
      if (count > 0 && prng.below(6) > 0) messages.push(() => index.publishAnnouncement(announcement));
      if (prng.below(10) === 0) return; // the client failed
      index.write(batch);
      messages.push(() => {
        payments[batch.number[0]!] = count;
        index.publish(batch);
      });
    }

    function rollBack(): void {
      const { to: head } = index.head();
      if (head < 2) return;
      const to = Math.max(1, head - 1 - prng.below(3));
      index.undo(to);
      const { hash } = index.head();
      messages.push(() => {
        payments.length = to + 1;
        for (const listener of listeners) listener.first = Math.min(listener.first, to + 1);
        index.publishRollback(to, hash);
      });
    }

    async function subscribe(): Promise<void> {
      const from = prng.below(3) === 0 ? null : 1 + prng.below(index.head().to + 2);
      const client = await (prng.below(3) === 0
        ? index.payments(from ?? 1)
        : index.wallet(prng.below(2) === 0 ? 'alice' : 'bob', from));
      const listener = { client, first: payments.length };
      if (client.fromBlock !== null) listener.first = client.fromBlock;
      listeners.add(listener);
    }

    function assertTold(isAll: boolean): void {
      for (const { client, first } of listeners) {
        assert.equal(client.closed, false);
        const told = remaining(client.told);
        const expected = payments.flatMap((count, n) =>
          n < first || n < (client.fromBlock ?? 0) ? [] : Array<string>(count).fill(`+${n}`),
        );
        assert.deepEqual(told, isAll ? expected : expected.slice(0, told.length));
      }
    }

    commit();
    while (payments.length < 2) (messages.length === 0 ? commit : messages.shift()!)();
    for (let step = 0; step < 300; step++) {
      const choice = prng.below(16);
      if (choice < 4 && messages.length < 8) commit();
      else if (choice < 5) rollBack();
      else if (choice < 11) messages.shift()?.();
      else if (choice < 13 && listeners.size < 6) void subscribe();
      else if (choice < 14) leave([...listeners].slice(0, prng.below(2)));
      else if (prng.below(40) === 0) leave(listeners);
      await (prng.below(3) === 0 ? nextTurn() : microtasks());
      assertTold(false);
    }
    for (const message of messages) {
      message();
      await microtasks();
    }
    for (let turn = 0; turn < 500; turn++) await nextTurn();
    assertTold(true);

    function leave(leaving: Iterable<Listener>): void {
      for (const listener of leaving) {
        listener.client.unsubscribe();
        listeners.delete(listener);
      }
    }
  });
}

/** What was received and not removed. Only the newest may be removed. */
function remaining(told: readonly string[]): string[] {
  const left: string[] = [];
  for (const one of told) {
    if (one.startsWith('+')) left.push(one);
    else assert.equal(left.pop(), one.replace('-', '+'));
  }
  return left;
}

/** Resolves when all microtasks ran, as they do between two messages of a thread. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
