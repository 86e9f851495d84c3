/** Keys and counts shared by several daemons through a real PostgreSQL, which goes down and comes back. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import postgres from 'postgres';
import { openKeyStore } from '../../src/access/keys.ts';
import { openKeysFile } from '../../src/access/keys-file.ts';
import { ownMonths } from '../../src/access/usage-tables.ts';
import type { StoredRules } from '../../src/model/index-rules.ts';
import { nestedCleanup, suiteCleanup } from '../support/cleanup.ts';
import { type Member, startMember } from '../support/daemon/cluster.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { startTcpProxy } from '../support/nodes/tcp-proxy.ts';
import { startPostgres, type TestPostgres } from '../support/sink/postgres.ts';
import { grow } from '../support/sink/sink.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/**
 * How long a change or a count may take to reach the other daemons: twice the requirement, because the machine has
 * other work.
 */
const SOON_MS = 4_000;

function soon(what: string, probe: () => unknown): Promise<unknown> {
  return waitFor(probe, { what, timeoutMs: SOON_MS });
}

function used({ access }: Member, id: number): number {
  return access.usage.used(id, Date.now());
}

describe('daemons that share their keys', () => {
  const cleanup = suiteCleanup();
  let server: TestPostgres;
  let databases = 0;
  const newDatabase = () => server.createDatabase(`keys_${++databases}`);

  before(async () => {
    server = await startPostgres(cleanup);
  });

  test('a key created, changed, rotated or revoked on one daemon is also so on the other', async (t) => {
    const own = nestedCleanup(t);
    const url = await newDatabase();
    const [one, two] = [await startMember(own, { url }), await startMember(own, { url, name: 'two' })];
    const expiresAt = Date.now() + 3_600_000;
    const { key, record } = await one.access.changes.create({
      name: 'app',
      tier: 'free',
      expiresAt,
      allow: ['eth_call', 'GET /api/*'],
    });
    assert.deepEqual(one.verify(key), record, 'at once where it was made');
    await soon('the key', () => two.verify(key));
    assert.deepEqual(two.verify(key), record);

    await two.access.changes.update(record.id, {
      name: 'shop',
      tier: 'unlimited',
      allow: [],
      expiresAt: null,
    });
    await soon('the change', () => one.verify(key)?.name === 'shop');
    const { name, tier, allow } = one.verify(key) ?? {};
    assert.deepEqual([name, tier, allow, one.verify(key)?.expiresAt], ['shop', 'unlimited', [], null]);

    const rotated = await two.access.changes.rotate(record.id);
    await soon('the rotation', () => one.verify(rotated.key));
    assert.equal(one.verify(key), null);

    const ended: number[] = [];
    two.access.keys.onInvalidated((ids) => ended.push(...ids));
    await one.access.changes.revoke(record.id);
    await soon('the revocation', () => two.verify(rotated.key) === null);
    assert.deepEqual(ended, [record.id], 'its sockets are closed there');

    const refused = { code: 'key_revoked', status: 409 };
    await assert.rejects(async () => two.access.changes.rotate(record.id), refused);
    await assert.rejects(async () => one.access.changes.revoke(99), { code: 'not_found', status: 404 });
    await assert.rejects(async () => one.access.changes.create({ name: ' ', tier: 'free' }), {
      code: 'invalid_parameter',
    });
    const second = await two.access.changes.create({ name: 'next', tier: 'free' });
    assert.equal(second.record.id, record.id + 1, 'one sequence of ids');
    assert.throws(() => one.access.keys.revoke(second.record.id), { code: 'shared_keys' });
    await soon('both', () => one.client.status.daemons === 2 || two.client.status.daemons === 2);
  });

  test('a quota covers all daemons, and survives kills of PostgreSQL with every request counted once', async (t) => {
    const own = nestedCleanup(t);
    const url = await newDatabase();
    const proxy = await startTcpProxy(own, server.port);
    const cutUrl = url.replace(`:${server.port}`, `:${proxy.port}`);
    const [one, two] = [
      await startMember(own, { url: cutUrl }),
      await startMember(own, { url, name: 'two' }),
    ];
    const { key, record } = await one.access.changes.create({ name: 'app', tier: 'free' });
    const busy = await one.access.changes.create({ name: 'busy', tier: 'unlimited' });
    await soon('the keys', () => two.verify(key) && two.verify(busy.key));

    assert.equal(one.request(key, 60), 60);
    await soon('the count', () => used(two, record.id) === 60);
    assert.equal(two.request(key, 60), 40);
    await soon('the count', () => used(one, record.id) === 100);
    assert.equal(one.request(key, 1), 0);

    let counted = 0;
    for (let round = 0; round < 6; round++) {
      counted += one.request(busy.key, 10 + round) + two.request(busy.key, 5);
      if (round % 3 === 0) proxy.cut();
      if (round === 1) await server.kill();
      if (round === 2) await server.start();
      if (round === 4) {
        proxy.isDown = true;
        proxy.cut();
      }
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    assert.equal(one.request(key, 1), 0, 'the quota holds while PostgreSQL is away');
    assert.ok(one.verify(busy.key), 'and a known key works');
    proxy.isDown = false;
    for (const member of [one, two])
      await waitFor(() => used(member, busy.record.id) === counted, { what: `${counted} requests` });
    const sql = postgres(url, { max: 1 });
    own.after(() => sql.end());
    const [total] =
      await sql`SELECT sum(requests)::int AS requests FROM atlas_keys.usage WHERE key = ${busy.record.id}`;
    assert.equal(total?.requests, counted);
  });

  test('without PostgreSQL a daemon starts from its cache, refuses what it cannot know, and says so', async (t) => {
    const own = nestedCleanup(t);
    const url = await newDatabase();
    const dir = tempDir(own);
    const one = await startMember(own, { url, dir });
    const two = await startMember(own, { url, name: 'two' });
    const { key, record } = await one.access.changes.create({ name: 'app', tier: 'free' });
    await soon('the key', () => two.verify(key));
    one.request(key, 30);
    await soon('the count', () => used(two, record.id) === 30);
    two.request(key, 50);
    await one.stop();

    await server.stop();
    await soon('the reason', () => two.client.status.state === 'connecting');
    await assert.rejects(
      async () => two.access.changes.create({ name: 'x', tier: 'free' }),
      /PostgreSQL is unavailable|did not confirm/,
    );
    await assert.rejects(
      startMember(own, { url }),
      /^FatalError: access.postgres: PostgreSQL cannot be reached \(ECONNREFUSED\); this daemon has no cache/,
    );
    const again = await startMember(own, { url, dir });
    assert.match(String(again.client.status.reason), /^PostgreSQL cannot be reached/);
    assert.ok(again.verify(key));
    assert.equal(again.verify(`atlas_${'0'.repeat(38)}`), null);
    assert.equal(again.request(key, 100), 70, 'as far as it had heard of the others');
    await soon('the count', () => again.client.status.unsentRequests === 70);

    await server.start();
    await waitFor(() => used(two, record.id) === 150, { what: 'the counts of both' });
    await waitFor(() => used(again, record.id) === 150, { what: 'the counts of both' });
    assert.equal(again.client.status.unsentRequests, 0);
  });

  test('the first keys.db contributes its keys; a later one is refused, a restored one loses nothing', async (t) => {
    const own = nestedCleanup(t);
    const url = await newDatabase();
    const fill = (names: string[]) => {
      const dir = tempDir(own);
      const store = openKeyStore(join(dir, 'keys.db'));
      const issued = names.map((name) => store.create({ name, tier: 'free' }));
      store.close();
      return { dir, issued };
    };
    const first = fill(['a', 'b', 'c']);
    const one = await startMember(own, { url, dir: first.dir });
    const two = await startMember(own, { url, name: 'two' });
    for (const { key, record } of first.issued) assert.deepEqual(two.verify(key), record);
    assert.equal((await two.access.changes.create({ name: 'd', tier: 'free' })).record.id, 4);
    await assert.rejects(
      startMember(own, { url, dir: fill(['mine']).dir, name: 'three' }),
      /^FatalError: this keys\.db has keys that PostgreSQL does not have \(1\)/,
    );

    const { key = '', record } = first.issued[0] ?? {};
    const id = record?.id ?? 0;
    one.request(key, 10);
    await soon('the count', () => used(two, id) === 10);
    await one.stop();
    const backup = tempDir(own);
    cpSync(first.dir, backup, { recursive: true });
    const between = await startMember(own, { url, dir: first.dir });
    between.request(key, 20);
    await soon('the count', () => used(two, id) === 30);
    await between.stop();
    const restored = await startMember(own, { url, dir: backup });
    restored.request(key, 5);
    await soon('the count', () => used(two, id) === 35);
    assert.equal(used(restored, id), 35);

    const copy = tempDir(own);
    cpSync(backup, copy, { recursive: true });
    const twin = await startMember(own, { url, dir: copy, name: 'twin' });
    assert.match(String(twin.client.status.reason), /another daemon uses the identity of this keys\.db/);
    await twin.stop();
    await restored.stop();
    const file = openKeysFile(join(backup, 'keys.db'));
    assert.equal([...ownMonths(file).values()][0], 35);
    file.close();
  });

  test('a daemon of other transfers is refused; one of an earlier release joins once it is complete', async (t) => {
    const own = nestedCleanup(t);
    const url = await newDatabase();
    const indexBy = (change: Partial<StoredRules>) => {
      const index = createIndex(own, 1);
      grow(index, 5, 1);
      const rules = index.writer.rules();
      if (rules !== null) index.writer.setRules({ ...rules, ...change });
      return index;
    };
    await startMember(own, { url, name: 'one:8650', index: indexBy({}) });
    const wrapped = indexBy({ wrappedNative: [`0x${'ab'.repeat(20)}`] });
    await assert.rejects(
      startMember(own, { url, name: 'two:8651', index: wrapped }),
      /would assign different ids: what counts as a transfer is version .* wrappedNative 0xabab/,
    );
    const earlier = indexBy({ wrappedNative: null });
    const late = await startMember(own, { url, name: 'three:8652', index: earlier });
    const rules = wrapped.writer.rules();
    assert.ok(rules !== null);
    earlier.writer.setRules(rules);
    await assert.rejects(late.client.failed, /\(three:8652\) .*what counts as a transfer/);
  });

  test('a daemon whose repair has shifted the ids is refused until the others have it too', async (t) => {
    const own = nestedCleanup(t);
    const url = await newDatabase();
    const blocks = (from: number, transfers: number) =>
      Array.from({ length: 8 - from }, (_, i) => ({
        [`tx ${from + i}`]: Array.from({ length: transfers }, () => ({ from: 'alice', to: 'bob' })),
      }));
    const indexWith = (repair: (index: ReturnType<typeof createIndex>) => void) => {
      const index = createIndex(own, 1);
      index.append(blocks(1, 1));
      repair(index);
      return index;
    };
    await startMember(own, { url, name: 'one:8650', index: indexWith(() => undefined) });
    const sameIds = indexWith((index) => index.rewrite(4, blocks(4, 1)));
    await startMember(own, { url, name: 'two:8651', index: sameIds });
    const otherIds = indexWith((index) => index.rewrite(4, blocks(4, 2)));
    await assert.rejects(startMember(own, { url, name: 'three:8652', index: otherIds }), {
      message: new RegExp(
        'the highest id of transfers and of wallets at block 7 ' +
          String.raw`is 11 and 2 \(repairs: 1-4-[0-9a-f]{8}\) here and 7 and 2 \(repairs: `,
      ),
    });
  });

  test('a daemon that would assign different ids is refused, naming both; one that left does not count', async (t) => {
    const own = nestedCleanup(t);
    const url = await newDatabase();
    const indexFrom = (first: number, salt = 1) => {
      const index = createIndex(own, first);
      if (first === 1) grow(index, 5, salt);
      else index.append([{}]);
      return index;
    };
    const one = await startMember(own, { url, name: 'one:8650', index: indexFrom(1) });
    const same = await startMember(own, { url, name: 'same:8650', index: indexFrom(1) });
    const other = () => startMember(own, { url, name: 'two:8651', index: indexFrom(7) });
    await assert.rejects(other(), {
      name: 'FatalError',
      message: new RegExp(
        String.raw`^this daemon \(two:8651\) and the daemon (one|same):8650 would assign different ids: ` +
          'the first block is 7 here and 1 there',
      ),
    });
    await one.stop();
    await same.stop();
    await other();
    const empty = createIndex(own, 1);
    const late = await startMember(own, { url, name: 'late:8652', index: empty });
    grow(empty, 5, 1);
    await assert.rejects(late.client.failed, /\(late:8652\) .*: the first block is 1 here and 7 there/);

    const sql = postgres(url, { max: 1 });
    own.after(() => sql.end());
    await sql`UPDATE atlas_keys.cluster SET version = 99`;
    await assert.rejects(startMember(own, { url, name: 'old' }), /have version 99, this atlas-node knows 4/);
  });
});
