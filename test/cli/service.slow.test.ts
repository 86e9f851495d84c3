/** The daemon under systemd, and configuration reloads on SIGHUP. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeyStore } from '../../src/access/keys.ts';
import { connectSystemd } from '../../src/cli/start/systemd.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { LAUNCHER, readyUrl, run, start } from '../support/daemon/command.ts';
import { listenAsSystemd } from '../support/daemon/notify-socket.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const missing = ['python3', 'systemd-notify'].filter(
  (program) => spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status !== 0,
);
const needs = { skip: missing.length > 0 && `left out: this machine has no ${missing.join(' and no ')}` };

const TIER = (perSecond: number) =>
  `[tiers.test]\nrequests_per_month = 0\nrequests_per_second = ${perSecond}\nchain_depth = 5\n`;

/** Starts a daemon with a configuration file of its own. */
async function startDaemon(
  t: TestContext,
  config: string,
  options: {
    env?: Record<string, string>;
    node?: string;
  } = {},
) {
  const dir = tempDir(t);
  const file = join(dir, 'atlas.toml');
  const write = (text: string) => writeFileSync(file, text);
  const { env = {}, node = 'http://127.0.0.1:1' } = options;
  write(config);
  const dataDir = join(dir, 'atlas-data');
  mkdirSync(dataDir);
  const keys = openKeyStore(join(dataDir, 'keys.db'));
  const { key } = keys.create({ name: 'x', tier: 'test' });
  keys.close();
  const running = start(t, [LAUNCHER, 'start', '--config', file, '--port', '0', '--node-http', node], {
    cwd: dir,
    env,
  });
  const url = await readyUrl(running);
  return {
    dir,
    running,
    url,
    key,
    write,
    hangUp: () => running.child.kill('SIGHUP'),
    /** The key's rate according to the daemon. */
    async limit() {
      const response = await fetch(`${url}/api/wallet_summary?address=0x${'1'.repeat(40)}`, {
        headers: { 'X-API-Key': key },
      });
      return Number(response.headers.get('ratelimit-limit'));
    },
    logged: (msg: string) =>
      waitFor(() => running.stderr().includes(`"msg":"${msg}"`), { what: `the log line "${msg}"` }),
    async stop() {
      running.child.kill('SIGTERM');
      return running.ended;
    },
  };
}

