import assert from 'node:assert/strict';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { test } from 'node:test';
import { z } from 'zod';
import type { Db } from '../../../src/store/open-database.ts';
import { indexStatsOf, operate } from '../operating.ts';
import { errorOf, statusAt } from '../serving.ts';

const RECORD = z.object({
  id: z.int(),
  hint: z.string(),
  name: z.string(),
  tier: z.string(),
  createdAt: z.iso.datetime(),
  rotatedAt: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  allow: z.array(z.string()),
  revokedAt: z.iso.datetime().nullable(),
});
const ISSUED = z.object({ key: z.string(), record: RECORD });
const KEYS = z.object({
  keys: z.array(
    RECORD.extend({
      lastUsedAt: z.iso.datetime().nullable(),
      requestsThisMonth: z.int(),
      requestsPerMonth: z.int(),
    }),
  ),
  tiers: z.array(z.object({ name: z.string(), requestsPerMonth: z.int(), requestsPerSecond: z.int() })),
  monthEndsAt: z.iso.datetime(),
});
const USAGE = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  hours: z.array(z.object({ at: z.iso.datetime(), requests: z.int() })),
  months: z.array(z.object({ month: z.string(), requests: z.int() })),
});

const post = (body: object = {}): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

test('a key can be created, rotated and revoked', async (t) => {
  const { operate: ask, server } = await operate(t);
  const summaryWith = (key: string) =>
    fetch(`${server.url}/api/wallet_summary?address=0x${'11'.repeat(20)}`, {
      headers: { 'X-API-Key': key },
    }).then(({ status }) => status);
  const issued = ISSUED.parse(await (await ask('/keys', post({ name: 'shop', tier: 'free' }))).json());
  assert.match(issued.key, /^atlas_/);
  assert.equal(issued.record.hint, issued.key.slice(0, issued.record.hint.length));
  assert.equal(await summaryWith(issued.key), 503, 'valid, only the index is empty');

  const path = `/keys/${issued.record.id}`;
  const rotated = ISSUED.parse(await (await ask(`${path}/rotate`, post())).json());
  assert.notEqual(rotated.key, issued.key);
  assert.equal(await summaryWith(issued.key), 401);
  assert.equal(await summaryWith(rotated.key), 503);

  const text = await (await ask('/keys')).text();
  assert.equal(text.includes(rotated.key), false, 'a key is shown once');
  const listed = KEYS.parse(JSON.parse(text)).keys.find(({ id }) => id === issued.record.id);
  assert.deepEqual(
    [listed?.name, listed?.tier, listed?.requestsThisMonth, listed?.requestsPerMonth],
    ['shop', 'free', 2, 100_000],
  );
  assert.notEqual(listed?.rotatedAt, null);
  assert.ok(Date.now() - Date.parse(listed?.lastUsedAt ?? '') < 60_000);

  assert.equal((await ask(`${path}/revoke`, post())).status, 200);
  assert.equal(await summaryWith(rotated.key), 401);
  const late = await ask(`${path}/rotate`, post());
  assert.equal(late.status, 409);
  assert.equal((await errorOf(late)).error.code, 'key_revoked');
});

test('the log gives the id of each key created, rotated or revoked', async (t) => {
  const { operate: ask, logs } = await operate(t);
  const body = { name: ' shop ', tier: 'free', note: 'of no key' };
  const { record } = ISSUED.parse(await (await ask('/keys', post(body))).json());
  const line =
    logs.find((text) => text.includes('operator created a key')) ?? assert.fail('it is not logged');
  const { id, name, tier } = RECORD.pick({ id: true, name: true, tier: true }).parse(JSON.parse(line));
  assert.deepEqual([id, name, tier], [record.id, 'shop', 'free']);
  assert.equal(line.includes('of no key'), false, 'what a program sends besides is not logged');
});

