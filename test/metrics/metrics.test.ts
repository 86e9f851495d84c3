import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createMetrics, type Metrics, trackTotal } from '../../src/metrics/metrics.ts';

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const needsPromtool = { skip: !hasPromtool && 'left out: this machine has no promtool' };

async function withMetrics(action: (metrics: Metrics) => Promise<void>): Promise<void> {
  const metrics = createMetrics();
  try {
    await action(metrics);
  } finally {
    metrics.close();
  }
}

test('every metric has the prefix, a base unit or _total, and a help text', () =>
  withMetrics(async (metrics) => {
    const text = await metrics.render();
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
      name,
      type,
    }));
    assert.ok(types.length > 25);
    for (const { name, type } of types) {
      assert.match(name, /^atlas_[a-z_]+$/);
      assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
      if (type === 'histogram') assert.match(name, /_seconds$/);
      assert.match(text, new RegExp(`^# HELP ${name} [A-Z].+\\.$`, 'm'));
    }
  }));

test('promtool finds no problems', needsPromtool, () =>
  withMetrics(async (metrics) => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await metrics.render(),
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
  }),
);

test('counters are rendered with their labels', () =>
  withMetrics(async (metrics) => {
    metrics.transfers.inc({ kind: 'erc20' }, 3);
    for (const seconds of [0.003, 0.25, 1_000]) metrics.httpSeconds.child({ route: '/rpc' }).observe(seconds);
    metrics.onCollect(() => metrics.walBytes.set(4096));
    const text = await metrics.render();
    assert.match(text, /^atlas_index_transfers_total\{kind="erc20"\} 3$/m);
    assert.match(text, /^atlas_http_request_seconds_bucket\{le="0.002",route="\/rpc"\} 0$/m);
    assert.match(text, /^atlas_http_request_seconds_bucket\{le="0.003",route="\/rpc"\} 1$/m);
    assert.match(text, /^atlas_http_request_seconds_bucket\{le="\+Inf",route="\/rpc"\} 3$/m);
    assert.match(text, /^atlas_http_request_seconds_sum\{route="\/rpc"\} 1000.253$/m);
    assert.match(text, /^atlas_http_request_seconds_count\{route="\/rpc"\} 3$/m);
    assert.match(text, /^atlas_index_wal_bytes 4096$/m);
    assert.match(text, /^atlas_process_resident_memory_bytes \d{7,}$/m);
  }));

test('unknown gauges are omitted, and counters begin at 0', () =>
  withMetrics(async (metrics) => {
    assert.match(await metrics.render(), /^atlas_index_blocks_total 0$/m);
    for (const known of [metrics.indexHead, metrics.nodeHead, metrics.lagBlocks, metrics.lagSeconds]) {
      const { name } = await known.get();
      const shown = async () => new RegExp(`^${name} .*$`, 'm').exec(await metrics.render())?.[0];
      assert.equal(await shown(), undefined);
      known.setOrClear(0);
      assert.equal(await shown(), `${name} 0`);
      known.setOrClear(null);
      assert.equal(await shown(), undefined);
    }
  }));

test('requesting the same labels twice gives one series', () =>
  withMetrics(async (metrics) => {
    for (let i = 0; i < 2; i++) {
      metrics.httpSeconds.child({ route: '/rpc' }).observe(0.003);
      metrics.httpRequests.child({ route: '/rpc', status: '200' }).inc();
    }
    const lines = (await metrics.render()).split('\n').filter((line) => line.includes('route="/rpc"'));
    assert.equal(new Set(lines.map((line) => line.split(' ')[0])).size, lines.length);
    assert.ok(lines.includes('atlas_http_request_seconds_count{route="/rpc"} 2'));
    assert.ok(lines.includes('atlas_http_requests_total{route="/rpc",status="200"} 2'));
  }));

test('two sets of metrics are independent', () =>
  withMetrics((one) =>
    withMetrics(async (other) => {
      one.reorgs.inc();
      assert.match(await other.render(), /^atlas_index_reorgs_total 0$/m);
    }),
  ));

test('a counter follows a total counted elsewhere, even when that is reset', () =>
  withMetrics(async (metrics) => {
    const follow = trackTotal(metrics.skippedLogs);
    follow(4, { reason: 'short' });
    follow(6, { reason: 'short' });
    follow(1, { reason: 'dirty' });
    follow(2, { reason: 'short' });
    const text = await metrics.render();
    assert.match(text, /\{reason="short"\} 8$/m);
    assert.match(text, /\{reason="dirty"\} 1$/m);
  }));

test('a blocked event loop shows as delay, an idle one does not', () =>
  withMetrics(async (metrics) => {
    const wait = () => new Promise((resolve) => setTimeout(resolve, 40));
    await wait();
    await metrics.render();
    await wait();
    const end = performance.now() + 200;
    while (performance.now() < end);
    await wait();
    const blocked = Number(/delay_seconds\{stat="max"\} (\S+)/.exec(await metrics.render())?.[1]);
    assert.ok(blocked > 0.1 && blocked < 5, `${blocked} s`);
  }));

test('blocking the event loop without CPU use counts as held, and only once', () =>
  withMetrics(async (metrics) => {
    const held = async () =>
      Number(/^atlas_event_loop_held_seconds_max (\S+)$/m.exec(await metrics.render())?.[1]);
    const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
    await turn();
    await held();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    await turn();
    const longest = await held();
    assert.ok(longest > 0.5, `${longest} s`);
    const next = await held();
    assert.ok(next < 0.5, `${next} s`);
  }));
