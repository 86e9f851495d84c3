/**
 * What a wallet gave and got: the same on the live stream, in a replay and in a webhook, in transactions that mislead a
 * copier. The shipped copy-trading example orders once for each purchase, and for nothing else.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { parseHookSpec } from '../../src/hooks/hook-spec.ts';
import { openHookStore } from '../../src/hooks/hook-store.ts';
import { type ToldTransaction, type ToldTransfer, toldChain } from '../support/chain/told-chain.ts';
import { type Cleanup, nestedCleanup } from '../support/cleanup.ts';
import { PINNED_NODE, ROOT, SOURCE_FLAGS, start } from '../support/daemon/command.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { address } from '../support/index/index-fixture.ts';
import { startNode } from '../support/nodes/replay.ts';
import { HookReceiver, keptEvents } from '../support/runs/hook-receiver.ts';
import { waitFor } from '../support/wait.ts';
import { StreamClient } from './client.ts';

const ADMIN_TOKEN = 'operator token of the test';
const SOCKETS = z.object({ topics: z.record(z.string(), z.number()) });

const BUY = (token: string, amount = 50n): ToldTransfer => ({ from: 'router', to: 'trader', token, amount });
const PAY = (token: string, amount = 1_000n): ToldTransfer => ({
  from: 'trader',
  to: 'router',
  token,
  amount,
});
const swap = (value: bigint, ...transfers: ToldTransfer[]): ToldTransaction => ({
  from: 'trader',
  to: 'router',
  value,
  transfers,
});
const dust = (count: number, tokens: number): ToldTransfer[] =>
  Array.from({ length: count }, (_, i) => ({
    from: 'router',
    to: i % 2 === 0 ? 'trader' : `receiver ${i}`,
    token: `dust ${i % tokens}`,
  }));

/** A case, and what the copier orders: what the wallet received for what. Null for no order. */
interface Case {
  name: string;
  transaction: ToldTransaction;
  order: { buys: string[]; paid: Record<string, bigint> } | null;
}

const CASES: Case[] = [
  {
    name: 'one purchase in three legs',
    transaction: swap(1_000n, BUY('meme'), BUY('meme'), BUY('meme')),
    order: { buys: ['meme'], paid: { native: 1_000n } },
  },
  {
    name: 'a part of the input comes back',
    transaction: swap(0n, PAY('usdc'), BUY('meme'), {
      from: 'router',
      to: 'trader',
      token: 'usdc',
      amount: 400n,
    }),
    order: { buys: ['meme'], paid: { usdc: 600n } },
  },
  {
    name: 'a refund alone',
    transaction: swap(0n, PAY('usdc'), { from: 'router', to: 'trader', token: 'usdc', amount: 999n }),
    order: null,
  },
  {
    name: 'native coins with change',
    transaction: swap(1_000n, BUY('meme'), { from: 'router', to: 'trader', amount: 300n }),
    order: { buys: ['meme'], paid: { native: 700n } },
  },
  {
    name: 'all of the native coins come back',
    transaction: swap(1_000n, BUY('meme'), { from: 'router', to: 'trader', amount: 1_000n }),
    order: null,
  },
  {
    name: 'a purchase behind more than 1,000 dust transfers of one token',
    transaction: swap(1_000n, ...dust(1_500, 1), BUY('meme')),
    order: { buys: ['dust 0', 'meme'], paid: { native: 1_000n } },
  },
  {
    name: 'a purchase behind dust of many tokens',
    transaction: swap(1_000n, BUY('meme'), ...dust(1_200, 90)),
    order: {
      buys: ['meme', ...Array.from({ length: 45 }, (_, i) => `dust ${2 * i}`)],
      paid: { native: 1_000n },
    },
  },
  {
    name: 'a transfer to oneself',
    transaction: swap(1_000n, { from: 'trader', to: 'trader', token: 'meme', amount: 9n }),
    order: null,
  },
  {
    name: 'two tokens bought',
    transaction: swap(1_000n, BUY('meme'), BUY('other')),
    order: { buys: ['meme', 'other'], paid: { native: 1_000n } },
  },
  {
    name: 'token for token',
    transaction: swap(0n, PAY('usdc'), BUY('meme')),
    order: { buys: ['meme'], paid: { usdc: 1_000n } },
  },
  {
    name: 'an NFT',
    transaction: swap(1_000n, { from: 'seller', to: 'trader', token: 'art', tokenId: 7n }),
    order: { buys: ['art'], paid: { native: 1_000n } },
  },
  {
    name: 'ids of one ERC-1155 contract exchanged',
    transaction: swap(
      0n,
      { from: 'trader', to: 'router', token: 'game', tokenId: 1n, amount: 30n },
      { from: 'router', to: 'trader', token: 'game', tokenId: 2n, amount: 30n },
    ),
    order: { buys: ['game'], paid: { game: 30n } },
  },
  { name: 'an airdrop', transaction: { from: 'router', to: 'meme', transfers: [BUY('meme')] }, order: null },
  {
    name: "a purchase that a stranger's contract logs",
    transaction: { from: 'stranger', to: 'fake', transfers: [PAY('usdc'), BUY('fake')] },
    order: null,
  },
  {
    name: 'bought and passed on',
    transaction: swap(1_000n, BUY('meme'), PAY('meme', 50n)),
    order: null,
  },
];