test('invalid keys are refused with the reason', async (t) => {
  const { operate: ask } = await operate(t);
  const refusal = async (path: string, init: RequestInit) => {
    const response = await ask(path, init);
    const { error } = await errorOf(response);
    return [response.status, error.code, error.param];
  };
  assert.deepEqual(await refusal('/keys', post({ name: 'x', tier: 'gold' })), [
    400,
    'invalid_parameter',
    'tier',
  ]);
  assert.deepEqual(await refusal('/keys', post({ name: ' ', tier: 'free' })), [
    400,
    'invalid_parameter',
    'name',
  ]);
  assert.deepEqual(await refusal('/keys', post({ name: 'x' })), [400, 'invalid_body', undefined]);
  assert.deepEqual(await refusal('/keys', { method: 'POST', body: '{' }), [400, 'invalid_body', undefined]);
  assert.deepEqual(await refusal('/keys', post({ name: 'two\nlines', tier: 'free' })), [
    400,
    'invalid_parameter',
    'name',
  ]);
  for (const id of ['x', '1e1', '0x1', '-1', '9'.repeat(20)]) {
    const answer = await ask(`/keys/${id}/rotate`, post());
    assert.equal(answer.status, 404);
    assert.equal((await errorOf(answer)).error.message, `there is no key ${id}`);
  }
  assert.deepEqual(await refusal('/keys/999/revoke', post()), [404, 'not_found', undefined]);
  assert.deepEqual(await refusal('/keys/x/revoke', post()), [404, 'not_found', undefined]);
  assert.deepEqual(await refusal('/keys', post({ name: 'x'.repeat(5_000), tier: 'free' })), [
    413,
    'body_too_large',
    undefined,
  ]);
  assert.deepEqual(await refusal('/nothing', {}), [404, 'not_found', undefined]);
});

test('a key that cannot be stored is reported and not shown', async (t) => {
  const { operate: ask, access } = await operate(t);
  access.keys.db.pragma('query_only = ON');
  const answer = await ask('/keys', post({ name: 'shop', tier: 'free' }));
  assert.equal(answer.status, 503);
  const { code, message } = (await errorOf(answer)).error;
  assert.equal(code, 'storage');
  assert.match(message, /has become read-only/);
});

test('a damaged keys file is reported with advice, and serving goes on', async (t) => {
  const { operate: ask, access, fetch: callApi } = await operate(t);
  for (let i = 0; i < 200; i++) access.keys.create({ name: `app ${i}`, tier: 'free' });
  access.usage.add(2, 4, Date.now());
  access.usage.flush();
  damageFile(access.keys.db);
  const requests: [path: string, init: RequestInit][] = [
    ['/keys', {}],
    ['/usage', {}],
    ['/keys', post({ name: 'shop', tier: 'free' })],
    ['/keys/2/rotate', post()],
    ['/keys/2/revoke', post()],
  ];
  for (const [path, init] of requests) {
    const answer = await ask(path, init);
    const { code, message } = (await errorOf(answer)).error;
    assert.deepEqual([answer.status, code], [500, 'damaged'], `${path}: ${message}`);
    assert.match(message, /keys\.db is damaged .*restore a copy made by atlas-node backup/, path);
  }
  access.usage.add(2, 1, Date.now());
  access.usage.flush(); // like the timer, twice a second
  assert.equal(access.usage.used(2, Date.now()), 5);
  assert.equal(
    (await callApi(`/api/wallet_summary?address=0x${'11'.repeat(20)}`)).status,
    503,
    'still valid',
  );
});

/** Overwrites all pages of an open file except the first. */
function damageFile(db: Db): void {
  db.pragma('wal_checkpoint(TRUNCATE)');
  const pageSize = Number(db.pragma('page_size', { simple: true }));
  const file = openSync(db.name, 'r+');
  writeSync(file, Buffer.alloc(statSync(db.name).size - pageSize, 0xff), 0, null, pageSize);
  closeSync(file);
  db.pragma('shrink_memory'); // cached pages would still be right
}

test('usage lists requests by hour and month, for one key or all', async (t) => {
  const { operate: ask, json, access, index } = await operate(t);
  index.append([{}]);
  for (let i = 0; i < 3; i++) await json(`/api/wallet_summary?address=0x${'11'.repeat(20)}`);
  access.usage.add(2, 4, Date.now());
  const usage = async (query: string) => {
    const { hours, months, from, to } = USAGE.parse(await (await ask(`/usage${query}`)).json());
    const total = (rows: { requests: number }[]) => rows.reduce((sum, row) => sum + row.requests, 0);
    return { hours: total(hours), months: total(months), span: Date.parse(to) - Date.parse(from) };
  };
  assert.deepEqual(await usage(''), { hours: 7, months: 7, span: 23 * 3_600_000 });
  assert.deepEqual(await usage('?key=1&days=7'), { hours: 3, months: 3, span: (7 * 24 - 1) * 3_600_000 });
  assert.deepEqual(await usage('?key=3&days=9999'), { hours: 0, months: 0, span: (32 * 24 - 1) * 3_600_000 });
  assert.equal((await ask('/usage?key=all')).status, 400);
});