for (const { kind, address } of [
  { kind: 'a path', address: (dir: string) => join(dir, 'notify') },
  { kind: 'an abstract name', address: () => `@atlas-test-${process.pid}` },
]) {
  test(`systemd is notified of start, heartbeat, reload and stop, on ${kind}`, needs, async (t) => {
    const socket = address(tempDir(t));
    const systemd = await listenAsSystemd(t, socket);
    const daemon = await startDaemon(t, TIER(5), { env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' } });
    await systemd.hears([/^STATUS=starting$/, /^EXTEND_TIMEOUT_USEC=\d+$/]);
    await systemd.hears([/^READY=1$/, /^STATUS=waiting for the node/]);
    await systemd.hears([/^WATCHDOG=1$/, /^STATUS=waiting for the node/]);

    const before = systemd.messages().length;
    daemon.hangUp();
    await systemd.hears([/^RELOADING=1$/, /^MONOTONIC_USEC=\d{6,}$/], before);
    await systemd.hears([/^READY=1$/], before);

    assert.equal((await daemon.stop()).code, 0);
    await systemd.hears([/^STOPPING=1$/, /^STATUS=stopping$/]);
    const names = systemd.messages().map((assignments) => assignments[0]?.split('=')[0]);
    assert.equal(names.at(-1), 'STOPPING', 'nothing is told after the end');
  });
}

test('a watchdog that is meant for another process is not fed', needs, async (t) => {
  const socket = join(tempDir(t), 'notify');
  const systemd = await listenAsSystemd(t, socket);
  const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '40000', WATCHDOG_PID: '1' };
  const daemon = await startDaemon(t, TIER(5), { env });
  await systemd.hears([/^READY=1$/]);
  daemon.hangUp();
  await systemd.hears([/^RELOADING=1$/]);
  await daemon.stop();
  await systemd.hears([/^STOPPING=1$/]);
  assert.ok(!systemd.messages().flat().includes('WATCHDOG=1'));
});

test('a missing systemd-notify is reported', async () => {
  const reasons: string[] = [];
  const env = { NOTIFY_SOCKET: '/nowhere', PATH: '/nonexistent' };
  const systemd = connectSystemd(env, (reason) => reasons.push(reason));
  systemd?.notify({ READY: 1 });
  await waitFor(() => reasons.length > 0, { what: 'the end of the helper' });
  assert.deepEqual(reasons, ['there is no systemd-notify']);
});

test('a program that systemd did not start sends no notification', () => {
  assert.equal(
    connectSystemd({ PATH: process.env.PATH }, () => assert.fail()),
    null,
  );
});

test('SIGHUP rejects a wrong configuration, applies a right one, and names settings that need a restart', async (t) => {
  const daemon = await startDaemon(t, TIER(5));
  assert.equal(await daemon.limit(), 5);
  daemon.write(`${TIER(50)}[server]\nprot = 1\n`);
  daemon.hangUp();
  await daemon.logged('the new configuration was rejected');
  assert.match(daemon.running.stderr(), /unknown setting \\"server.prot\\" .*did you mean \\"server.port\\"/);
  assert.equal(await daemon.limit(), 5);
  daemon.write(
    `${TIER(50)}[server]\ncors_origins = ["https://a.example"]\n[index]\npoll_ms = 999\n[log]\nlevel = "debug"\n`,
  );
  daemon.hangUp();
  await daemon.logged('some changed settings need a restart');
  assert.equal(await daemon.limit(), 50);
  const stderr = daemon.running.stderr();
  const reloaded = /"msg":"the configuration was reloaded".*"changed":(\[[^\]]*\])/.exec(stderr)?.[1];
  assert.equal(reloaded, '["server.cors_origins","tiers.test.requests_per_second","log.level"]');
  assert.match(stderr, /"ignored":\["index.poll_ms"\]/);
  const { headers } = await fetch(`${daemon.url}/healthz`, { headers: { origin: 'https://a.example' } });
  assert.equal(headers.get('access-control-allow-origin'), 'https://a.example');
  assert.equal((await daemon.stop()).code, 0);
});