interface Event {
  [member: string]: unknown;
  blockNumber: number;
}

/** The members that do not depend on when an event is pushed. */
function lasting({ received_at, received_at_ms, funding_age, funding_age_ms, deliveryId, ...event }: Event) {
  return event;
}

async function setUp(owner: Cleanup): Promise<{ node: ReplayNode; served: TestDaemon }> {
  const chain = toldChain(CASES.map(({ transaction }) => transaction));
  const node = await startNode(owner, { chain, chainId: 1, head: 0 });
  const flags = { '--node-http': node.url, '--node-ws': node.wsUrl, '--start-block': 'earliest' };
  const env = {
    ATLAS_INDEX__HEAD: 'latest',
    ATLAS_HOOKS__ALLOW_PRIVATE: 'true',
    ATLAS_ADMIN_TOKEN: ADMIN_TOKEN,
  };
  const served = await startTestDaemon(owner, { flags, env });
  await served.reaches(0);
  return { node, served };
}

async function createHook({ dataDir }: TestDaemon, receiver: HookReceiver): Promise<void> {
  const store = openHookStore(join(dataDir, 'hooks.db'));
  const spec = { url: receiver.url, filter: { wallets: [address('trader')] }, fromBlock: 0 };
  receiver.secret = store.create(
    parseHookSpec(spec, { lists: () => undefined, allowPrivate: true }),
    null,
    0,
  ).secret;
  store.close();
}

test('live, replayed and delivered events of a wallet are equal; the example orders each purchase once', async (t) => {
  const owner = nestedCleanup(t);
  const { node, served } = await setUp(owner);
  const receiver = await HookReceiver.start(owner);
  await createHook(served, receiver);
  const client = await StreamClient.open(owner, served.url, served.key, '/ws/signals');
  const filter = { wallets: [address('trader')] };
  const live = await client.signals<Event>(filter);
  const command = [PINNED_NODE, ...SOURCE_FLAGS, join(ROOT, 'scripts/examples/copy-trading.ts')];
  const bot = start(owner, [...command, served.url, served.key, address('trader')], { cwd: ROOT });
  await waitFor(() => haveSubscribed(served, 2), { what: 'the bot to subscribe' });
  for (const [i] of CASES.entries()) {
    node.mine(1);
    await served.reaches(i + 1);
  }
  const replayed = await client.signals<Event>({ ...filter, fromBlock: 0 });
  const isLast = (events: readonly Event[]) => {
    const last = events.at(-1);
    return last?.blockNumber === CASES.length && last['leg'] === last['legs'];
  };
  for (const events of [live.results, replayed.results, receiver.events])
    await waitFor(() => isLast(events), { what: `the last event; there are ${events.length}` });
  assert.deepEqual(replayed.results.map(lasting), live.results.map(lasting));
  // A delivery that a busy machine answers late is repeated.
  assert.deepEqual(keptEvents(receiver.events).map(lasting), live.results.map(lasting));
  for (const { txFrom, txFromReason } of live.results) assert.ok(txFrom !== null && txFromReason === null);

  const expected = CASES.flatMap(({ order }) => (order === null ? [] : [order]));
  await waitFor(() => linesOf(bot.stdout()).length >= expected.length, { what: 'the orders' });
  const orders = linesOf(bot.stdout()).map((line) => JSON.parse(line));
  assert.deepEqual(
    orders.map(({ buys, spend }) => ({ buys: buys.map(({ token }: { token: string }) => token), spend })),
    expected.map(({ buys, paid }) => ({
      buys: buys.map(address),
      spend: Object.entries(paid).map(([token, amount]) => ({
        token: token === 'native' ? 'native' : address(token),
        symbol: token === 'native' ? 'MON' : null,
        amount: `${amount / 10n}`,
      })),
    })),
  );
  assert.equal(new Set(orders.map(({ order }) => order)).size, expected.length);
});

/** Whether this many sockets have subscribed to signals. */
async function haveSubscribed({ url }: TestDaemon, sockets: number): Promise<boolean> {
  const answer = await fetch(`${url}/admin/api/sockets`, {
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  return SOCKETS.parse(await answer.json()).topics['signals'] === sockets;
}

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
