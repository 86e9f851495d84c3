import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LargeAnswer } from '../../../src/gateway/large-answer.ts';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import { Outbox } from '../../../src/server/ws/outbox.ts';
import { Notification } from '../../../src/streams/subscription.ts';

const ID = Buffer.from(`0x${'ab'.repeat(16)}`);

/** A socket that accepts `room` bytes until it is drained. */
class Socket {
  room: number;
  sent: string[] = [];
  corks = 0;
  private buffered = 0;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.room = room;
  }

  send(message: unknown): number {
    const text = String(message);
    this.sent.push(text);
    this.room -= text.length;
    this.buffered = Math.max(0, -this.room);
    return this.buffered > 0 ? 0 : 1;
  }

  sendFirstFragment(part: unknown): number {
    return this.send(`first ${part}`);
  }

  sendFragment(part: unknown): number {
    return this.send(`next ${part}`);
  }

  sendLastFragment(part: unknown): number {
    return this.send(`last ${part}`);
  }

  cork(callback: () => void): this {
    this.corks++;
    callback();
    return this;
  }

  getBufferedAmount(): number {
    return this.buffered;
  }

  drain(room = Number.POSITIVE_INFINITY): void {
    this.room = room;
    this.buffered = 0;
  }
}

function outboxOf(
  socket: Socket,
  maxBytes = 10_000,
  answers = new ByteBudget(2 ** 20).forClient(1),
): { outbox: Outbox; overflows: () => number } {
  let count = 0;
  const outbox = new Outbox(
    socket as unknown as ConstructorParameters<typeof Outbox>[0],
    { notificationBytes: maxBytes, answerBudget: answers },
    () => count++,
  );
  return { outbox, overflows: () => count };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('messages of one task go out together, in order', async () => {
  const socket = new Socket();
  const { outbox } = outboxOf(socket);
  const notification = new Notification('eth_subscription', '{"a":1}');
  outbox.answer('first');
  outbox.notify(notification, ID);
  outbox.answer('last');
  assert.equal(socket.sent.length, 0);
  await settled();
  assert.deepEqual(socket.sent, [
    'first',
    `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${ID}","result":{"a":1}}}`,
    'last',
  ]);
  assert.equal(socket.corks, 1);
  assert.equal(outbox.backlogBytes, 0);
});

test('a burst is sent while it is produced and does not count as backlog', () => {
  const socket = new Socket();
  const { outbox, overflows } = outboxOf(socket, 100_000);
  for (let i = 0; i < 100; i++) outbox.answer('x'.repeat(50_000));
  assert.ok(socket.sent.length >= 98);
  assert.equal(overflows(), 0);
});

test('messages wait while the client does not read and follow in order when it does', async () => {
  const socket = new Socket(10);
  const { outbox } = outboxOf(socket);
  let drained = 0;
  for (let i = 0; i < 5; i++) {
    outbox.answer(`message ${i} `.repeat(3));
    await settled();
  }
  outbox.whenDrained(() => drained++);
  assert.equal(socket.sent.length, 1);
  assert.ok(outbox.backlogBytes > 100);
  socket.drain();
  outbox.onDrain();
  assert.equal(socket.sent.length, 1, 'nothing is sent from within the call');
  await settled();
  assert.deepEqual(
    socket.sent.map((text) => text.slice(8, 9)),
    ['0', '1', '2', '3', '4'],
  );
  assert.deepEqual([outbox.backlogBytes, drained], [0, 1]);
});

test('beyond the limit the backlog is dropped and overflow is reported once', async () => {
  const socket = new Socket(0);
  const { outbox, overflows } = outboxOf(socket, 1_000);
  const notification = new Notification('eth_subscription', `"${'x'.repeat(300)}"`);
  for (let i = 0; i < 20; i++) {
    outbox.notify(notification, ID);
    await settled();
  }
  assert.equal(overflows(), 1);
  assert.equal(socket.sent.length, 1);
  assert.ok(outbox.backlogBytes < 1_000, 'only what the library has is left');
});

test('answers may exceed the limit, which still bounds the notifications behind them', async () => {
  const socket = new Socket(0);
  const { outbox, overflows } = outboxOf(socket, 1_000);
  const notification = new Notification('eth_subscription', `"${'x'.repeat(300)}"`);
  for (let i = 0; i < 3; i++) {
    outbox.answer('x'.repeat(50_000));
    await settled();
  }
  for (let i = 0; i < 2; i++) outbox.notify(notification, ID);
  assert.equal(overflows(), 0);
  for (let i = 0; i < 2; i++) outbox.notify(notification, ID);
  assert.equal(overflows(), 1);
});

test('a delivered answer does not raise the limit for notifications', async () => {
  const socket = new Socket(0);
  const { outbox, overflows } = outboxOf(socket, 1_000);
  const notification = new Notification('eth_subscription', `"${'x'.repeat(300)}"`);
  outbox.answer('x'.repeat(50_000));
  await settled();
  socket.drain(0);
  outbox.onDrain();
  for (let i = 0; i < 4; i++) outbox.notify(notification, ID);
  await settled();
  assert.equal(overflows(), 1);
});

test('an answer over the budget is replaced by its fallback', () => {
  const socket = new Socket(0);
  const { outbox, overflows } = outboxOf(socket, 1_000, new ByteBudget(200_000).forClient(1));
  outbox.answer('x'.repeat(120_000));
  outbox.answer('x'.repeat(60_000), () => 'an error');
  assert.equal(overflows(), 0);
  assert.equal(outbox.backlogBytes, 120_008);
  outbox.answer('x'.repeat(60_000), () => 'x'.repeat(60_000));
  assert.equal(overflows(), 1);
});

test('answers hold budget of their key until they are delivered or the client is closed', async () => {
  const budget = new ByteBudget(200_000);
  const one = new Socket(0);
  const other = new Socket(0);
  const first = outboxOf(one, 1_000, budget.forClient(1));
  const second = outboxOf(other, 1_000, budget.forClient(1));
  first.outbox.answer('x'.repeat(60_000));
  first.outbox.answer('x'.repeat(60_000));
  second.outbox.answer('x'.repeat(60_000));
  assert.deepEqual([first.overflows(), second.overflows()], [0, 1], 'of a key alone three quarters');
  await settled();
  one.drain();
  first.outbox.onDrain();
  await settled();
  assert.equal(first.outbox.backlogBytes, 0);
  const third = outboxOf(new Socket(0), 1_000, budget.forClient(1));
  third.outbox.answer('x'.repeat(140_000));
  assert.equal(third.overflows(), 0, 'all of it came back');
  third.outbox.stop();
  assert.ok(budget.forClient(2).reserve(150_000));
});

/** An answer in pieces of 200,000 bytes, and whether a budget of a million has all its memory back. */
function heldAnswer(...fills: string[]) {
  const budget = new ByteBudget(1_000_000).forClient(1);
  const held = LargeAnswer.of(
    fills.map((fill) => Buffer.alloc(200_000, fill)),
    budget,
  );
  assert.ok(held !== null);
  const isFree = () => {
    const fits = budget.reserve(750_000);
    if (fits) budget.release(750_000);
    return fits;
  };
  return { held, isFree };
}

const kinds = (socket: Socket) =>
  socket.sent.map((text) =>
    text
      .slice(0, 10)
      .replace(/ (.)\1*$/, ' $1')
      .replace(/^(.)\1*$/, '$1'),
  );

test('a large answer goes out in contiguous fragments, one per turn', async () => {
  const socket = new Socket();
  const { outbox, overflows } = outboxOf(socket, 1_000);
  const { held, isFree } = heldAnswer('a', 'b', 'c');
  outbox.answerLarge(held);
  outbox.answer('z');
  await settled();
  assert.ok(socket.sent.length <= 2, `${socket.sent.length} fragments in one turn`);
  outbox.notify(new Notification('eth_subscription', '{}'), ID);
  while (outbox.backlogBytes > 0) await settled();
  assert.deepEqual(kinds(socket), ['first a', 'next b', 'last c', 'z', '{"jsonrpc"']);
  assert.equal(overflows(), 0, 'it does not count as notifications that wait');
  assert.ok(isFree());
});

test('a large answer waits for the client to read each fragment and keeps its memory reserved', async () => {
  const socket = new Socket(0);
  const { outbox } = outboxOf(socket, 1_000);
  const { held, isFree } = heldAnswer('a', 'b');
  outbox.answerLarge(held);
  await settled();
  assert.deepEqual(kinds(socket), ['first a']);
  assert.equal(isFree(), false);
  socket.drain(0);
  outbox.onDrain();
  await settled();
  assert.deepEqual(kinds(socket), ['first a', 'last b']);
  assert.equal(isFree(), false, 'the last fragment is not taken yet');
  socket.drain();
  outbox.onDrain();
  await settled();
  assert.ok(isFree());
  assert.equal(outbox.backlogBytes, 0);
});

test('closing the connection frees the memory of a large answer', async () => {
  const socket = new Socket(0);
  const { outbox } = outboxOf(socket, 1_000);
  const { held, isFree } = heldAnswer('a', 'b', 'c');
  outbox.answerLarge(held);
  await settled();
  outbox.stop();
  assert.ok(isFree());
});

/** What happens to an outbox: a message of this size, or the client reads and makes this much room. */
const EVENTS = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom('notification', 'answer', 'large'),
      bytes: fc.integer({ min: 60, max: 90_000 }),
    }),
    fc.record({ kind: fc.constant('room'), bytes: fc.integer({ min: 0, max: 200_000 }) }),
  ),
  { maxLength: 12 },
);

