import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inbox } from '../../../src/server/ws/inbox.ts';

const MEGABYTE = 2 ** 20;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** An inbox whose messages are answered when the test says so, and its client's unread answers. */
class Client {
  backlogBytes = 0;
  overflows = 0;
  failures = 0;
  readonly asked: string[] = [];
  readonly inbox: Inbox;
  private readonly answers: (() => void)[] = [];
  private drained: (() => void)[] = [];

  constructor(maxBytes = MEGABYTE) {
    this.inbox = new Inbox({
      connection: this,
      handle: (message) =>
        new Promise((resolve) => {
          this.asked.push(message.toString());
          this.answers.push(resolve);
        }),
      maxBytes,
      onOverflow: () => this.overflows++,
      onFailure: () => this.failures++,
    });
  }

  whenDrained(callback: () => void): void {
    this.drained.push(callback);
  }

  send(...messages: (string | number)[]): void {
    for (const message of messages) this.inbox.enqueue(Buffer.from(String(message)));
  }

  /** Answers the first messages with this many bytes each, which the client does not read. */
  async answer(count: number, bytes = 0): Promise<void> {
    this.backlogBytes += count * bytes;
    for (const answer of this.answers.splice(0, count)) answer();
    await settled();
  }

  takeAll(): void {
    this.backlogBytes = 0;
    for (const callback of this.drained.splice(0)) callback();
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

test('a limited number of messages are handled at a time', async () => {
  const client = new Client();
  client.send(...numbers(100));
  assert.deepEqual(client.asked, numbers(32).map(String));
  await client.answer(3);
  assert.deepEqual(client.asked, numbers(35).map(String));
  for (let i = 0; i < 4; i++) await client.answer(32);
  assert.deepEqual(client.asked, numbers(100).map(String));
  assert.equal(client.overflows, 0);
});

test('no message is handled while the client has unread answers', async () => {
  const client = new Client();
  client.send(...numbers(40));
  await client.answer(4, MEGABYTE);
  assert.equal(client.asked.length, 32, 'four are answered, none begun');
  await client.answer(28, MEGABYTE);
  assert.equal(client.asked.length, 32);
  client.takeAll();
  assert.equal(client.asked.length, 40);
  client.send('one more');
  assert.equal(client.asked.at(-1), 'one more');
});

test('answered messages do not count towards the limits', async () => {
  const client = new Client(1_000);
  for (let i = 0; i < 20; i++) {
    client.send('x'.repeat(900));
    await client.answer(1);
  }
  assert.deepEqual([client.asked.length, client.overflows], [20, 0]);
});

test('messages handled at a time are bounded in bytes, but one is always handled', async () => {
  const client = new Client(1_000);
  client.send('a'.repeat(500), 'b'.repeat(500), 'c', 'd'.repeat(999));
  assert.equal(client.asked.length, 2);
  await client.answer(1);
  assert.deepEqual([client.asked.length, client.asked.at(-1)], [3, 'c']);
  await client.answer(2);
  assert.equal(client.asked.length, 4);
  const large = new Client(1_000);
  large.send('x'.repeat(2_000));
  assert.deepEqual([large.asked.length, large.overflows], [1, 0]);
});

test('waiting messages are bounded in count and bytes; beyond that the inbox stops', async () => {
  const many = new Client();
  many.send(...numbers(32 + 10_000));
  assert.equal(many.overflows, 0);
  many.send('one more', 'another');
  assert.equal(many.overflows, 1);
  await many.answer(32);
  assert.equal(many.asked.length, 32);

  const large = new Client(1_000);
  large.send(...numbers(32), 'x'.repeat(900));
  assert.equal(large.overflows, 0);
  large.send('x'.repeat(101));
  assert.equal(large.overflows, 1);
});