test('the index is described with its stats and a forecast from the block of the stats', async (t) => {
  const { operate: ask, state, indexStats } = await operate(t);
  const read = async () => JSON.parse(await (await ask('/index')).text());
  assert.deepEqual((await read()).survey, null);

  Object.assign(state, statusAt(100), { startBlock: 1, nodeHead: 300 });
  indexStats.latest = indexStatsOf({
    at: Date.UTC(2026, 10, 21),
    head: 100,
    transfers: 200,
    fileBytes: 1_000,
    freeBytes: 12_000,
    growth: { transfersPerDay: 100, transfersPerBlock: 4, seconds: 86_400 },
  });
  const { status, survey: shown, forecast } = await read();
  assert.equal(status.lagBlocks, 200);
  assert.equal(shown.at, '2026-11-21T00:00:00.000Z');
  // 5 bytes per transfer; 200 blocks to come with 4 transfers each, like the newest blocks, not the average.
  const expected = { bytesPerDay: 500, bytesWhenFilled: 5_000, daysUntilFull: 16 };
  assert.deepEqual(forecast, expected);
  Object.assign(state, statusAt(250), { startBlock: 1, nodeHead: 300 });
  assert.deepEqual((await read()).forecast, expected, 'the head has moved on since the stats were measured');
  indexStats.latest = { ...indexStats.latest, growth: null };
  assert.deepEqual((await read()).forecast, {
    bytesPerDay: null,
    bytesWhenFilled: 3_000,
    daysUntilFull: null,
  });
  indexStats.latest = { ...indexStats.latest, head: null, transfers: 0 };
  assert.equal((await read()).forecast.bytesWhenFilled, null);
});

test('sockets are totalled by endpoint and topic', async (t) => {
  const { operate: ask, sockets } = await operate(t);
  const openedAt = Date.UTC(2026, 10, 21);
  sockets.push(
    {
      id: 1,
      address: '192.0.2.1',
      endpoint: '/ws',
      keyId: 1,
      openedAt,
      topics: ['newHeads', 'wallet_transfers'],
      backlogBytes: 0,
    },
    {
      id: 2,
      address: '192.0.2.2',
      endpoint: '/ws',
      keyId: 2,
      openedAt,
      topics: ['newHeads'],
      backlogBytes: 9,
    },
    { id: 3, address: '192.0.2.3', endpoint: '/ws/signals', keyId: 1, openedAt, topics: [], backlogBytes: 0 },
  );
  const { total, endpoints, topics, sockets: listed } = JSON.parse(await (await ask('/sockets')).text());
  assert.equal(total, 3);
  assert.deepEqual(endpoints, { '/ws': 2, '/ws/signals': 1 });
  assert.deepEqual(topics, { newHeads: 2, wallet_transfers: 1 });
  assert.equal(listed[0].keyId, 2, 'the slowest first');
});

test('a key is renamed, moved to another tier, given an expiry and an allow list', async (t) => {
  const { operate: ask } = await operate(t);
  const issued = ISSUED.parse(await (await ask('/keys', post({ name: 'a', tier: 'free' }))).json());
  const path = `/keys/${issued.record.id}`;
  const expiresAt = '2999-01-01T00:00:00.000Z';
  const changes = { name: 'b', tier: 'tiny', expiresAt, allow: ['GET /api/*', 'eth_call'] };
  const changed = await (await ask(path, post(changes))).json();
  assert.deepEqual(changed, { record: { ...issued.record, ...changes } });
  assert.equal((await ask(path, post({ allow: ['GET /rpc'] }))).status, 400);
  assert.equal((await ask(path, post({ tier: 'gold' }))).status, 400);
  assert.equal((await ask(path, post({ expiresAt: 'soon' }))).status, 400);
  const past = { name: 'a', tier: 'free', expiresAt: '2020-01-01T00:00:00.000Z' };
  assert.equal((await ask('/keys', post(past))).status, 400);
});
