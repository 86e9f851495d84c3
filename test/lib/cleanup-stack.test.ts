import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CleanupStack } from '../../src/lib/cleanup-stack.ts';

test('resources close in reverse order, one at a time', async () => {
  const cleanup = new CleanupStack();
  const done: string[] = [];
  const close = async (name: string) => {
    await new Promise((resolve) => setImmediate(resolve));
    done.push(name);
  };
  assert.equal(cleanup.adopt('file', close), 'file');
  cleanup.adopt('thread', close);
  cleanup.adopt('server', close);
  await cleanup.close();
  assert.deepEqual(done, ['server', 'thread', 'file']);
});

test('closing twice closes once, and both calls wait for it', async () => {
  const cleanup = new CleanupStack();
  let closed = 0;
  cleanup.adopt(null, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    closed++;
  });
  const first = cleanup.close();
  await cleanup.close();
  assert.equal(closed, 1);
  await first;
});

test('a failing close does not prevent the others, and its error is thrown at the end', async () => {
  const cleanup = new CleanupStack();
  const done: string[] = [];
  cleanup.adopt('file', (name) => done.push(name));
  cleanup.adopt('thread', () => Promise.reject(new Error('thread')));
  cleanup.adopt('server', () => {
    throw new Error('server');
  });
  await assert.rejects(cleanup.close(), /^Error: server$/);
  assert.deepEqual(done, ['file']);
});

test('a resource to be closed at once starts with the first, and what was opened before waits for it', async () => {
  const cleanup = new CleanupStack();
  const done: string[] = [];
  const stopped = Promise.withResolvers<void>();
  cleanup.adopt('file', (name) => done.push(name));
  const stop = async (name: string) => {
    done.push(`${name} is told`);
    await stopped.promise;
    done.push(name);
  };
  cleanup.adopt('thread', stop, 'at once');
  cleanup.adopt('server', async (name) => {
    await new Promise((resolve) => setImmediate(resolve));
    done.push(name);
    stopped.resolve();
  });
  await cleanup.close();
  assert.deepEqual(done, ['thread is told', 'server', 'thread', 'file']);
});
