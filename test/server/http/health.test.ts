import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/log/logger.ts';
import type { IndexStatus } from '../../../src/model/index-status.ts';
import { describeStatus } from '../../../src/server/http/health.ts';
import { notReadyReason, StallDetector, staleReason } from '../../../src/server/http/readiness.ts';
import { DATA_DIR, serve, statusAt } from '../serving.ts';

const following = (block: number, nodeHead: number): IndexStatus => ({ ...statusAt(block), nodeHead });

test('/healthz, /readyz and /status need no key', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const serving = await serve(t);
  const get = async (path: string) => {
    const response = await fetch(serving.server.url + path);
    return { status: response.status, body: await response.json() };
  };
  assert.deepEqual(await get('/healthz'), { status: 200, body: { status: 'ok' } });
  assert.deepEqual(await get('/readyz'), {
    status: 503,
    body: { ready: false, reason: 'waiting for the node' },
  });
  Object.assign(serving.state, following(90, 100));
  assert.deepEqual(await get('/readyz'), { status: 200, body: { ready: true } });
  Object.assign(serving.state, following(89, 100));
  assert.deepEqual(await get('/readyz'), {
    status: 503,
    body: { ready: false, reason: '11 blocks behind the node' },
  });
  const { status, body } = await get('/status');
  assert.equal(status, 200);
  const expected = { ...describeStatus(serving.state, 0, Date.now()), hooks: null };
  assert.deepEqual(body, JSON.parse(JSON.stringify(expected)));
});

test('atlas_ready agrees with /readyz', async (t) => {
  const serving = await serve(t);
  const ready = async () => /^atlas_ready (.*)$/m.exec(await serving.metrics.render())?.[1];
  assert.equal(await ready(), '0');
  Object.assign(serving.state, following(90, 100));
  assert.equal(await ready(), '1');
  Object.assign(serving.state, following(89, 100));
  assert.equal(await ready(), '0');
});

