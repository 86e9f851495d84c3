/** Replays to clients that do not take at once what they are sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../support/wait.ts';
import { opened } from './client.ts';
import { StreamIndex, tells } from './stream-index.ts';

/** The limit, and more than is read of the index at a time. */
const MAX_BACKLOG_BYTES = 256 * 1024;
const BLOCKS = 250;

const blocks = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `+${from + i}`).join(' ');

test('a replay waits for a client that does not read, others go on, and it ends without a gap', async (context) => {
  const index = new StreamIndex(opened(context), true);
  index.commit(BLOCKS);
  const behind = await index.wallet('bob', 1, { backlogBytes: MAX_BACKLOG_BYTES + 1 });
  const reading = await index.wallet('bob', 1, { backlogBytes: MAX_BACKLOG_BYTES });
  await tells(reading, blocks(1, BLOCKS));
  assert.deepEqual(behind.told, []);
  index.commit(1);
  await tells(reading, blocks(1, BLOCKS + 1));
  // It is never asked twice to tell when all is read.
  assert.deepEqual([behind.told, behind.waiting.length], [[], 1]);
  behind.backlogBytes = 0;
  for (const resume of behind.waiting.splice(0)) resume();
  await waitFor(() => behind.told.length > 0, { what: 'the first transfers' });
  await tells(behind, blocks(1, BLOCKS + 1));
  index.commit(1);
  await tells(behind, blocks(1, BLOCKS + 2));
});
