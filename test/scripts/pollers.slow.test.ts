/** The bots of the docs that follow the chain by themselves lose nothing at a fork or a restart of the service. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { encodeFunctionData, erc20Abi } from 'viem';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { abis } from '../../src/dev/contracts.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { createSubmitter } from '../../src/dev/submit.ts';
import { mint } from '../../src/dev/token-scenarios.ts';
import { marketSwing } from '../../src/dev/trade-scenarios.ts';
import { roundContext } from '../../src/dev/traffic.ts';
import { freshWallet, roles } from '../../src/dev/wallets.ts';
import { type Hex, toQuantity } from '../../src/lib/hex.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { PINNED_NODE, type Running, start } from '../support/daemon/command.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { codeBlock } from '../support/docs.ts';
import { freePort } from '../support/free-port.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { ADMIN_TOKEN, linesOf, MON, send, startBot, subscribed } from './bots.ts';

const TRANSFER = 'event Transfer(address indexed from, address indexed to, uint256 value)';
const SEED = 41;
const { trader, whale, collector } = roles();
const shop = freshWallet('shop').address.toLowerCase();

/** The trader buys a whole token for at most a coin. Returns the hash. */
async function buy(anvil: Anvil, pool: Hex): Promise<unknown> {
  const args = [MON, trader.address] as const;
  const data = encodeFunctionData({ abi: abis.DemoPool, functionName: 'buy', args });
  const value = toQuantity(MON);
  return anvil.call('eth_sendTransaction', [{ from: trader.address, to: pool, value, data }]);
}

/** Waits until a bot has printed a text. */
async function prints(bot: Running, text: string): Promise<void> {
  await waitFor(() => bot.stdout().includes(text), { what: text }).catch((cause) => {
    throw new Error(`it printed: ${bot.stdout()}${bot.stderr()}`, { cause });
  });
}

/** The credits of the deposit watcher: wallet, token and whole coins. */
function creditsOf(bot: Running): unknown[] {
  const lines = bot.stdout().split('\n').slice(0, -1);
  return lines.map((line) => {
    const { wallet, token, amount } = JSON.parse(line);
    return [wallet, token, BigInt(amount) / MON];
  });
}

test('whales, deposits, trades and contract events are right after forks and a restart', async (t) => {
  const owner = nestedCleanup(t);
  const anvil = await startAnvil();
  owner.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url);
  const context = roundContext(contracts, SEED, 0);
  const submitter = await createSubmitter(anvil.url);
  const { deployer } = context.roles;
  await submitter.run([
    mint(deployer, contracts.stable, trader.address, 10n ** 9n),
    mint(deployer, contracts.token, whale.address, 1_000n * MON),
  ]);
  for (const stage of marketSwing(context)) await submitter.run(stage);
  const head = async () => Number(await anvil.call('eth_blockNumber'));
  const first = String((await head()) + 1);

  const dir = tempDir(owner);
  const port = String(await freePort());
  const service = {
    dataDir: join(dir, 'data'),
    flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl, '--port': port },
    env: { ATLAS_ADMIN_TOKEN: ADMIN_TOKEN },
  };
  const served = await startTestDaemon(owner, service);
  await served.reaches(await head());
  const { url, key } = served;

  for (const [file, block] of Object.entries({
    'poll.mjs': 'js poll',
    'whales.mjs': 'js whales',
    'confirmations.mjs': 'js confirmations',
    'wallet-transfers.ts': 'ts wallet_transfers',
    'deposits.mjs': 'js deposits',
  }))
    writeFileSync(join(dir, file), codeBlock(block));
  const startSaved = (name: string, args: string[]) =>
    start(owner, [PINNED_NODE, join(dir, name), url, key, ...args], { cwd: dir });
  const whales = startSaved('whales.mjs', ['1000', first]);
  const deposits = startSaved('deposits.mjs', ['3', first, shop, collector.address]);
  const events = startBot(owner, 'contract-events', [url, key, contracts.token, TRANSFER]);
  const follower = startBot(owner, 'top-traders', [url, key, contracts.token]);
  const [follows = ''] = await linesOf(follower, 1);
  const swinger = context.fresh('swing trader').address.toLowerCase();
  assert.deepEqual(JSON.parse(follows), { follows: [swinger, trader.address.toLowerCase()] });
  await linesOf(events, 1); // of the head at the start
  await subscribed(served, 1);

  // A fork removes a whale's deposit of two blocks and a purchase.
  const paid = await send(anvil, whale.address, shop, 2_000n * MON);
  const bought = await buy(anvil, contracts.pool);
  await prints(whales, `${paid}`);
  await prints(events, `\n${bought}`);
  await prints(follower, `${bought}`);
  await anvil.call('anvil_reorg', [2, []]);
  await Promise.all([
    prints(whales, 'withdrawn 0x'),
    prints(events, `removed ${bought}`),
    prints(follower, '"removed":true'),
  ]);

  // Another one happens while the service is down; then two deposits get their three confirmations.
  const orphan = await send(anvil, whale.address, shop, 2_500n * MON);
  await prints(whales, `${orphan}`);
  await served.daemon.close();
  await anvil.call('anvil_reorg', [1, []]);
  await send(anvil, whale.address, shop, 3_000n * MON);
  const again = await buy(anvil, contracts.pool);
  const restarted = await startTestDaemon(owner, service);
  await restarted.reaches(await head());
  await send(anvil, whale.address, collector.address, 4_000n * MON);
  await waitFor(() => creditsOf(deposits).length > 0, { what: 'the first credit' });
  assert.deepEqual(creditsOf(deposits), [[shop, 'native', 3_000n]]);
  await anvil.call('anvil_mine', ['0x2']);
  await waitFor(() => creditsOf(deposits).length > 1, { what: 'the second credit' });
  assert.deepEqual(creditsOf(deposits).slice(1), [[collector.address.toLowerCase(), 'native', 4_000n]]);
  await Promise.all([prints(events, `\n${again}`), prints(follower, `${again}`)]);
  await prints(whales, ' sent 4000.000000 ');
  const told = whales.stdout().split('\n').slice(0, -1);
  assert.deepEqual(
    told.map((line) => `${line.startsWith('withdrawn')} ${/sent (\d+)/.exec(line)?.[1]}`),
    ['false 2000', 'true 2000', 'false 2500', 'true 2500', 'false 3000', 'false 4000'],
  );

  // The portfolio is what the chain itself says.
  const portfolio = startBot(owner, 'portfolio', [
    url,
    key,
    shop,
    trader.address,
    freshWallet('none').address,
  ]);
  const { code, stdout, stderr } = await portfolio.ended;
  assert.equal(code, 0, stderr);
  const held = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual([held[0].token, BigInt(Math.floor(held[0].amount)) > 3_000n], ['native', true]);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [trader.address] });
  const balance = BigInt(String(await anvil.call('eth_call', [{ to: contracts.token, data }, 'latest'])));
  const demo = held.find(({ token }) => token === contracts.token.toLowerCase());
  assert.deepEqual(demo, {
    ...{ token: contracts.token.toLowerCase(), symbol: 'DEMO', wallets: 1 },
    amount: `${balance / MON}`,
  });
});
