/** `atlas-node dev` as a newcomer runs it: start it, paste what it prints, stop it. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type DevSettings, devConfig, withUsablePort } from '../../src/dev/dev.ts';
import { PROGRAM } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Starts the command on a free port, with its temporary files in `tmp`. */
function spawnDev(t: TestContext, tmp: string) {
  const dev = spawn(process.execPath, [PROGRAM, 'dev'], {
    env: { ...process.env, TMPDIR: tmp, ATLAS_SERVER__PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => dev.kill('SIGKILL'));
  let banner = '';
  let log = '';
  dev.stdout.setEncoding('utf8').on('data', (text: string) => {
    banner += text;
  });
  dev.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4_000);
  });
  const exit = once(dev, 'exit').then(([code]) => Number(code));
  return { dev, banner: () => banner, log: () => log, exit };
}

/** Like `start`, and waits for the printed banner. */
async function startDev(t: TestContext, tmp: string) {
  const { dev, banner, log, exit } = spawnDev(t, tmp);
  await waitFor(
    () => {
      if (dev.exitCode !== null) throw new Error(`it ended with code ${dev.exitCode}: ${log()}`);
      return banner().includes('Ctrl-C');
    },
    { what: 'the demo to be ready' },
  );
  return { dev, banner: banner(), exit };
}

const foldersIn = (tmp: string) => readdirSync(tmp).filter((name) => name.startsWith('atlas-node-dev-'));

/** The JSON printed when a line of the banner is pasted into a shell. */
async function paste(line: string) {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line]);
  return JSON.parse(stdout);
}

test('every printed command works, and nothing is left behind', async (t) => {
  const tmp = tempDir(t);
  const { dev, banner, exit } = await startDev(t, tmp);
  const lines = banner.split('\n').filter((line) => line.startsWith('curl '));
  assert.match(banner, /\n {2}explorer +http:\/\/\S+\/#key=atlas_[0-9A-Za-z]{38}\n+$/);
  const [transfers, summary, source, batch, block] = await Promise.all(lines.map(paste));

  const sql = /^atlas-node (sql --data-dir .*)$/m.exec(banner)?.[1];
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `bin/atlas-node ${sql}`]);
  assert.match(stdout, /^symbol +token_address +holders\n[\s\S]+\n5 rows as of block/);

  assert.equal(transfers.count, 5);
  assert.equal(transfers.historicalCoverageStartBlock, 0);
  assert.ok(summary.txCount > 0 && summary.uniqueTokens > 0, JSON.stringify(summary));
  assert.match(source.firstFunding.from, ADDRESS);
  assert.equal(batch.count, 4);
  const addressOf = (name: string) => new RegExp(`^ {2}${name} +(0x[0-9a-f]{40}) `, 'm').exec(banner)?.[1];
  const about = async (request: string) =>
    paste((lines[1] ?? '').replace(/wallet_summary\?\S+/, `${request}'`));
  for (const name of ['token', 'NFT'])
    assert.ok((await about(`token_stats?token=${addressOf(name)}`)).uniqueWallets > 1, name);
  assert.ok((await about(`coordinated_wallets?address=${addressOf('coordinated')}`)).count > 3);
  for (const wallet of Object.values(batch.wallets)) assert.ok(wallet, 'a wallet of the batch is unknown');
  assert.ok(Number(block.result) > 0);

  const reorg = (lines.at(-1) ?? '').replace('eth_blockNumber', 'anvil_reorg').replace('[]', '[1,[]]');
  assert.equal((await paste(reorg)).error, undefined);

  const node = /node +(http:\S+)/.exec(banner)?.[1] ?? '';
  await fetch(node, { method: 'POST' });
  dev.kill('SIGTERM');
  assert.equal(await exit, 0);
  assert.deepEqual(foldersIn(tmp), []);
  await assert.rejects(fetch(node, { method: 'POST' }), 'the chain outlived the demo');
});

test('a stop before the chain is up waits for no traffic, and leaves nothing behind', async (t) => {
  const tmp = tempDir(t);
  const { dev, banner, log, exit } = spawnDev(t, tmp);
  await waitFor(() => foldersIn(tmp).length > 0, { what: 'the start of the demo' });
  dev.kill('SIGINT');
  assert.equal(await exit, 0);
  assert.equal(banner() + log(), '');
  assert.deepEqual(foldersIn(tmp), []);
});

const SETTINGS: DevSettings = {
  node: { url: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' },
  wrapped: `0x${'ab'.repeat(20)}`,
  stable: `0x${'cd'.repeat(20)}`,
  dataDir: '/nowhere',
};

test('the daemon follows the demo chain whatever node the environment sets', () => {
  const { config } = devConfig(SETTINGS, { ATLAS_NODE_HTTP: 'http://127.0.0.1:2', ATLAS_LOG__LEVEL: 'warn' });
  assert.equal(config.node_http, SETTINGS.node.url);
  assert.equal(config.node_ws, SETTINGS.node.wsUrl);
  assert.equal(config.data_dir, SETTINGS.dataDir);
  assert.deepEqual(config.chain.wrapped_native, [SETTINGS.wrapped]);
  assert.deepEqual(config.trades.quote_tokens, [SETTINGS.stable]);
  assert.equal(config.log.level, 'warn');
});

test('the demo chain may be quiet for any time, unless a limit is configured', () => {
  assert.equal(devConfig(SETTINGS, {}).config.index.stale_seconds, 0);
  const { config } = devConfig(SETTINGS, { ATLAS_INDEX__STALE_SECONDS: '60' });
  assert.equal(config.index.stale_seconds, 60);
});

test('the demo delivers webhooks to this machine, unless that is configured', () => {
  assert.equal(devConfig(SETTINGS, {}).config.hooks.allow_private, true);
  const { config } = devConfig(SETTINGS, { ATLAS_HOOKS__ALLOW_PRIVATE: 'false' });
  assert.equal(config.hooks.allow_private, false);
});

test('a taken port is replaced by a free one only if it was not configured', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const taken = (other.address() as { port: number }).port;

  const byDefault = devConfig(SETTINGS, {});
  byDefault.config.server.port = taken;
  assert.equal((await withUsablePort(byDefault)).server.port, 0);
  const asked = devConfig(SETTINGS, { ATLAS_SERVER__PORT: String(taken) });
  assert.equal((await withUsablePort(asked)).server.port, taken);
});
