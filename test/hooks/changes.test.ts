/** Changes to a hook while it delivers: its secret, its URL, its filter; and a file that cannot be written. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { hookJson } from '../../src/hooks/hook-json.ts';
import { signingSecrets } from '../../src/hooks/hook-store.ts';
import { StorageError } from '../../src/lib/errors.ts';
import { operate } from '../server/operating.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { answers, HookReceiver } from '../support/runs/hook-receiver.ts';
import { waitFor } from '../support/wait.ts';
import { HookWorld } from './hook-world.ts';

const OUT = { filter: { events: ['wallet_native_out'] } };
const DAY_MS = 24 * 3_600_000;

async function setUp(context: TestContext) {
  const cleanup = nestedCleanup(context);
  return { cleanup, world: new HookWorld(cleanup), receiver: await HookReceiver.start(cleanup) };
}

const received = (receiver: HookReceiver, count: number) =>
  waitFor(() => receiver.events.length >= count, { what: `${count} events`, everyMs: 5 });

test('for a day after a rotation, messages carry a signature with each secret', async (context) => {
  const { world, receiver } = await setUp(context);
  const { id, secret: old } = world.hook(receiver.url, OUT);
  world.start();
  const signatures: string[] = [];
  receiver.behave = (response, { headers }) => {
    const body = receiver.bodies.at(-1)!;
    for (const secret of [old, world.store.get(id).secret])
      new Webhook(secret).verify(body, headers as Record<string, string>);
    signatures.push(String(headers['webhook-signature']));
    receiver.events.push(...JSON.parse(body).deliveries);
    response.writeHead(200).end();
  };
  world.pay(1);
  await received(receiver, 1);
  const rotated = world.store.rotate(id);
  assert.match(rotated.secret, /^whsec_/);
  assert.notEqual(rotated.secret, old);
  world.pay(1);
  await received(receiver, 2);
  assert.deepEqual(
    signatures.map((list) => list.split(' ').map((signature) => signature.slice(0, 3))),
    [['v1,'], ['v1,', 'v1,']],
  );
  const shown = hookJson(rotated);
  assert.ok(!JSON.stringify(shown).includes('whsec_'));
  const left = Date.parse(shown.oldSecretUntil ?? '') - Date.now();
  assert.ok(left > DAY_MS - 60_000 && left <= DAY_MS, `${left} ms`);
});

test('an old secret ends after its day, and few are kept', async (context) => {
  const { world, receiver } = await setUp(context);
  const { id, secret } = world.hook(receiver.url, OUT);
  const rotated = world.store.rotate(id, Date.now() - DAY_MS - 1);
  assert.deepEqual(signingSecrets(rotated), [rotated.secret]);
  assert.equal(hookJson(rotated).oldSecretUntil, null);
  for (let i = 0; i < 10; i++) world.store.rotate(id);
  const secrets = signingSecrets(world.store.get(id));
  assert.equal(secrets.length, 4);
  assert.ok(!secrets.includes(secret));
});

test('a new URL gets what the old one did not accept, with the same ids', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const next = await HookReceiver.start(cleanup);
  const { id } = world.hook(receiver.url, OUT);
  world.start();
  world.pay(1);
  await received(receiver, 1);
  receiver.behave = answers(500, { 'retry-after': '900' });
  world.pay(1);
  await waitFor(() => world.store.get(id).failures > 0, { what: 'the refusal' });
  world.store.update(id, { url: next.url });
  world.wake();
  world.pay(1);
  await received(next, 2);
  const [refused] = JSON.parse(receiver.bodies[1]!).deliveries;
  assert.equal(next.events[0]?.deliveryId, refused.deliveryId);
  assert.deepEqual(
    next.events.map(({ blockNumber }) => blockNumber),
    [2, 3],
  );
});

test('a late answer of the old receiver neither deletes the hook nor delays the new one', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const next = await HookReceiver.start(cleanup);
  const { id } = world.hook(receiver.url, OUT);
  const late = Promise.withResolvers<() => void>();
  receiver.behave = (response, request) => late.resolve(() => answers(410)(response, request));
  world.start();
  world.pay(1);
  const answer = await late.promise;
  world.store.update(id, { url: next.url });
  answer();
  await received(next, 1);
  assert.equal(world.store.get(id).failures, 0);
});

test('a new filter applies to what follows, without a gap', async (context) => {
  const { world, receiver } = await setUp(context);
  const { id } = world.hook(receiver.url, OUT);
  world.start();
  world.pay(2);
  await received(receiver, 2);
  world.store.update(id, { filter: { events: ['wallet_funded'] } });
  world.pay(2);
  await received(receiver, 4);
  assert.deepEqual(
    receiver.events.map(({ event, blockNumber }) => `${event} ${blockNumber}`),
    ['wallet_native_out 1', 'wallet_native_out 2', 'wallet_funded 3', 'wallet_funded 4'],
  );
});

test('while the disk is full a hook waits, neither paused nor repeating, and then continues', async (context) => {
  const { world, receiver } = await setUp(context);
  const { id } = world.hook(receiver.url, OUT);
  world.start();
  const fill = (pages: number) => world.delivering!.db.pragma(`max_page_count = ${pages}`);
  fill(1);
  world.pay(3, { payments: 200 });
  await waitFor(() => world.logged.some(({ msg }) => /waits for its file/.test(msg)), { what: 'the report' });
  const before = receiver.events.length;
  assert.equal(world.store.get(id).state, 'active');
  fill(100_000);
  await received(receiver, 600);
  assert.equal(receiver.events.length, 600, `${before} were sent while the disk was full`);
  assert.match(String(world.logged[0]?.fields.reason), /the disk is full/);
});

test('the panel changes a hook and its secret, and names what it refuses', async (context) => {
  const { operate: ask, hooks } = await operate(context);
  const post = async (path: string, body: object = {}) => {
    const answer = await ask(path, { method: 'POST', body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as PanelAnswer };
  };
  const { body } = await post('/hooks', { url: 'https://example.org/old', name: 'a' });
  const { id, secret } = body.hook;
  const rotated = await post(`/hooks/${id}/rotate`);
  assert.match(rotated.body.hook.secret, /^whsec_/);
  assert.notEqual(rotated.body.hook.secret, secret);
  const filter = { events: ['wallet_funded'] };
  const updated = await post(`/hooks/${id}`, { url: 'https://example.com/new', filter });
  assert.equal(updated.status, 200);
  assert.equal(updated.body.hook.url, 'https://example.com/...');
  assert.deepEqual(updated.body.hook.filter, filter);
  assert.equal(updated.body.hook.secret, undefined);
  const refusals: [body: object, message: RegExp][] = [
    [{}, /nothing to change: set url, filter or both/],
    [{ url: 'ftp://x' }, /http or https URL/],
    [{ filter: { event: [] } }, /event/],
    [{ urls: 'https://x' }, /urls/],
    [{ filter: { wallets: 'list:none' } }, /there is no list "none"/],
  ];
  for (const [change, message] of refusals) {
    const refused = await post(`/hooks/${id}`, change);
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
    assert.match(refused.body.error.message, message);
  }
  assert.equal((await post('/hooks/9', { url: 'https://example.org' })).status, 404);
  assert.equal((await post('/hooks/9/rotate')).status, 404);
  assert.equal(hooks.get(id).url, 'https://example.com/new');
});

test('a full disk is answered with 503 and words', async (context) => {
  const { operate: ask, hooks } = await operate(context);
  const wallets = Array.from({ length: 900 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`);
  const large = { url: 'https://example.org/', filter: { wallets } };
  const { id } = hooks.create({ ...HOOK, url: 'https://example.org/', filter: {} }, null, 0);
  hooks.db.pragma('max_page_count = 1');
  for (const [path, body] of [
    ['/hooks', large],
    [`/hooks/${id}`, { filter: large.filter }],
  ] as const) {
    const answer = await ask(path, { method: 'POST', body: JSON.stringify(body) });
    const { error } = (await answer.json()) as PanelAnswer;
    assert.deepEqual([answer.status, error.code], [503, 'storage'], path);
    assert.match(error.message, /the disk is full \(.*hooks\.db/);
  }
  const list = new Set(wallets.map((wallet) => wallet.slice(2)));
  assert.throws(() => hooks.lists.import('large', list), StorageError);
  assert.deepEqual(JSON.parse(hooks.get(id).filter), {});
});

const HOOK = {
  name: 'hook',
  format: 'json',
  chat: null,
  confirmations: 0,
  finality: false,
  fromBlock: null,
  key: null,
} as const;

/** The relevant fields of the panel's answers. */
interface PanelAnswer {
  hook: { id: number; url: string; filter: object; secret: string };
  error: { code: string; message: string };
}