test('SIGHUP during the start applies changes made after the configuration was read', async (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'atlas.toml');
  writeFileSync(file, TIER(3));
  const keys = openDatabase(join(dir, 'keys.db'));
  t.after(() => keys.close());
  keys.exec('BEGIN IMMEDIATE'); // delays a start that has read its configuration and created the index
  const command = [LAUNCHER, 'start', '--config', file, '--data-dir', dir, '--port', '0'];
  const running = start(t, command, { cwd: dir });
  await waitFor(() => existsSync(join(dir, 'index.db')), { what: 'the start', everyMs: 1 });
  writeFileSync(file, TIER(7));
  running.child.kill('SIGHUP');
  keys.exec('ROLLBACK');
  const changed = '"msg":"the configuration was reloaded"';
  await waitFor(() => running.stderr().includes(changed), { what: 'the reload' });
  assert.match(running.stderr(), /"changed":\["tiers[^\]]*\]/);
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
});

test('keys of a tier that is not configured are reported at the start and at a reload', async (t) => {
  const daemon = await startDaemon(t, '');
  const message = '"msg":"keys have a tier that is not configured","level":"warn"';
  const warnings = () =>
    daemon.running
      .stderr()
      .split('\n')
      .filter((line) => line.includes(message));
  await waitFor(() => warnings().length === 1, { what: 'the warning' });
  assert.match(warnings()[0] ?? '', /"tier":"test","keys":1,"limits":"free"/);
  assert.equal(await daemon.limit(), 5);

  const readAgain = async (config: string, times: number) => {
    daemon.write(config);
    daemon.hangUp();
    const read = () => daemon.running.stderr().split('"the configuration was reloaded"').length - 1;
    await waitFor(() => read() === times, { what: 'the configuration to be reloaded' });
  };
  await readAgain(TIER(7), 1);
  assert.equal(warnings().length, 1);
  assert.equal(await daemon.limit(), 7);
  await readAgain('', 2);
  assert.equal(warnings().length, 2);
  assert.equal((await daemon.stop()).code, 0);
});

test('a daemon does not fall back to the defaults when its ./atlas.toml disappears', async (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'atlas.toml');
  const config = '[server]\nport = 0\ncors_origins = ["https://a.example"]\n';
  writeFileSync(file, config);
  const running = start(t, [LAUNCHER, 'start'], { cwd: dir });
  const url = await readyUrl(running);
  const hears = (text: string) => waitFor(() => running.stderr().includes(text), { what: text });
  const allowed = async () => {
    const { headers } = await fetch(`${url}/healthz`, { headers: { origin: 'https://b.example' } });
    return headers.get('access-control-allow-origin');
  };
  rmSync(file);
  running.child.kill('SIGHUP');
  await hears('"reason":"atlas.toml is gone: put it back, or restart to run without it"');
  assert.equal(await allowed(), null);
  writeFileSync(file, config.replace('a.example', 'b.example'));
  running.child.kill('SIGHUP');
  await hears('"msg":"the configuration was reloaded"');
  assert.equal(await allowed(), 'https://b.example');
});

test('SIGTERM waits at most ten seconds for a node that never answers, and accepts nothing more', async (t) => {
  const calls: string[] = [];
  const node = createServer((request) => {
    request.setEncoding('utf8').on('data', (text: string) => calls.push(text));
  }).listen(0, '127.0.0.1');
  t.after(() => {
    node.close();
    node.closeAllConnections();
  });
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  const env = { ATLAS_RPC__TIMEOUT_MS: '1000000' };
  const daemon = await startDaemon(t, TIER(5), { node: `http://127.0.0.1:${port}`, env });
  const call = fetch(`${daemon.url}/rpc`, {
    method: 'POST',
    headers: { 'X-API-Key': daemon.key, 'Content-Type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}',
  }).then(
    ({ status }) => status,
    () => 'cut off',
  );
  await waitFor(() => calls.join().includes('eth_gasPrice'), { what: 'the call at the node' });
  const startedAt = performance.now();
  const stopped = daemon.stop();
  await daemon.logged('stopping');
  daemon.hangUp();
  const { code, stderr } = await stopped;
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /the configuration was reloaded/);
  const seconds = (performance.now() - startedAt) / 1000;
  // Just over eight seconds on an idle machine; the call itself would wait for a thousand.
  assert.ok(seconds < 100, `it took ${seconds} s`);
  assert.equal(await call, 'cut off');
});

/** Runs a command in a terminal and closes the terminal once the command has printed `ready`. Prints the exit code. */
const CLOSED_TERMINAL = `
import os, pty, sys
child, terminal = pty.fork()
if child == 0: os.execvp(sys.argv[2], sys.argv[2:])
seen = b''
while sys.argv[1].encode() not in seen: seen += os.read(terminal, 4096)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

test('closing its terminal shuts the daemon down cleanly', needs, async (t) => {
  const dir = tempDir(t);
  const { stdout } = await run(
    t,
    ['python3', '-c', CLOSED_TERMINAL, 'is ready', LAUNCHER, 'start', '--port', '0', '--data-dir', dir],
    { cwd: dir },
  );
  assert.equal(stdout.trim(), '0');
  assert.ok(existsSync(join(dir, 'keys.db')));
  assert.ok(!existsSync(join(dir, 'keys.db-wal')), 'the keys were closed: their write-ahead log is gone');
});
