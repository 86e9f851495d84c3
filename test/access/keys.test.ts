import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mayUseEndpoint, methodFilter } from '../../src/access/allow-list.ts';
import { generateKey } from '../../src/access/key.ts';
import { openKeyStore } from '../../src/access/keys.ts';
import { openDatabase, setBusyTimeout } from '../../src/store/open-database.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { openStore } from './key-store.ts';

/** Runs a script in its own process, with `store` open on the same file, and returns its output. */
async function inOtherProcess(path: string, script: string): Promise<string> {
  const module = new URL('../../src/access/keys.ts', import.meta.url).href;
  const code = `
    import { openKeyStore } from ${JSON.stringify(module)};
    const store = openKeyStore(${JSON.stringify(path)});
    ${script}
    store.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [exitCode] = await once(child, 'close');
  assert.equal(exitCode, 0);
  return output.trim();
}

test('a created key verifies, other text does not', (t) => {
  const { store } = openStore(t);
  const { key, record } = store.create({ name: ' app ', tier: 'pro' });
  assert.equal(record.name, 'app');
  assert.equal(store.verify(key)?.id, record.id);
  assert.equal(store.verify(key)?.tier, 'pro');
  assert.equal(store.verify(generateKey()), null);
  assert.equal(store.verify(''), null);
  assert.equal(store.verify(key.toLowerCase()), null);
});

test('the public key is the configured one, while it is valid', (t) => {
  const { store } = openStore(t);
  const { record } = store.create({ name: 'visitors', tier: 'free' });
  assert.equal(store.verify('public'), null, 'there is none unless chosen');
  store.publicKeyId = record.id;
  assert.equal(store.verify('public')?.id, record.id);
  store.revoke(record.id);
  assert.equal(store.verify('public'), null);
});

test('the file holds the hash of a key and never the key', (t) => {
  const { store, path } = openStore(t);
  const { key } = store.create({ name: 'app', tier: 'free' });
  store.db.pragma('wal_checkpoint(TRUNCATE)');
  assert.equal(readFileSync(path).includes(key.slice(10)), false);
  assert.equal(statSync(path).mode & 0o077, 0, 'others can read the file');
});

test('a revoked key stops working at once and stays listed', (t) => {
  const { store } = openStore(t);
  const { key, record } = store.create({ name: 'app', tier: 'free' });
  assert.ok(store.verify(key));
  const changes: number[][] = [];
  store.onInvalidated((ids) => changes.push(ids));
  const revoked = store.revoke(record.id);
  assert.notEqual(revoked.revokedAt, null);
  assert.equal(store.verify(key), null);
  assert.deepEqual(changes, [[record.id]]);
  assert.deepEqual(store.list(), [revoked]);
  assert.deepEqual(store.revoke(record.id), revoked, 'revoking again changes nothing');
});

test('a rotated key has a new secret and keeps its id', (t) => {
  const { store } = openStore(t);
  const before = store.create({ name: 'app', tier: 'growth' });
  store.verify(before.key);
  const changes: number[][] = [];
  store.onInvalidated((ids) => changes.push(ids));
  const after = store.rotate(before.record.id);
  assert.equal(store.verify(before.key), null);
  assert.equal(store.verify(after.key)?.id, before.record.id);
  assert.equal(after.record.tier, 'growth');
  assert.deepEqual(changes, [[before.record.id]]);
});

test('operations on unknown and revoked keys are refused with the reason', (t) => {
  const { store } = openStore(t);
  assert.throws(() => store.revoke(7), { code: 'not_found', message: 'there is no key 7' });
  assert.throws(() => store.rotate(7), { code: 'not_found' });
  const { record } = store.create({ name: 'app', tier: 'free' });
  store.revoke(record.id);
  assert.throws(() => store.rotate(record.id), { code: 'key_revoked' });
  assert.throws(() => store.create({ name: '  ', tier: 'free' }), {
    code: 'invalid_parameter',
    param: 'name',
  });
});

test('a name with control characters is refused', (t) => {
  const { store } = openStore(t);
  for (const name of ['two\nlines', 'a\tb', '\x1b[31mred', 'bell\x07', 'c1\x9b2J']) {
    assert.throws(() => store.create({ name, tier: 'free' }), {
      name: 'RequestError',
      code: 'invalid_parameter',
      param: 'name',
      message: /control characters/,
    });
  }
  const longest = '東'.repeat(200);
  assert.equal(store.create({ name: longest, tier: 'free' }).record.name, longest);
  assert.throws(() => store.create({ name: `${longest}京`, tier: 'free' }), /1 to 200 characters/);
  assert.equal(store.create({ name: 'Zoë & 東京 🙂', tier: 'free' }).record.name, 'Zoë & 東京 🙂');
  assert.equal(store.list().length, 2);
});

test('keys created and revoked by another process take effect within a second', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] }); // so that a second suffices, however busy the machine is
  const aSecondPasses = () => t.mock.timers.tick(1_000);
  const { store, path } = openStore(t);
  const changes: number[] = [];
  store.onInvalidated((ids) => changes.push(...ids));

  const key = await inOtherProcess(path, `console.log(store.create({ name: 'other', tier: 'free' }).key);`);
  assert.equal(store.verify(key), null, 'it was not looked for yet');
  aSecondPasses();
  const record = store.verify(key) ?? assert.fail('the new key is not known');

  await inOtherProcess(path, `store.revoke(${record.id});`);
  assert.equal(store.verify(key), record);
  aSecondPasses();
  assert.equal(store.verify(key), null);
  assert.deepEqual(changes, [record.id]);
});

test('a key that another process just revoked is not rotated', (t) => {
  const { store, path } = openStore(t);
  const { record } = store.create({ name: 'app', tier: 'free' });
  const other = openDatabase(path);
  t.after(() => other.close());
  setBusyTimeout(other, 0);
  const now = Date.now();
  let refused: unknown;
  t.mock.method(Date, 'now', () => {
    try {
      other.prepare('UPDATE keys SET revoked_at = 1').run();
    } catch (error) {
      refused = error; // loses the race for this rotation
    }
    return now;
  });
  const { key } = store.rotate(record.id);
  assert.ok(refused instanceof Error && /locked/.test(refused.message));
  assert.equal(store.verify(key)?.id, record.id);
});

test('own changes do not hide recent changes by another process', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { store, path } = openStore(t);
  const first = store.create({ name: 'first', tier: 'free' });
  const other = openKeyStore(path);
  t.after(() => other.close());
  const theirs = other.create({ name: 'theirs', tier: 'free' });
  other.revoke(first.record.id);
  const ours = store.create({ name: 'ours', tier: 'free' });
  assert.ok(store.verify(ours.key));
  t.mock.timers.tick(1_000);
  assert.ok(store.verify(ours.key));
  assert.ok(store.verify(theirs.key));
  assert.equal(store.verify(first.key), null);
  assert.deepEqual(
    [...store.valid()].map(({ name }) => name),
    ['theirs', 'ours'],
  );
});

test('a change reads only its own key', (t) => {
  const { store } = openStore(t);
  const insert = store.db.prepare(
    "INSERT INTO keys (hash, hint, name, tier, created_at) VALUES (randomblob(32), 'atlas_', 'many', 'free', 0)",
  );
  store.db.transaction(() => {
    for (let i = 0; i < 1_000; i++) insert.run();
  })();
  const before = [...store.valid()].length;
  store.create({ name: 'app', tier: 'free' });
  assert.equal([...store.valid()].length, before + 1, 'the others were read too');
});

test('after changes by another process only the changed keys are read', (t) => {
  const { store: other, path } = openStore(t);
  const [first, second] = ['first', 'second'].map((name) => other.create({ name, tier: 'free' }).record);
  const { store } = openStore(t, path);
  other.db.exec('DROP TRIGGER keys_update');
  other.db.prepare("UPDATE keys SET name = 'not read' WHERE id = ?").run(first?.id);
  other.db
    .prepare("UPDATE keys SET name = 'read', change = (SELECT max(change) + 1 FROM keys) WHERE id = ?")
    .run(second?.id);
  store.reloadIfChanged();
  assert.deepEqual(
    [...store.valid()].map(({ name }) => name),
    ['first', 'read'],
  );
});

test('keys survive a restart', (t) => {
  const path = join(tempDir(t), 'keys.db');
  const first = openKeyStore(path);
  const { key } = first.create({ name: 'app', tier: 'free' });
  first.close();
  const { store } = openStore(t, path);
  assert.equal(store.verify(key)?.name, 'app');
});

test('a key is not created with an expiry in the past', (t) => {
  const { store } = openStore(t);
  for (const expiresAt of [0, Date.now() - 1, Date.now()])
    assert.throws(() => store.create({ name: 'late', tier: 'free', expiresAt }), /expiry .* is in the past/);
  assert.deepEqual(store.list(), []);
});

test('an expired key is refused, its sockets reported, and a later expiry or earlier time brings it back', (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: 1_000 });
  const { store } = openStore(t);
  const invalidated: number[] = [];
  store.onInvalidated((ids) => invalidated.push(...ids));
  const { key, record } = store.create({ name: 'guest', tier: 'free', expiresAt: Date.now() + 300 });
  assert.equal(store.verify(key)?.id, record.id);
  t.mock.timers.tick(1_000);
  assert.equal(store.verify(key), null);
  assert.deepEqual(invalidated, [record.id]);
  t.mock.timers.setTime(1_100);
  store.reloadIfChanged();
  assert.equal(store.verify(key)?.id, record.id, 'the clock was put right');
  t.mock.timers.setTime(2_000);
  store.reloadIfChanged();
  assert.equal(store.verify(key), null);
  store.update(record.id, { expiresAt: null });
  assert.equal(store.verify(key)?.id, record.id);
  store.update(record.id, { expiresAt: Date.now() - 1 });
  assert.equal(store.verify(key), null);
});

test('open sockets see a change of tier, here and by another process', async (t) => {
  const { store, path } = openStore(t);
  const { key, record } = store.create({ name: 'app', tier: 'free' });
  const held = store.verify(key);
  store.update(record.id, { tier: 'growth', name: 'application' });
  assert.deepEqual([held?.tier, held?.name], ['growth', 'application']);
  await inOtherProcess(path, `store.update(${record.id}, { tier: 'pro' });`);
  await waitFor(() => held?.tier === 'pro', { what: 'the change of another process' });
  assert.equal(store.verify(key), held);
  store.revoke(record.id);
  assert.throws(() => store.update(record.id, { tier: 'free' }), { code: 'key_revoked' });
});

test('stores an allow list, compares it by entry, and reports its change in this and other processes', async (t) => {
  const { store, path } = openStore(t);
  const allow = ['GET /api/wallet_*', 'eth_call', ' eth_call '];
  const { key, record } = store.create({ name: 'site', tier: 'free', allow });
  assert.deepEqual(record.allow, ['GET /api/wallet_*', 'eth_call']);
  assert.deepEqual(store.list()[0]?.allow, record.allow);
  assert.ok(mayUseEndpoint(record, 'GET', '/api/wallet_summary'));
  assert.ok(!mayUseEndpoint(record, 'POST', '/api/wallets/batch'));
  const mayCall = methodFilter(record) ?? assert.fail('no filter');
  assert.deepEqual(['eth_call', 'eth_callMany', 'ETH_CALL', 'eth_'].map(mayCall), [
    true,
    false,
    false,
    false,
  ]);
  for (const bad of ['', '*', '/rpc', 'GET /rpc', 'DELETE /api/*', 'eth*', 'GET /api/* ,eth_call', 'all']) {
    assert.throws(() => store.update(record.id, { allow: [bad] }), { code: 'invalid_parameter' }, bad);
  }

  const changed: number[] = [];
  const invalidated: number[] = [];
  store.onAllowListChanged((ids) => changed.push(...ids));
  store.onInvalidated((ids) => invalidated.push(...ids));
  const held = store.verify(key);
  store.update(record.id, { name: 'other' });
  assert.deepEqual(changed, []);
  store.update(record.id, { allow: ['eth_*'] });
  assert.deepEqual([changed, held?.allow], [[record.id], ['eth_*']]);
  await inOtherProcess(path, `store.update(${record.id}, { allow: [] });`);
  await waitFor(() => changed.length === 2, { what: 'the change of another process' });
  assert.deepEqual([held?.allow, invalidated], [[], []]);
});
