import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { HOOK_MEMBERS } from '../../src/hooks/hook-spec.ts';
import { initialSinkStatus } from '../../src/model/sink-status.ts';
import { indexStatsOf, operate } from '../server/operating.ts';
import { statusAt } from '../server/serving.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests, recordTexts, textOf } from './browser.ts';
import { isOpen, partOf, SOCKET, signIn } from './panel.ts';
import { prefixProxy } from './prefix-proxy.ts';

/** A named figure with its note. */
const factOf = (scope: Page | Locator, name: string) => scope.locator(`dt:text-is("${name}") + dd`);

pageTests({
  'below a path of a proxy the operator signs in, stays signed in over a reload, and signs out': async (
    t,
    open,
  ) => {
    const { server } = await operate(t);
    const prefix = await prefixProxy(t, server.url, '/deep/atlas');
    const page = await open(t, `${prefix}/admin`);
    await signIn(page, 'wrong');
    await page.getByText('This is not the operator token.').waitFor();
    await signIn(page);
    await isOpen(page);
    assert.equal(await page.evaluate('document.cookie'), '', 'a script can read the session');
    assert.equal(await page.evaluate('JSON.stringify([localStorage, sessionStorage])'), '[{},{}]');
    await page.reload();
    await isOpen(page);

    await page.route('**/admin/api/session', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('The server cannot be reached.').waitFor();
    await isOpen(page); // a session that lives on must not seem ended
    await page.unroute('**/admin/api/session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
    await page.reload();
    await page.getByLabel('Operator token').waitFor();
    await page.goto(`${prefix}/`);
    await page.getByLabel('API key').waitFor();
  },

  'after ten wrong tokens the page says how long to wait': async (t, open) => {
    const { server } = await operate(t);
    const page = await open(t, `${server.url}/admin`);
    for (let i = 0; i < 10; i++) {
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await signIn(page, `guess ${i}`);
      assert.equal((await answered).status(), 401);
    }
    await signIn(page);
    await page.getByText(/Too many wrong tokens; try again in \d+ s\./).waitFor();
  },

  'the overview shows the daemon at a glance, the last hour, and every state that the server has': async (
    t,
    open,
  ) => {
    const sink = { ...initialSinkStatus('atlas', 'latest'), block: 900, lagBlocks: 100, lagSeconds: 40 };
    const { server, state, activity } = await operate(t, { sinkState: () => sink });
    Object.assign(state, statusAt(1_000), { startedAt: Date.now() - 180_000, nodeHead: 1_005 });
    const samples = [30, 20, 10].map((secondsAgo) => ({
      ...activity.totals,
      at: Date.now() - secondsAgo * 1_000,
      lagBlocks: 5,
      lagSeconds: secondsAgo,
      residentBytes: 2 ** 30,
      loopDelaySeconds: 0.25,
    }));
    const totals = { requests: 12_345, errors: 7, refusals: 3, rpcCalls: 800, cacheHits: 200 };
    Object.assign(activity, { totals, samples });
    const page = await open(t, `${server.url}/admin`);
    await signIn(page);
    await isOpen(page);
    for (const [name, text] of [
      ['Uptime', /^3 min.*version \d/],
      ['Behind the node', /^5 blocks/],
      ['Memory', /^768 MiB128 MiB of JavaScript heap/],
      ['Event loop', /^250 ms/],
      ['Requests', /^12,345/],
      ['Errors', /^7.*3 with 4xx/],
      ['Cache hits', /^25 %of 800/],
      ['Webhooks', /1,234 labels/],
      ['Last commit', /^none since the start/],
    ] as const)
      assert.match(await textOf(factOf(page.locator('#overview'), name)), text, name);
    await page.getByText(/UTC: 10 s/).waitFor();
    await page.getByText('Memory', { exact: true }).last().click();
    await page.getByText(/UTC: 1,024 MiB/).waitFor();
    const card = page.getByRole('region', { name: 'PostgreSQL sink' });
    await card.getByText('Not connected').waitFor();
    assert.equal(await textOf(factOf(card, 'Block')), '900');
    assert.equal(await textOf(factOf(card, 'Lag')), '40 s');
    Object.assign(sink, { state: 'waiting', reason: 'PostgreSQL refuses: its disk is full' });
    await partOf(page, 'Index').click();
    await card.getByRole('alert').getByText('its disk is full').waitFor();
    await page.route('**/admin/api/overview', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const nodes = [
        { state: 'up', head: 7 },
        { state: 'resting', reason: 'too far behind' },
      ];
      await route.fulfill({ response, json: { ...body, status: { ...body.status, nodes } } });
    });
    await partOf(page, 'Overview').click();
    await page.getByRole('region', { name: 'Node 2' }).getByText('Resting').waitFor();
    await page.getByRole('alert').getByText('too far behind').waitFor();
  },

  'requests are drawn over time, of all keys or of one': async (t, open) => {
    const hour = 3_600_000;
    mock.timers.enable({ apis: ['Date'], now: (Math.floor(Date.now() / hour) + 0.5) * hour }); // no hour ends meanwhile
    t.after(() => mock.timers.reset());
    const { server, access } = await operate(t);
    const { usage } = access;
    const shop = access.keys.create({ name: 'shop', tier: 'free' }).record.id;
    usage.add(1, 30, Date.now());
    usage.add(shop, 12, Date.now());
    const page = await open(t, `${server.url}/admin?part=keys`);
    await signIn(page);
    await page.getByText('42 requests of all keys in the last 24 hours').waitFor();
    await page.locator('.chart .bar').nth(23).waitFor();
    await page.getByRole('slider').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    await page.getByText(/UTC, one hour: 42 requests/).waitFor();
    await page.getByText('31 days').click();
    await page.getByText('42 requests of all keys in the last 31 days').waitFor();
    assert.ok((await page.locator('.chart .bar').count()) <= 32);

    const held: (() => Promise<void>)[] = [];
    await page.route('**/admin/api/usage?days=7', (route) => void held.push(() => route.continue()));
    const hasShown = await recordTexts(page);
    await page.getByText('7 days').click();
    const answerLate = await waitFor(() => held.shift(), { what: 'the request to be held' });
    await page.getByRole('button', { name: 'Usage shop' }).click();
    await hasShown('12 requests of shop in the last 7 days');
    await answerLate();
    usage.add(shop, 3, Date.now());
    await hasShown('15 requests of shop in the last 7 days');
    const wasMixedUp = await page.evaluate('shownTexts.some((text) => text.includes("42 requests of shop"))');
    assert.equal(wasMixedUp, false, 'all requests were drawn as those of one key');
    await page.unroute('**/admin/api/usage?days=7');
    await page.getByRole('button', { name: 'All keys' }).click();
    await page.getByText('45 requests of all keys in the last 7 days').waitFor();
  },

  'the index is shown as it moves, with what was skipped in words and an example': async (t, open) => {
    const { server, state, indexStats } = await operate(t);
    const page = await open(t, `${server.url}/admin?part=index`);
    await signIn(page);
    await page.getByText('Waiting for the node').waitFor();
    await page.getByText('No block is indexed.').waitFor();
    await page.getByText('The file is being measured').first().waitFor();
    const hash = `0x${'5c'.repeat(32)}`;
    Object.assign(state, statusAt(1_000), {
      phase: 'backfilling',
      nodeHead: 3_000,
      blocksPerSecond: 120,
      blocksPerSecondLastMinute: 100,
      skippedLogs: { transfer_data: 7 },
      skippedIn: { transfer_data: hash },
      skippedContracts: [
        { contract: `0x${'c0'.repeat(20)}`, reason: 'transfer_data', logs: 7, txHash: hash },
      ],
      lastCommitAt: Date.now(),
      reason: null,
      capabilities: {
        client: 'node',
        chainId: 1,
        traces: 'trace_block',
        tracesReason: null,
        blockReceipts: true,
        headTag: 'latest',
      },
    });
    indexStats.latest = indexStatsOf();
    await page.getByText('Backfilling history').waitFor();
    assert.match(await textOf(factOf(page, 'Behind')), /^2,000 blocks/);
    assert.match(await textOf(factOf(page, 'Done in')), /^20 s/);
    // 100 bytes a transfer, 2,000 blocks of 2,500 transfers still to come, a million transfers a day.
    assert.match(await textOf(factOf(page, 'After backfill')), /^≈ 1.86 GiB/);
    assert.match(await textOf(factOf(page, 'Growth')), /^95.4 MiB a day/);
    assert.match(await textOf(factOf(page, 'Full in')), /^595 days/);
    await page.getByText('≈ 30').waitFor();
    await page.locator('tr', { hasText: 'ERC-20' }).getByText('75 %').waitFor();
    const tables = [3_000, 1_000].map((bytes) => ({ name: `of ${bytes}`, bytes }));
    indexStats.latest = indexStatsOf({ fileBytes: 100, walBytes: 4_000, tables }); // still in the write-ahead log
    await page.locator('tr', { hasText: 'of 3000' }).getByText('75 %').waitFor();
    const skipped = page.getByRole('region', { name: 'Skipped logs' });
    await skipped.getByText('A Transfer whose data is not one amount').waitFor();
    const linkIn = (table: string) =>
      skipped.getByRole('table', { name: table }).getByRole('link').first().getAttribute('href');
    assert.match((await linkIn('Skipped logs')) ?? '', new RegExp(`/tx/${hash}$`));
    assert.match((await linkIn('Contracts with the most skipped logs')) ?? '', /\/address\/0x(c0){20}$/);
    assert.match(await textOf(factOf(page, 'Internal transfers')), /^yes\s*by trace_block/);
    state.untraced = { first: 20, last: 39, blocks: 20, reasons: [] };
    await page.getByText('blocks 20 to 39 were indexed without traces').waitFor();
    assert.match(await textOf(factOf(page, 'Internal transfers')), /^no/);
    state.reason = 'the node is not reachable';
    const alert = page.getByRole('alert').getByText('the node is not reachable');
    await alert.waitFor();
    await alert.selectText();
    const shown = await alert.elementHandle();
    state.transfers = 4321;
    await page.getByText('4,321').waitFor();
    assert.equal(await shown?.evaluate((element) => element.isConnected), true, 'it is read out again');
    assert.equal(await page.evaluate('String(getSelection())'), 'the node is not reachable');
  },

  'a stalled chain is not shown as followed, and a restart not as an error': async (t, open) => {
    const { server, state, indexStats } = await operate(t, { staleSeconds: 600 });
    Object.assign(state, statusAt(1_000), { startedAt: Date.now() - 180_000 });
    indexStats.latest = indexStatsOf();
    const page = await open(t, `${server.url}/admin?part=index`);
    await signIn(page);
    await page.getByText('At the head of a stale chain').waitFor();
    await page
      .getByRole('alert')
      .getByText(/older than index\.stale_seconds \(600 s\)/)
      .waitFor();
    assert.equal(await page.getByText('Following the chain').count(), 0);
    assert.match(await textOf(factOf(page, 'Last commit')), /^none\s*since the daemon started 3 min/);
    Object.assign(state, { headTimestamp: Date.now() / 1000, lastCommitAt: Date.now() });
    await page.getByText('Following the chain').waitFor();
    await page.getByText('None in this index.').waitFor();
  },

  'a socket is shown with its address and closed': async (t, open) => {
    const { server, sockets } = await operate(t);
    const page = await open(t, `${server.url}/admin?part=sockets`);
    await signIn(page);
    await page.getByText('No open sockets.').waitFor();
    const openedAt = Date.now() - 65_000;
    sockets.push({ ...SOCKET, openedAt, id: 7, address: '192.0.2.7', topics: ['logs', 'logs', 'newHeads'] });
    sockets.push({ ...SOCKET, openedAt, id: 8, address: '192.0.2.8', topics: [] });
    const row = page.locator('tr', { hasText: '192.0.2.7' });
    await row.getByText('logs ×2, newHeads').waitFor();
    await row.getByText('2.44 KiB').waitFor();
    await row.getByText('1 min ago').waitFor();
    await row.getByRole('button', { name: 'Close' }).click();
    await row.waitFor({ state: 'detached' });
    assert.equal(sockets.map(({ id }) => id).join(), '8');
  },

  'a webhook is created with a filter, paused, resumed and deleted': async (t, open) => {
    const { server, hooks } = await operate(t);
    hooks.lists.import('friends', new Set(['11'.repeat(20), '22'.repeat(20)]));
    const page = await open(t, `${server.url}/admin?part=hooks`);
    await signIn(page);
    await page.locator('#lists tr', { hasText: 'friends' }).getByText('2', { exact: true }).waitFor();
    const label = page.locator('#labels tr', { hasText: 'exchanges.csv' });
    await label.getByText('exchange', { exact: true }).waitFor();
    await label.getByText('1,234').waitFor();
    await page.getByLabel('URL').fill('https://example.org/in');
    await page.getByLabel('Name').fill('alarm');
    await page.getByText('Filter, confirmations, key').click();
    await page.getByLabel('Format').selectOption('telegram');
    const fields = await page
      .locator('form [name]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('name')));
    assert.deepEqual(fields.sort(), [...HOOK_MEMBERS].sort(), 'a hook has the same members on every face');
    await page.getByLabel('Format').selectOption('json');
    await page.getByLabel('Blocks').selectOption('only once they are final');
    await page.getByLabel('Replay from block').fill('1');
    await page.getByLabel('Filter').fill('{"wallets": "list:friend"}');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('alert').getByText('friend').waitFor();
    await page.getByLabel('Filter').fill('{"wallets": "list:friends"}');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    assert.match(await textOf(page.locator('.secret')), /^whsec_/);
    await page.getByRole('button', { name: 'I have saved it, close' }).click();
    const row = page.locator('#hooks tbody tr', { hasText: 'alarm' });
    assert.deepEqual(
      hooks.list().map(({ finality, firstBlock }) => [finality, firstBlock]),
      [[1, 1]],
    );
    await row.getByRole('button', { name: 'Pause' }).click();
    await row.getByText('paused by the operator').waitFor();
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByText('active').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    assert.deepEqual(hooks.list(), []);
  },

  'an unreachable server is reported, the settings appear when it is back, and an ended session asks to sign in':
    async (t, open) => {
      const { server } = await operate(t);
      const page = await open(t, `${server.url}/healthz`);
      await page.route('**/admin/api/session', (route) => route.abort(), { times: 1 });
      await page.goto(`${server.url}/admin`);
      const note = page.getByText('The server cannot be reached.');
      await note.waitFor();
      await signIn(page);
      await isOpen(page);
      await page.route('**/admin/api/**', (route) => route.abort());
      await partOf(page, 'Settings').click();
      await note.waitFor();
      await page.unroute('**/admin/api/**');
      await page.getByText('server.port').waitFor();
      await note.waitFor({ state: 'detached' });
      await page.getByLabel('Search the settings').fill('nothing');
      await page.getByText('No settings match this search.').waitFor();
      await page.context().clearCookies();
      await page.getByLabel('Operator token').waitFor();
      await page.getByText('The session has ended.').waitFor();
    },
});