test('callers without a token never see the address of the node', async (t) => {
  const serving = await serve(t);
  const cases = [
    ['eth_x: connect ECONNREFUSED 10.1.2.3:8080; asked http://10.1.2.3:8080', /ECONNREFUSED; asked the node/],
    ['eth_x: getaddrinfo ENOTFOUND node.lan; asked https://node.lan', /ENOTFOUND/],
    [
      "eth_x: Hostname/IP does not match certificate's altnames: Host: node.lan. is not in the cert's " +
        'altnames: DNS:a.lan, DNS:b.lan; asked https://node.lan',
      /certificate's altnames; asked the node$/,
    ],
    [
      "WebSocket to wss://node.lan: Hostname/IP does not match certificate's altnames: IP: 10.1.2.3 is not " +
        "in the cert's list: ",
      /certificate's altnames$/,
    ],
    ['eth_x: no complete answer within 1500 ms; asked http://[fd00::1]:8080', /1500 ms; asked the node/],
  ] as const;
  for (const [reason, kept] of cases) {
    Object.assign(serving.state, following(90, 100), { reason });
    for (const path of ['/readyz', '/status']) {
      const { reason: shown } = (await (await fetch(serving.server.url + path)).json()) as { reason: string };
      assert.match(shown, kept);
      assert.doesNotMatch(shown, /10\.1\.2\.3|\.lan|fd00|:\/\//, path);
    }
  }
});

test('callers without a token never see the path of the data directory', async (t) => {
  const serving = await serve(t);
  const full = (path: string) => `the disk is full (${path}: database or disk is full, SQLITE_FULL)`;
  Object.assign(serving.state, following(90, 100), { reason: full(`${DATA_DIR}/index.db`) });
  for (const path of ['/readyz', '/status']) {
    const { reason } = (await (await fetch(serving.server.url + path)).json()) as { reason: string };
    assert.equal(reason, full('index.db'), path);
  }
});

test('a failing node does not hide damage in /readyz, and damage does not hide why the indexer has stopped', () => {
  const reasonOf = (changes: Partial<IndexStatus>) =>
    notReadyReason(
      { ...following(90, 100), ...changes },
      { readyLag: 10, staleSeconds: 0 },
      false,
      Date.now(),
    );
  const readFailure = 'index.db is damaged';
  assert.equal(reasonOf({ readFailure, reason: 'the node does not respond' }), readFailure);
  assert.equal(reasonOf({ readFailure, reason: 'another chain', phase: 'paused' }), 'another chain');
  assert.equal(reasonOf({ readFailure }), readFailure);
});

test('/readyz gives the first reason for not being ready', () => {
  const at = (state: Partial<IndexStatus>, stalled = false) =>
    notReadyReason(
      { ...following(100, 100), ...state },
      { readyLag: 10, staleSeconds: 0 },
      stalled,
      Date.now(),
    );
  assert.equal(at({}), null);
  assert.equal(at({ reason: 'the node does not answer' }), 'the node does not answer');
  assert.equal(at({ head: null }), 'no block is indexed yet');
  assert.equal(at({ nodeHead: null }), 'waiting for the node');
  assert.equal(at({ phase: 'backfilling' }), 'the indexer is backfilling');
  assert.equal(at({ phase: 'paused' }), 'the indexer is paused');
  assert.equal(at({ nodeHead: 110 }), null);
  assert.equal(at({ nodeHead: 111 }), '11 blocks behind the node');
  assert.equal(at({ nodeHead: 90 }), null);
  assert.match(at({ nodeHead: 89 }) ?? '', /^the node is 11 blocks behind the index/);
  assert.match(at({ nodeHead: 101 }, true) ?? '', /no new block for \d+ s although the node is at block 101/);
});

test('a chain whose newest block is older than index.stale_seconds is not ready', async (t) => {
  const seconds = Math.floor(Date.now() / 1000);
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: seconds * 1000 });
  const serving = await serve(t, { staleSeconds: 600 });
  const reason = async () =>
    ((await (await fetch(`${serving.server.url}/readyz`)).json()) as { reason?: string }).reason;
  const stale = async () =>
    ((await (await fetch(`${serving.server.url}/status`)).json()) as { staleReason: string | null })
      .staleReason;
  const metric = async (name: string) =>
    new RegExp(`^${name} (.*)$`, 'm').exec(await serving.metrics.render())?.[1];
  Object.assign(serving.state, following(100, 100), { headTimestamp: seconds - 600 });
  assert.deepEqual([await reason(), await stale()], [undefined, null], 'at the limit');
  assert.deepEqual([await metric('atlas_ready'), await metric('atlas_index_stale')], ['1', '0']);

  t.mock.timers.tick(1_000);
  const iso = new Date((seconds - 600) * 1000).toISOString();
  const expected = `the chain is stale: its newest block is from ${iso}, older than index.stale_seconds (600 s)`;
  assert.deepEqual([await reason(), await stale()], [expected, expected]);
  assert.deepEqual([await metric('atlas_ready'), await metric('atlas_index_stale')], ['0', '1']);
  assert.equal(await metric('atlas_index_lag_seconds'), '601');

  const logged = (text: string) => serving.logs.filter((line) => line.includes(text)).length;
  t.mock.timers.tick(5_000);
  assert.equal(logged('no new block'), 1, 'logged once');
  Object.assign(serving.state, following(101, 101), { headTimestamp: seconds });
  t.mock.timers.tick(1_000);
  assert.equal(logged('the chain has new blocks again'), 1);
  assert.equal(await reason(), undefined);
});

test('the chain is not stale while the index backfills or with the check off', () => {
  const old = { ...following(100, 100), headTimestamp: 1_000 };
  assert.notEqual(staleReason(old, 600, 2_000_000), null);
  assert.equal(staleReason(old, 0, 2_000_000), null);
  assert.equal(staleReason({ ...old, phase: 'backfilling' }, 600, 2_000_000), null);
  assert.equal(staleReason({ ...old, phase: 'paused' }, 600, 2_000_000), null);
  assert.equal(staleReason({ ...old, headTimestamp: null }, 600, 2_000_000), null);
});

