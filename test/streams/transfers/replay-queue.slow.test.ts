/** Replays to clients that do not read immediately. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payer } from '../../../src/streams/subscription.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { waitFor } from '../../support/wait.ts';
import { StreamIndex, tells } from '../stream-index.ts';

/** The limit, and more than is read from the index at a time. */
const MAX_BACKLOG_BYTES = 256 * 1024;
const BLOCKS = 250;

const blocks = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `+${from + i}`).join(' ');

test('a replay waits for a slow client while others go on, and finishes without a gap', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(BLOCKS);
  const behind = await index.wallet('bob', 1, { backlogBytes: MAX_BACKLOG_BYTES + 1 });
  const reading = await index.wallet('bob', 1, { backlogBytes: MAX_BACKLOG_BYTES });
  await tells(reading, blocks(1, BLOCKS));
  assert.deepEqual(behind.told, []);
  index.commit(1);
  await tells(reading, blocks(1, BLOCKS + 1));
  // It is never asked twice to report that everything is read.
  assert.deepEqual([behind.told, behind.waiting.length], [[], 1]);
  behind.backlogBytes = 0;
  for (const resume of behind.waiting.splice(0)) resume();
  await waitFor(() => behind.told.length > 0, { what: 'the first transfers' });
  await tells(behind, blocks(1, BLOCKS + 1));
  index.commit(1);
  await tells(behind, blocks(1, BLOCKS + 2));
});

/** A payer that answers charges in turn, then admits all; `onCharge` is called with each. */
function payer(
  key: number,
  refusals: NonNullable<ReturnType<Payer['charge']>>[] = [],
  onCharge: () => void = () => undefined,
): Payer {
  return {
    key,
    charge() {
      onCharge();
      return refusals.shift() ?? null;
    },
  };
}

test('a replay costs a request per 1,000 transfers, and waits while the key is over its rate', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(5, { payments: 500 });
  const toldAt: number[] = [];
  const client: { told: string[] } = { told: [] };
  const refusals = [{ code: 'rate_limited', waitMs: 30 } as const];
  const paying = payer(1, refusals, () => toldAt.push(client.told.length));
  Object.assign(client, await index.wallet('bob', 1, { payer: paying }));
  await waitFor(() => client.told.length === 2_500, { what: 'all transfers' });
  const thousands = toldAt.map((count) => Math.floor(count / 1_000));
  assert.deepEqual(thousands, [1, 1, 2], 'refused once, then paid for twice');
});

test("a replay closes the connection when the key's quota is exceeded", async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(5, { payments: 500 });
  const client = await index.wallet('bob', 1, { payer: payer(1, [{ code: 'quota_exceeded', waitMs: 1 }]) });
  await waitFor(() => client.closed, { what: 'the end' });
  assert.ok(client.told.length >= 1_000 && client.told.length < 1_200, `${client.told.length} are paid for`);
  assert.match(client.reason, /monthly quota/);
  assert.ok(Buffer.byteLength(client.reason) <= 123);
});

test('many replays of one key share the throughput of a single replay of another key', async (context) => {
  const index = new StreamIndex(nestedCleanup(context), true);
  index.commit(6, { payments: 500 });
  const many = await Promise.all(
    Array.from({ length: 20 }, () => index.wallet('bob', 1, { payer: payer(1) })),
  );
  const total = () => many.reduce((sum, { told }) => sum + told.length, 0);
  const before: number[] = [];
  const atStart = total();
  const one = await index.wallet('bob', 1, { payer: payer(2, [], () => before.push(total() - atStart)) });
  await waitFor(() => one.told.length === 3_000, { what: 'the one replay' });
  assert.equal(before.length, 2);
  // A busy machine delays the one by a turn or two; shares by connection would let twenty times as many through.
  assert.ok((before[0] ?? 0) < 6_000 && (before[1] ?? 0) < 10_000, before.join());
  await waitFor(() => total() === 60_000, { what: 'all others' });
});