test('whatever the client reads, all messages arrive in order and all memory comes back', async () => {
  const check = fc.asyncProperty(EVENTS, async (events) => {
    const budget = new ByteBudget(100 * 2 ** 20).forClient(1);
    const socket = new Socket(0);
    const { outbox, overflows } = outboxOf(socket, 10 * 2 ** 20, budget);
    const expected: string[] = [];
    for (const [i, { kind, bytes }] of events.entries()) {
      const letter = String.fromCharCode(97 + i);
      if (kind !== 'room') expected.push(letter);
      if (kind === 'notification')
        outbox.notify(new Notification('eth_subscription', `"${letter.repeat(bytes)}"`), ID);
      else if (kind === 'answer') outbox.answer(letter.repeat(bytes));
      else if (kind === 'large') {
        const large = LargeAnswer.of([Buffer.alloc(bytes, letter), Buffer.alloc(bytes, letter)], budget);
        assert.ok(large !== null);
        outbox.answerLarge(large);
      } else {
        socket.drain(bytes);
        outbox.onDrain();
      }
      await settled();
    }
    for (let turns = 0; outbox.backlogBytes > 0 && turns < 100; turns++) {
      socket.drain();
      outbox.onDrain();
      await settled();
    }
    assert.deepEqual(socket.sent.map(letterOf).filter(unlessRepeated), expected);
    assert.deepEqual([outbox.backlogBytes, overflows()], [0, 0]);
    assert.ok(budget.reserve(75 * 2 ** 20), 'memory stays reserved');
  });
  await fc.assert(check, { numRuns: 100, seed: 1 });
});

/** The letter that fills a message or a fragment. */
function letterOf(text: string): string {
  return /(.)\1{20}/.exec(text.replace(String(ID), ''))?.[1] ?? text;
}

function unlessRepeated(letter: string, at: number, letters: readonly string[]): boolean {
  return letter !== letters[at - 1];
}