test('a stall is detected within 30 seconds, and only while the node has a newer block', () => {
  const logs: string[] = [];
  const detector = new StallDetector(
    createLogger({ level: 'info', format: 'json', write: (line) => logs.push(line) }),
  );
  let now = 1_000_000;
  const run = (state: IndexStatus, seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += 1_000;
      detector.observe(state, now);
    }
    return detector.isStalled(state, now);
  };
  assert.equal(run(following(5, 5), 600), false, 'a quiet chain is not a stall');
  assert.equal(run(following(5, 6), 20), false);
  assert.equal(run(following(6, 7), 20), false, 'a block in between restarts the wait');
  assert.equal(run(following(6, 9), 10), true);
  assert.equal(run(following(6, 50), 100), true);
  assert.equal(logs.filter((line) => line.includes('the index has stalled')).length, 1, 'logged once');
  assert.equal(detector.isStalled(following(7, 50), now), false, 'over as soon as the index moves');
  assert.equal(run(following(7, 50), 1), false);
  assert.equal(logs.filter((line) => line.includes('the index advances again')).length, 1);
  assert.equal(run(following(7, 50), 40), true);
  assert.equal(run(following(50, 50), 1), false);
  const count = (text: string) => logs.filter((line) => line.includes(text)).length;
  assert.deepEqual(
    [count('the index has stalled'), count('the index advances again')],
    [2, 2],
    'each stall is logged',
  );
});

test('a backfill may take up to three minutes for a commit', () => {
  const detector = new StallDetector(
    createLogger({ level: 'error', format: 'json', write: () => undefined }),
  );
  const state: IndexStatus = { ...following(5, 1_000_000), phase: 'backfilling' };
  for (let second = 0; second <= 180; second++) detector.observe(state, second * 1_000);
  assert.deepEqual([detector.isStalled(state, 170_000), detector.isStalled(state, 180_000)], [false, true]);
});

test('a corrected clock does not cause a stall', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
  const logs: string[] = [];
  const detector = new StallDetector(
    createLogger({ level: 'info', format: 'json', write: (line) => logs.push(line) }),
  );
  t.after(detector.start(() => following(5, 6)));
  t.mock.timers.tick(3_000);
  t.mock.timers.setTime(Date.now() + 3_600_000);
  t.mock.timers.tick(1_000);
  assert.deepEqual(logs, []);
});

test('an empty index that never starts stalls too', () => {
  const detector = new StallDetector(
    createLogger({ level: 'error', format: 'json', write: () => undefined }),
  );
  const empty = { ...statusAt(null), nodeHead: 3 };
  for (let second = 0; second <= 31; second++) detector.observe(empty, second * 1_000);
  assert.equal(detector.isStalled(empty, 31_000), true);
});

test('/status adds lag, ETA and whether internal transfers are complete', () => {
  const capabilities = {
    client: 'anvil',
    chainId: 31337,
    traces: null,
    tracesReason: 'the node offers no traces',
    blockReceipts: true,
    headTag: 'latest' as const,
  };
  const state = { ...following(100, 300), blocksPerSecondLastMinute: 20, headTimestamp: 1_000, capabilities };
  assert.deepEqual(describeStatus(state, 0, 1_030_000), {
    ...state,
    lagBlocks: 200,
    lagSeconds: 30,
    staleReason: null,
    etaSeconds: 10,
    internalTransfers: false,
    internalTransfersReason: 'the node offers no traces',
    sink: null,
    cluster: null,
  });
});

test('/status reports the lag of an empty index', () => {
  const { lagBlocks, etaSeconds } = describeStatus(
    { ...statusAt(null), startBlock: 101, nodeHead: 300 },
    0,
    0,
  );
  assert.deepEqual([lagBlocks, etaSeconds], [200, null]);
});
