/** After any reorg a receiver ends with exactly the events of the index, whatever was final or refused meanwhile. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { randomSource } from '../support/chain/random-chain.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import type { NamedBlock } from '../support/index/index-fixture.ts';
import { answers, HookReceiver, keptEvents } from '../support/runs/hook-receiver.ts';
import { waitFor } from '../support/wait.ts';
import { HookWorld } from './hook-world.ts';

const OUT = { filter: { events: ['wallet_native_out'] } };

const MAX_REORG = 8;

/** A block of the model: its branch names its hash. */
interface Mined {
  branch: string;
  payments: number;
}

/** The index as a list of blocks from number 1 on, and receivers that are checked against it. */
class Model {
  readonly world: HookWorld;
  readonly chain: Mined[] = [];
  /** The tail that the last fork removed, while the blocks below it are the same. */
  removed: { to: number; tail: Mined[] } | null = null;
  final = 0;
  /** The height that bounds reorgs. */
  private top = 0;
  /** Names the blocks to come. Never one of a removed block: the same hash stands for the same events. */
  private branch = '';
  private branches = 0;

  constructor(world: HookWorld) {
    this.world = world;
  }

  /** No reorg removes this block, as the index promises. */
  get lowest(): number {
    return Math.max(0, this.final, this.top - MAX_REORG);
  }

  get head(): number {
    return this.chain.length;
  }

  mine(payments: readonly number[], branch = this.branch): void {
    this.branch = branch;
    this.append(payments.map((payments) => ({ branch, payments })));
  }

  /** Replaces the blocks above `to`, by none at first. */
  fork(to: number): string {
    const isBelow = this.removed !== null && to < this.removed.to;
    const tail = this.rollBack(to);
    if (this.removed === null || isBelow) this.removed = { to, tail };
    return this.newBranch();
  }

  /** Lets the blocks return that a fork removed. */
  restore(): void {
    if (this.removed === null || this.removed.to < this.lowest) return;
    const { to, tail } = this.removed;
    this.removed = { to, tail: this.rollBack(to) };
    this.append(tail);
    this.newBranch();
  }

  finalize(number: number): void {
    if (number <= this.final || number > this.head) return;
    this.final = number;
    this.world.index.writer.setFinalized(number);
    this.world.wake();
    if (this.removed !== null && this.removed.to < number) this.removed = null;
  }

  /** Block and hash of each payment. */
  payments(from = 1): string[] {
    return this.chain.flatMap(({ payments }, i) =>
      i + 1 < from ? [] : Array<string>(payments).fill(`${i + 1} ${this.world.index.writer.hashAt(i + 1)}`),
    );
  }

  private newBranch(): string {
    this.branch = `b${++this.branches}`;
    return this.branch;
  }

  private rollBack(to: number): Mined[] {
    this.world.rollBack(to);
    return this.chain.splice(to);
  }

  private append(blocks: readonly Mined[]): void {
    this.top = Math.max(this.top, this.head + blocks.length);
    for (const block of blocks) {
      const number = this.chain.push(block);
      this.world.append([payments(number, block)], block.branch);
    }
  }
}

function payments(number: number, { branch, payments }: Mined): NamedBlock {
  return Object.fromEntries(
    Array.from({ length: payments }, (_, i) => [`${number} ${branch} ${i}`, [{ from: 'alice', to: 'bob' }]]),
  );
}

async function setUp(context: TestContext) {
  const cleanup = nestedCleanup(context);
  const world = new HookWorld(cleanup);
  return { cleanup, world, model: new Model(world), receiver: await HookReceiver.start(cleanup) };
}

/** Waits until a hook has reached the head of the index, and compares what its receiver has. */
async function settles(
  { world, head, payments }: Pick<Model, 'world' | 'head'> & { payments: string[] },
  receiver: HookReceiver,
  what: string,
) {
  const hash = world.index.writer.hashAt(head);
  const isAtHead = () => {
    const hook = world.store.list().find(({ url }) => url === receiver.url);
    return (
      hook?.cursor.hash === hash &&
      hook?.cursor.position === null &&
      world.store.parts.attempted(hook.id, hook.cursor).length === 0 &&
      !world.store.parts.isWithdrawing(hook.id)
    );
  };
  await waitFor(isAtHead, { what: `the head, ${what}`, everyMs: 10 });
  const kept = keptEvents(receiver.events).map(({ blockNumber, blockHash }) => `${blockNumber} ${blockHash}`);
  assert.deepEqual(counted(kept), counted(payments), what);
}

