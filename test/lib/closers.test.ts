import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Closers } from '../../src/lib/closers.ts';

test('what was opened last is closed first, each after the one before it is done', async () => {
  const closers = new Closers();
  const done: string[] = [];
  const close = async (name: string) => {
    await new Promise((resolve) => setImmediate(resolve));
    done.push(name);
  };
  assert.equal(closers.keep('file', close), 'file');
  closers.keep('thread', close);
  closers.keep('server', close);
  await closers.close();
  assert.deepEqual(done, ['server', 'thread', 'file']);
});

test('closing twice closes once, and both wait for its end', async () => {
  const closers = new Closers();
  let closed = 0;
  closers.keep(null, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    closed++;
  });
  const first = closers.close();
  await closers.close();
  assert.equal(closed, 1);
  await first;
});

test('one that fails keeps no other from being closed, and its error comes out in the end', async () => {
  const closers = new Closers();
  const done: string[] = [];
  closers.keep('file', (name) => done.push(name));
  closers.keep('thread', () => Promise.reject(new Error('thread')));
  closers.keep('server', () => {
    throw new Error('server');
  });
  await assert.rejects(closers.close(), /^Error: server$/);
  assert.deepEqual(done, ['file']);
});
