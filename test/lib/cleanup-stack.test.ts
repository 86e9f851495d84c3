import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CleanupStack } from '../../src/lib/cleanup-stack.ts';

test('what was opened last is closed first, each after the one before it is done', async () => {
  const closers = new CleanupStack();
  const done: string[] = [];
  const close = async (name: string) => {
    await new Promise((resolve) => setImmediate(resolve));
    done.push(name);
  };
  assert.equal(closers.adopt('file', close), 'file');
  closers.adopt('thread', close);
  closers.adopt('server', close);
  await closers.close();
  assert.deepEqual(done, ['server', 'thread', 'file']);
});

test('closing twice closes once, and both wait for its end', async () => {
  const closers = new CleanupStack();
  let closed = 0;
  closers.adopt(null, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    closed++;
  });
  const first = closers.close();
  await closers.close();
  assert.equal(closed, 1);
  await first;
});

test('one that fails keeps no other from being closed, and its error comes out in the end', async () => {
  const closers = new CleanupStack();
  const done: string[] = [];
  closers.adopt('file', (name) => done.push(name));
  closers.adopt('thread', () => Promise.reject(new Error('thread')));
  closers.adopt('server', () => {
    throw new Error('server');
  });
  await assert.rejects(closers.close(), /^Error: server$/);
  assert.deepEqual(done, ['file']);
});