/** Neighbours of the same block as one. */
function counted(blocks: readonly string[]): string[] {
  const runs: { block: string; count: number }[] = [];
  for (const block of blocks) {
    const last = runs.at(-1);
    if (last?.block === block) last.count++;
    else runs.push({ block, count: 1 });
  }
  return runs.map(({ block, count }) => `${block.slice(0, 16)} ${count} times`);
}

/** The engine stores cursors over blocks without events only every few seconds: a last payment moves them. */
async function settlesAll(model: Model, receivers: readonly HookReceiver[], what: string): Promise<void> {
  model.mine([1]);
  const { world, head } = model;
  for (const receiver of receivers)
    await settles({ world, head, payments: model.payments() }, receiver, what);
}

function retryNow(world: HookWorld): void {
  world.store.db.exec('UPDATE hooks SET next_attempt_at = NULL');
  world.wake();
}

test('a receiver that returns after the other branch became final gets all of that branch', async (context) => {
  const { world, model, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  world.start();
  model.mine([2, 2, 2]);
  model.finalize(1);
  model.mine([3, 3], 'fork');
  await waitFor(() => receiver.events.length === 12, { what: 'the fork' });
  receiver.behave = answers(500);
  model.mine([78, 4, 4], model.fork(3));
  model.mine(Array<number>(20).fill(1));
  model.finalize(20);
  await waitFor(() => world.store.get(hook.id).failures > 0, { what: 'the refusal' });
  receiver.behave = null;
  retryNow(world);
  await settlesAll(model, [receiver], 'after the outage');
  assert.equal(receiver.events.filter(({ removed }) => removed).length, 6);
});

test('a fork without events of the hook hides none of the other branch, even if final at once', async (context) => {
  const { world, model, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  world.start();
  model.mine([1, 1]);
  model.finalize(2);
  await waitFor(() => world.store.get(1).delivered === 2, { what: 'the events before the fork' });
  model.mine([0, 0, 0], 'fork');
  const isOnFork = async () => {
    await world.stop(); // stores the cursor
    if (world.store.get(1).cursor.number === 5) return true;
    world.start();
    return false;
  };
  await waitFor(isOnFork, { what: 'the fork' });
  assert.equal(receiver.events.length, 2);
  model.mine([5, 5, 5, 5], model.fork(2));
  model.finalize(6);
  world.start();
  await settlesAll(model, [receiver], 'after the fork');
});

test('a hook made on a fork gets the other branch from the fork on, and nothing before', async (context) => {
  const { world, model, receiver } = await setUp(context);
  const later = await HookReceiver.start(nestedCleanup(context));
  model.mine([1, 1, 1]);
  model.mine([1, 1], 'fork');
  world.hook(receiver.url, OUT);
  world.hook(later.url, { ...OUT, fromBlock: 5 });
  world.start();
  await waitFor(() => later.events.length === 1, { what: 'the fork' });
  await waitFor(() => world.store.position(1)?.trail?.length === 5, { what: 'the trail' });
  model.mine([1, 1, 1], model.fork(3));
  model.finalize(6);
  const { head } = model;
  await settles({ world, head, payments: model.payments(4) }, receiver, 'from the fork on');
  await settles({ world, head, payments: model.payments(5) }, later, 'from its first block on');
});

test('a reorg is noticed before the other branch is as high as the cursor', async (context) => {
  const { world, model, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  world.start();
  model.mine([1, 1, 1, 1, 1, 1]);
  await waitFor(() => receiver.events.length === 6, { what: 'the blocks' });
  model.mine([1], model.fork(2));
  await waitFor(() => keptEvents(receiver.events).length === 3 && receiver.events.length === 11, {
    what: 'the withdrawals',
  });
});

test('an attempt on a removed branch is withdrawn before the other branch is sent', async (context) => {
  const { world, model, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  world.start();
  model.mine([1]);
  await waitFor(() => receiver.events.length === 1, { what: 'the first block' });
  receiver.behave = (response) => {
    receiver.events.push(...JSON.parse(receiver.bodies.at(-1)!).deliveries);
    response.destroy(); // accepted, but the acceptance is lost
  };
  model.mine([2, 2], 'fork');
  await waitFor(() => world.store.get(hook.id).failures > 0, { what: 'the lost acceptance' });
  model.mine([3, 3, 3, 3], model.fork(1));
  model.finalize(5);
  receiver.behave = null;
  retryNow(world);
  await settlesAll(model, [receiver], 'after the lost acceptance');
});

test('a hook of an earlier version, which stored no trail, loses nothing either', async (context) => {
  const { world, model, receiver } = await setUp(context);
  world.hook(receiver.url, { ...OUT, fromBlock: 0 });
  world.start({ maxReorg: MAX_REORG });
  model.mine([1, 2, 1, 0, 2]);
  model.finalize(2);
  model.mine([1, 2], 'fork');
  await waitFor(() => receiver.events.length === 9, { what: 'the fork' });
  await world.stop();
  world.store.db.exec(`
    ALTER TABLE hooks DROP COLUMN trail;
    ALTER TABLE hooks DROP COLUMN old_secrets;
    ALTER TABLE hooks DROP COLUMN mark;
    ALTER TABLE hooks DROP COLUMN first_block;
    PRAGMA user_version = 1`);
  model.mine([3, 3, 3, 3], model.fork(5));
  model.finalize(9);
  world.start({ maxReorg: MAX_REORG });
  await settlesAll(model, [receiver], 'after the update');
});

for (let seed = 1; seed <= 6; seed++) {
  test(`every event arrives and every removed one is withdrawn, whatever happens (${seed})`, async (context) => {
    const { cleanup, world, model } = await setUp(context);
    const random = randomSource(seed * 6_271);
    const int = (below: number) => Math.floor(random() * below);
    const receivers = await Promise.all([1, 2].map(() => HookReceiver.start(cleanup)));
    const outages = [0, 0];
    for (const [i, receiver] of receivers.entries()) {
      world.hook(receiver.url, { ...OUT, fromBlock: 0 });
      receiver.behave = (response) => {
        const choice = outages[i]! > 0 ? 0 : random();
        if (choice < 0.15) return void response.writeHead(500).end();
        receiver.events.push(...JSON.parse(receiver.bodies.at(-1)!).deliveries);
        if (choice < 0.3) response.destroy();
        else response.writeHead(200).end();
      };
    }
    const payments = () =>
      Array.from({ length: 1 + int(3) }, () => (int(3) === 0 ? 0 : int(12) === 0 ? 120 : int(4)));
    world.start({ maxReorg: MAX_REORG });
    for (let step = 0; step < 60; step++) {
      const choice = int(12);
      if (choice < 4) model.mine(payments());
      else if (choice < 6) {
        const lowest = Math.max(model.lowest, model.head - 4);
        const branch = model.fork(lowest + int(model.head - lowest + 1));
        if (int(3) > 0) model.mine(payments(), branch);
      } else if (choice === 6 && model.head > 0) model.restore();
      else if (choice === 7) model.finalize(model.head - int(3));
      else if (choice === 8) for (const i of [0, 1]) outages[i] = int(2) * (2 + int(6));
      else if (choice === 9) {
        await world.stop();
        if (int(2) === 0) model.mine(payments());
        world.start({ maxReorg: MAX_REORG });
      }
      for (const i of [0, 1]) outages[i] = Math.max(0, outages[i]! - 1);
      retryNow(world);
      const turns = int(8);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    for (const receiver of receivers) receiver.behave = null;
    retryNow(world);
    await settlesAll(model, receivers, `seed ${seed}`);
  });
}
