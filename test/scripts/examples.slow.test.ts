/** The example bots on a chain with the demo contracts see the expected events and reverts. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { transform } from 'esbuild';
import { startAnvil } from '../../src/dev/anvil.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { freshWallet, roles } from '../../src/dev/wallets.ts';
import { StreamClient } from '../streams/client.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { checkNotification } from '../support/clients/openapi.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { codeBlock } from '../support/docs.ts';
import { freePort } from '../support/free-port.ts';
import { waitFor } from '../support/wait.ts';
import { ADMIN_TOKEN, EXAMPLES, linesOf, MON, send, startBot, subscribed } from './bots.ts';

const { trader, whale, exchange } = roles();

test('the bots are short', () => {
  for (const file of readdirSync(EXAMPLES)) {
    const lines = readFileSync(join(EXAMPLES, file), 'utf8').trimEnd().split('\n');
    assert.ok(lines.length < 60, `${file} has ${lines.length} lines`);
  }
});

test('the bots see purchases, groups of wallets and large transfers, and what a reorg withdraws', async (t) => {
  const owner = nestedCleanup(t);
  const anvil = await startAnvil();
  owner.after(() => anvil.stop());
  const { wrapped } = await deployDemo(anvil.url);
  const env = {
    ATLAS_HOOKS__ALLOW_PRIVATE: 'true',
    ATLAS_ADMIN_TOKEN: ADMIN_TOKEN,
    ATLAS_CHAIN__WRAPPED_NATIVE: wrapped,
  };
  const flags = { '--node-http': anvil.url, '--node-ws': anvil.wsUrl };
  const served = await startTestDaemon(owner, { flags, env });
  await served.reaches(Number(await anvil.call('eth_blockNumber')));
  const client = await StreamClient.open(owner, served.url, served.key);
  const heads = await client.subscribe('newHeads');
  const logs = await client.subscribe('logs', { address: wrapped });

  const copier = startBot(owner, 'copy-trading', [served.url, served.key, trader.address]);
  const detector = startBot(owner, 'sybil-detector', [served.url, served.key]);
  const port = String(await freePort());
  const created = await run(
    owner,
    [
      ...[LAUNCHER, 'hooks', 'create', '--url', `http://127.0.0.1:${port}/`, '--json'],
      ...['--data-dir', served.dataDir, '--filter', '{"events":["whale_transfer"],"minMon":"1000"}'],
    ],
    { cwd: served.dataDir, env },
  );
  const HOOK_SECRET = String(JSON.parse(created.stdout).secret);
  const alerts = startBot(owner, 'alert-bot', [port], { HOOK_SECRET });
  await linesOf(alerts, 1);
  await subscribed(served, 2);

  // Alerts: one while the bot runs, one delivered after a restart.
  await send(anvil, whale.address, exchange.address, 2_000n * MON);
  const [, first = ''] = await linesOf(alerts, 2);
  assert.match(first, new RegExp(`^evt_\\w+ ${whale.address} sent 2000 \\w+ to ${exchange.address}`, 'i'));
  alerts.child.kill('SIGKILL');
  await alerts.ended;
  await send(anvil, whale.address, exchange.address, 3_000n * MON);
  const restarted = startBot(owner, 'alert-bot', [port], { HOOK_SECRET });
  await waitFor(() => restarted.stdout().includes('sent 3000 '), { what: 'the second alert' });
  const [, ...alerted] = (await linesOf(restarted, 2)).map((line) => line.split(' ', 1)[0]);
  const again = alerted.slice(0, -1); // the first one, if its receipt was lost with the bot
  assert.ok(again.length <= 1 && again.every((id) => first.startsWith(`${id} `)), restarted.stdout());

  // A group of three wallets, recognised at the third.
  const group = ['one', 'two', 'three'].map((name) => freshWallet(name).address.toLowerCase());
  for (const wallet of group) await send(anvil, trader.address, wallet, MON);
  const [found = ''] = await linesOf(detector, 1);
  const { funder, wallets } = JSON.parse(found);
  assert.deepEqual([funder, wallets], [trader.address.toLowerCase(), group.sort()]);

  // A purchase, and its block replaced by an empty one.
  await send(anvil, trader.address, wrapped, 5n * MON);
  const [bought = ''] = await linesOf(copier, 1);
  const { order, token, spend } = JSON.parse(bought);
  assert.equal(token, wrapped.toLowerCase());
  assert.deepEqual(spend, [{ token: 'native', symbol: spend[0].symbol, amount: `${MON / 2n}` }]);
  await anvil.call('anvil_reorg', [1, []]);
  const [, cancelled = ''] = await linesOf(copier, 2);
  assert.deepEqual(JSON.parse(cancelled), { cancel: order });

  // The wrapper in the docs, whose types test/api/openapi/clients.slow.test.ts compiles.
  const { code } = await transform(codeBlock('ts wallet_transfers'), { loader: 'ts' });
  const { walletTransfers } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const socketUrl = `${served.url.replace('http', 'ws')}/ws?api_key=${served.key}`;
  const transfers = walletTransfers(socketUrl, { address: group[0], direction: 'in', fromBlock: 0 });
  const { value: funding } = await transfers.next();
  assert.deepEqual([funding.amount, funding.from], [`${MON}`, trader.address.toLowerCase()]);
  const refused = walletTransfers(socketUrl, { wallet: group[0] });
  await assert.rejects(refused.next(), /did you mean "address"/);

  assert.ok(heads.results.length > 5 && logs.results.length > 0);
  for (const result of [...heads.results, ...logs.results])
    checkNotification({
      jsonrpc: '2.0',
      method: 'eth_subscription',
      params: { subscription: '0x1', result },
    });
});
