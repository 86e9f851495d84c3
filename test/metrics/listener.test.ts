import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { registerFileGauges } from '../../src/daemon/metrics.ts';
import type { Logger } from '../../src/log/logger.ts';
import { listenForMetrics } from '../../src/metrics/listener.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { tempDir } from '../support/temp-dir.ts';

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

function metricsOf(t: TestContext) {
  const metrics = createMetrics();
  t.after(() => metrics.close());
  return metrics;
}

async function listening(t: TestContext) {
  const listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, metricsOf(t), () => null, SILENT);
  t.after(() => listener.close());
  return listener;
}

/** A port that stays taken until the test ends. */
async function takenPort(t: TestContext): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

test('metrics are served in the text format of Prometheus', async (t) => {
  const { url } = await listening(t);
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(await response.text(), /^atlas_process_start_time_seconds \d{10}$/m);
});

test('only metrics are served, and only by GET', async (t) => {
  const { url } = await listening(t);
  const elsewhere = await fetch(new URL('/admin', url));
  assert.equal(elsewhere.status, 404);
  assert.equal(await elsewhere.text(), 'try /metrics, /healthz or /readyz\n');
  assert.equal((await fetch(url, { method: 'POST', body: 'x' })).status, 405);
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
});

test('metrics that cannot be rendered are a server error and a line in the log', async (t) => {
  const logged: string[] = [];
  const broken = { ...metricsOf(t), render: () => Promise.reject(new Error('broken')) };
  const log = { ...SILENT, error: (_: unknown, msg: string) => logged.push(msg) };
  const listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, broken, () => null, log);
  t.after(() => listener.close());
  assert.equal((await fetch(listener.url)).status, 500);
  assert.deepEqual(logged, ['the metrics cannot be rendered']);
});

test('closing does not wait for keep-alive connections', async (t) => {
  const listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, metricsOf(t), () => null, SILENT);
  await (await fetch(listener.url)).text();
  await listener.close();
  await assert.rejects(fetch(listener.url));
});

test('a taken address is an error of the configuration that names the setting', async (t) => {
  const port = await takenPort(t);
  await assert.rejects(
    listenForMetrics({ host: '127.0.0.1', port }, metricsOf(t), () => null, SILENT),
    {
      name: 'ConfigError',
      setting: 'metrics.listen',
      code: 'EADDRINUSE',
      message:
        `metrics.listen: cannot listen on 127.0.0.1:${port}: the port is taken by another program; ` +
        'stop it or choose another port',
    },
  );
});

test('a missing file counts as 0 bytes, and free disk space is reported', async (t) => {
  const metrics = metricsOf(t);
  registerFileGauges(metrics, join(tempDir(t), 'index.db'));
  const text = await metrics.render();
  assert.match(text, /^atlas_index_file_bytes 0$/m);
  assert.match(text, /^atlas_data_disk_free_bytes \d{4,}/m);
});

test('the daemon serves its metrics on metrics.listen and not on its own port', async (t) => {
  const found: string[] = [];
  const info: Logger['info'] = (fields, msg) => {
    if (msg === 'metrics are served') found.push(String(fields.url));
  };
  const { daemon, url } = await startTestDaemon(t, {
    flags: { '--node-http': 'http://127.0.0.1:1' },
    env: { ATLAS_METRICS__LISTEN: '127.0.0.1:0' },
    log: { ...SILENT, info },
  });
  await fetch(`${url}/healthz`);
  const text = await (await fetch(found[0] ?? '')).text();
  assert.match(text, /^atlas_http_requests_total\{route="\/healthz",status="200"\} 1$/m);
  assert.match(text, /^atlas_index_file_bytes [1-9]\d+$/m);
  assert.match(text, /^atlas_ready 0$/m);
  assert.doesNotMatch(text, /^atlas_(index_lag_blocks|node_head_block) /m, 'the node has never answered');
  assert.match(text, /^atlas_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  assert.equal((await fetch(`${url}/metrics`)).status, 404);
  await daemon.close();
});

test('a probe of HTTP/1.0 learns whether the daemon is alive and ready', async (t) => {
  let reason: string | null = 'the node does not answer';
  const listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, metricsOf(t), () => reason, SILENT);
  t.after(() => listener.close());
  const probe = (path: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(listener.url).port), '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.0\r\n\r\n`),
      );
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
  assert.match(await probe('/healthz'), /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok\n$/);
  assert.match(await probe('/readyz'), /^HTTP\/1\.1 503 [\s\S]*\r\n\r\nthe node does not answer\n$/);
  reason = null;
  assert.match(await probe('/readyz'), /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nready\n$/);
});
