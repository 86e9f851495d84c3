/** A running daemon delivers the final events of an index, which a repair then finds to be others. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { StreamClient } from '../streams/client.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { PROGRAM, run } from '../support/daemon/command.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { hideTransfers } from '../support/nodes/hide-transfers.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { HookReceiver, keptEvents, type Received } from '../support/runs/hook-receiver.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const HEAD = 60;
const TOKEN = 'operator token of the test';
const EVENTS = ['wallet_native_out', 'wallet_token_buy', 'wallet_token_sell', 'wallet_trade'];

type Closer = () => void | Promise<void>;

/** A daemon that ends before its test does. */
async function startUntilClosed(dataDir: string, node: string) {
  const closers: Closer[] = [];
  const served = await startTestDaemon(
    { after: (close) => void closers.unshift(close) },
    {
      dataDir,
      flags: { '--node-http': node },
      env: {
        ATLAS_HOOKS__ALLOW_PRIVATE: 'true',
        ATLAS_ADMIN_TOKEN: TOKEN,
        ATLAS_INDEX__MAX_REORG: '8',
        ATLAS_INDEX__HEAD: 'latest',
        ATLAS_CHAIN__FINALITY: 'depth',
      },
    },
  );
  await served.reaches(HEAD);
  const close = async () => {
    for (const close of closers.splice(0)) await close();
  };
  return { ...served, close };
}

test('a receiver gets the withdrawal of each event that a repair removed, and the new', async (t: TestContext) => {
  const cleanup = nestedCleanup(t);
  const { node } = await startGeneratedNode(
    cleanup,
    { seed: 41, blocks: HEAD, txPerBlock: 12 },
    { head: HEAD },
  );
  const proxy = await startMisbehavingNode({ upstream: node.url });
  cleanup.after(() => proxy.close());
  const receiver = await HookReceiver.start(cleanup);
  const dataDir = tempDir(cleanup);

  const first = await startUntilClosed(dataDir, proxy.url);
  cleanup.after(first.close); // if the test ends before it does
  const filter = { events: EVENTS };
  const created = await fetch(`${first.url}/admin/api/hooks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ url: receiver.url, filter, fromBlock: 0 }),
  });
  assert.equal(created.status, 200, await created.text());
  const hasDelivered = async () => {
    const answer = await fetch(`${first.url}/admin/api/hooks`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    return (await answer.text()).includes(`"cursorBlock":${HEAD}`);
  };
  await waitFor(hasDelivered, { what: 'the events before', everyMs: 100 });
  const before = [...receiver.events];
  await first.close();

  proxy.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockReceipts' && Number(params[0]) >= 20 && Number(params[0]) <= 23
        ? hideTransfers(result, (at, count) => at === count - 1)
        : result,
  });
  const verify = [PROGRAM, 'verify', '--data-dir', dataDir, '--node-http', proxy.url, '--repair', '18..24'];
  const repaired = await run(cleanup, [process.execPath, ...verify], { cwd: dataDir });
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.match(repaired.stdout, /blocks 20 to 60 were indexed again/);

  const second = await startUntilClosed(dataDir, proxy.url);
  cleanup.after(second.close);
  const signals = await StreamClient.open(cleanup, second.url, second.key, '/ws/signals');
  const { results } = await signals.signals<Received>({ ...filter, fromBlock: 0, progress: true });
  await waitFor(() => results.some((event) => Object(event.progress).live === true), { what: 'the replay' });
  const keyOf = ({ blockHash, txHash, eventIndex, event, direction }: Received) =>
    `${blockHash} ${txHash} ${eventIndex} ${event} ${direction}`;
  const now = results.filter((event) => event.progress === undefined);
  const wanted = now.map(contentOf).sort();
  const isRepaired = () => {
    const kept = keptEvents(receiver.events);
    return kept.length === wanted.length && isDeepStrictEqual(kept.map(contentOf).sort(), wanted);
  };
  await waitFor(isRepaired, { what: 'the repaired events', everyMs: 100 });

  const withdrawn = receiver.events.slice(before.length).filter(({ withdraws }) => withdraws !== undefined);
  const final = withdrawn.filter(({ blockNumber }) => blockNumber <= HEAD - 8);
  const left = new Set(now.map(keyOf));
  const vanished = before.filter((event) => !left.has(keyOf(event))).map(({ deliveryId }) => deliveryId);
  assert.ok(vanished.length > 3, `${vanished.length} events vanished`);
  assert.deepEqual(final.map(({ withdraws }) => withdraws).sort(), vanished.sort());
});

/** What an event says, whenever and wherever it was sent. */
function contentOf(event: Received): string {
  const {
    deliveryId: _,
    received_at,
    received_at_ms,
    funding_age,
    funding_age_ms,
    rewrites,
    ...rest
  } = event;
  return JSON.stringify(Object.entries(rest).sort());
}
