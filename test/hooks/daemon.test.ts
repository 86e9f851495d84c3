/** Hooks and lists of a running daemon, from command line, panel and stream. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { openHookStore } from '../../src/hooks/hook-store.ts';
import { openLabelsFile } from '../../src/labels/labels-file.ts';
import { StreamClient } from '../streams/client.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { HookReceiver, keptEvents, type Received } from '../support/runs/hook-receiver.ts';
import { waitFor } from '../support/wait.ts';

const TOKEN = 'operator token of the test';
const CHAIN = { blocks: 60, txPerBlock: 6, startBlock: 1, wallets: 20, tokens: 4 };

const env = {
  ATLAS_HOOKS__ALLOW_PRIVATE: 'true',
  ATLAS_ADMIN_TOKEN: TOKEN,
  ATLAS_TIERS__UNLIMITED__MAX_HOOKS: '2',
};
const cleanup = suiteCleanup();
let node: ReplayNode;
let served: TestDaemon;

before(async () => {
  ({ node } = await startGeneratedNode(cleanup, CHAIN, { head: 20, finalizedLag: 40 }));
  served = await startTestDaemon(cleanup, {
    flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
    env,
  });
});

test('hooks made on the command line and in the panel deliver what the stream shows', async () => {
  const { dataDir, url, key } = served;
  await served.reaches(20);
  const [byCommand, byPanel] = [await HookReceiver.start(cleanup), await HookReceiver.start(cleanup)];
  const signals = await StreamClient.open(cleanup, url, key, '/ws/signals');
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(
      cleanup,
      [LAUNCHER, ...args, '--data-dir', dataDir, '--json'],
      {
        cwd: dataDir,
        env,
      },
    );
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const admin = async (path: string, body?: object, token = TOKEN) => {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${url}/admin/api${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: (await response.json()) as AdminAnswer };
  };

  // A list of the wallets that paid in the first blocks, in a typical file.
  const all = await signals.signals<{ wallet: string; blockNumber: number }>({ fromBlock: 0 });
  await waitFor(() => all.results.at(-1)?.blockNumber === 20, { what: 'the first signals' });
  const wallets = [...new Set(all.results.map(({ wallet }) => wallet))].slice(0, 5);
  const file = join(dataDir, 'watched.csv');
  writeFileSync(
    file,
    `address,name\n${wallets.map((wallet) => `${wallet.toUpperCase().replace('X', 'x')},someone`).join('\n')}\n`,
  );
  assert.deepEqual(await command('lists', 'import', file), { name: 'watched', addresses: 5 });
  const labels = openLabelsFile(join(dataDir, 'labels.db'));
  labels.import([{ address: wallets[0]!, name: 'The first', category: 'person', source: 'test' }]);
  labels.close();
  await waitFor(
    async () => JSON.stringify(await served.get('search', { q: 'The first' })).includes(wallets[0]!),
    { what: 'the labels to be read' },
  );
  const created = await command(
    ...['hooks', 'create', '--url', byCommand.url, '--name', 'cli', '--from-block', '0'],
    ...['--filter', '{"wallets":"list:watched"}'],
  );
  byCommand.secret = created.secret;
  assert.match(created.secret, /^whsec_/);
  const filter = { wallets: 'list:watched', events: ['wallet_funded'] };
  const panelHook = await admin('/hooks', { url: byPanel.url, name: 'panel', filter, fromBlock: 0 });
  assert.equal(panelHook.status, 200, JSON.stringify(panelHook.body));
  byPanel.secret = panelHook.body.hook.secret;
  const listed = await signals.signals<object>({ wallets: 'list:watched', fromBlock: 0 });
  node.mine(20);
  node.fork(35);
  node.mine(5);
  await served.reaches(node.stats().head);
  const expected = await waitFor(
    () => {
      const events = keptSignals(listed.results as Streamed[]);
      return events.length > 0 && keptEvents(byCommand.events).length === events.length ? events : undefined;
    },
    { what: 'as many deliveries as signals' },
  );
  assert.deepEqual(keptEvents(byCommand.events).map(signalKey), expected);
  assert.ok(keptEvents(byPanel.events).every(({ event }) => event === 'wallet_funded'));
  assert.ok(byPanel.events.length > 10);
  const labelled = [...byCommand.events, ...(listed.results as Received[])].filter(
    ({ wallet }) => wallet === wallets[0],
  );
  assert.ok(labelled.length > 2);
  for (const { walletLabel } of labelled)
    assert.deepEqual(walletLabel, { name: 'The first', category: 'person', source: 'test' });
  assert.deepEqual([byCommand.forged, byPanel.forged], [0, 0]);

  const shown = await admin('/hooks');
  assert.deepEqual(
    shown.body.hooks.map(({ name, state, failures }) => [name, state, failures]),
    [
      ['cli', 'active', 0],
      ['panel', 'active', 0],
    ],
  );
  const text = JSON.stringify(shown.body);
  assert.ok(!text.includes('whsec_') && !text.includes('secret-path'), 'secrets are shown once');
  assert.deepEqual(
    (await admin('/lists')).body.lists.map(({ name }) => name),
    ['watched'],
  );
  assert.equal((await admin('/hooks', { url: 'x' }, 'wrong')).status, 401);
  assert.match((await admin('/hooks', { url: 'ftp://x' })).body.error.message, /http or https URL/);
  assert.equal((await admin('/hooks/99/pause', {})).status, 404);
  const { id } = panelHook.body.hook;
  assert.equal((await admin(`/hooks/${id}/pause`, {})).body.hook.state, 'paused');
  const status = (await (await fetch(`${url}/status`)).json()) as { hooks: Record<string, number> };
  assert.deepEqual([status.hooks.active, status.hooks.paused], [1, 1]);
  assert.equal((await command('hooks', 'test', String(created.id))).outcome, 'accepted');
  const rotated = await command('hooks', 'rotate', String(created.id));
  assert.match(rotated.secret, /^whsec_/);
  assert.notEqual(rotated.secret, created.secret);
  byCommand.secret = rotated.secret;
  const change = ['--url', byPanel.url, '--filter', '{"events":["wallet_created"]}'];
  const updated = await command('hooks', 'update', String(created.id), ...change);
  assert.deepEqual(updated.filter, { events: ['wallet_created'] });
  assert.equal((await command('hooks', 'test', String(created.id))).outcome, 'accepted');
  await command('hooks', 'delete', String(id));
  assert.equal((await command('hooks', 'list')).length, 1);
});

test('a key owns as many hooks as its tier allows, and its hooks end with it', async () => {
  const post = async (path: string, body: object) => {
    const response = await fetch(`${served.url}/admin/api${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(body),
    });
    return (await response.json()) as AdminAnswer;
  };
  const hook = { url: 'https://example.invalid/', key: 1 };
  const own: number[] = [];
  for (let i = 0; i < 2; i++) {
    const { id, state } = (await post('/hooks', hook)).hook;
    assert.equal(state, 'active');
    own.push(id);
  }
  assert.equal((await post('/hooks', hook)).error.code, 'tier_limit');
  assert.equal((await post('/hooks', { ...hook, key: 9 })).error.code, 'not_found');
  await post('/keys/1/revoke', {});
  const store = openHookStore(join(served.dataDir, 'hooks.db'));
  cleanup.after(() => store.close());
  await waitFor(() => own.every((id) => store.get(id).state === 'paused'), { what: 'the pause' });
  for (const id of own) assert.match(store.get(id).reason ?? '', /its key was revoked/);
});

/** The relevant fields of the panel's answers. */
interface AdminAnswer {
  hook: { id: number; state: string; secret: string };
  hooks: Record<string, unknown>[];
  lists: { name: string }[];
  error: { code: string; message: string };
}

interface Streamed {
  blockHash: string;
  txHash: string;
  eventIndex: number;
  direction: string;
  removed?: true;
}

function signalKey({ blockHash, txHash, eventIndex, direction }: Streamed): string {
  return `${blockHash} ${txHash} ${eventIndex} ${direction}`;
}

function keptSignals(events: readonly Streamed[]): string[] {
  const kept = new Set<string>();
  for (const event of events) {
    if (event.removed) kept.delete(signalKey(event));
    else kept.add(signalKey(event));
  }
  return [...kept];
}
