import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Page } from 'playwright-core';
import { initialSinkStatus } from '../../src/model/sink-status.ts';
import { indexStatsOf, operate, TOKEN } from '../server/operating.ts';
import { statusAt } from '../server/serving.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { type OpenPage, pageTests, recordTexts, textOf } from './browser.ts';
import { prefixProxy } from './prefix-proxy.ts';

async function signIn(page: Page, token = TOKEN): Promise<void> {
  await page.getByLabel('Operator token').fill(token);
  await page.keyboard.press('Enter');
}

/** The panel with 30 requests of the first key and 12 of one named `shop`. */
async function openUsage(t: Cleanup, open: OpenPage) {
  const { server, access } = await operate(t);
  const { usage } = access;
  const shop = access.keys.create({ name: 'shop', tier: 'free' }).record.id;
  usage.add(1, 30, Date.now());
  usage.add(shop, 12, Date.now());
  const page = await open(t, `${server.url}/admin`);
  await signIn(page);
  await page.getByText('42 requests of all keys in the last 24 hours').waitFor();
  return { page, usage, shop };
}

const CLIPBOARD = ['clipboard-read', 'clipboard-write'];

pageTests({
  'the operator signs in, stays signed in over a reload, and signs out': async (t, open) => {
    const { server } = await operate(t);
    const page = await open(t, `${server.url}/admin`);
    await signIn(page, 'wrong');
    await page.getByText('This is not the operator token.').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    assert.equal(await page.evaluate('document.cookie'), '', 'a script can read the session');
    assert.equal(await page.evaluate('JSON.stringify([localStorage, sessionStorage])'), '[{},{}]');
    await page.reload();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
    await page.reload();
    await page.getByLabel('Operator token').waitFor();
  },

  'a sign-out that failed leaves the operator signed in, and says so until the next action': async (
    t,
    open,
  ) => {
    const { server, access } = await operate(t);
    const page = await open(t, `${server.url}/admin`);
    await signIn(page);
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.route('**/admin/api/session', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    const note = page.getByText('The server cannot be reached.');
    await note.waitFor();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    assert.equal(await page.getByLabel('Operator token').count(), 0, 'seems to be signed out');
    access.keys.create({ name: 'polled', tier: 'free' });
    await page.getByText('polled', { exact: true }).waitFor();
    assert.equal(await note.count(), 1, 'the next poll took the note away');
    await page.getByRole('button', { name: 'Usage polled' }).click();
    await note.waitFor({ state: 'detached' });
    await page.unroute('**/admin/api/session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
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

  'a key is created, shown once, used, replaced and revoked': async (t, open) => {
    const { server, index, access } = await operate(t);
    index.append([{}]);
    const page = await open(t, `${server.url}/admin`, { permissions: CLIPBOARD });
    await signIn(page);
    const ask = async (key: string) =>
      (
        await fetch(`${server.url}/api/wallet_summary?address=0x${'11'.repeat(20)}`, {
          headers: { 'X-API-Key': key },
        })
      ).status;
    const secret = page.locator('.secret');

    await page.getByLabel('Name').fill('<b>shop</b>');
    await page.getByLabel('Tier').selectOption('free');
    await page.getByRole('button', { name: 'Create key' }).click();
    const first = await textOf(secret);
    assert.equal(await ask(first), 200);
    for (let i = 0; i < 5; i++) await page.keyboard.press('Escape');
    assert.equal(await textOf(secret), first, 'Escape lost the key');
    const hasShown = await recordTexts(page);
    await page.getByRole('button', { name: 'Copy key' }).click();
    await hasShown('Copied');
    await page.locator('dialog').getByRole('status').getByText('Copied').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), first);
    await page.getByRole('button', { name: 'I have it, close' }).click();
    await secret.waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(first), false, 'the key is still in the page');

    const row = page.locator('tbody tr', { hasText: '<b>shop</b>' });
    await row.getByText('1 of 100,000').waitFor();
    await row.getByRole('img', { name: 'Used this month: 0 %' }).waitFor();
    access.usage.add(2, 24_999, Date.now());
    await row.getByRole('img', { name: 'Used this month: 25 %' }).waitFor();

    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).last().click();
    const second = await textOf(secret);
    await page.getByRole('button', { name: 'I have it, close' }).click();
    assert.deepEqual([await ask(first), await ask(second)], [401, 200]);
    await row.getByText('rotated').waitFor();

    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await ask(second), 200, 'revoked although it was called off');
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
    assert.equal(await ask(second), 401);
    assert.equal(await row.getByRole('button').count(), 1, 'only its usage is left to see');
    assert.equal(access.keys.list().length, 2);

    const field = page.getByLabel('Search the keys');
    assert.equal(await field.isVisible(), false, 'two keys need no search');
    for (let i = 0; i < 20; i++) access.keys.create({ name: `app ${i}`, tier: 'growth' });
    await field.fill('App 17');
    await waitFor(async () => (await page.locator('.keys tbody tr:visible').allTextContents()).length === 1, {
      what: 'the one key that was looked for',
    });
    await field.fill('revoked');
    await row.waitFor();
    await field.fill('nobody');
    await page.getByText('No keys match this search.').waitFor();
  },

  'a key can be created and revoked with the keyboard alone': async (t, open) => {
    const { server, access } = await operate(t);
    const page = await open(t, `${server.url}/admin`);
    const focused = () =>
      page.evaluate(
        'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
      );
    const press = async (key: string, until: RegExp) => {
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press(key);
        if (until.test(String(await focused()))) return;
      }
      throw new Error(`${key} does not lead to ${until}; it ended at ${await focused()}`);
    };
    await page.getByLabel('Operator token').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByLabel('Tier').locator('option').first().waitFor({ state: 'attached' });
    await page.keyboard.press('Tab');
    await page.keyboard.type('keyboard');
    await page.keyboard.press('Tab');
    await page.keyboard.type('unlim');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.secret').waitFor();
    await press('Tab', /^I have it/);
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'Create key', 'the focus was lost while the key was made');
    await page.getByRole('button', { name: 'Revoke keyboard' }).waitFor();
    await press('Tab', /^Revoke keyboard$/);
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'Cancel', 'the cautious answer has the focus');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('tr.revoked').waitFor();
    assert.equal(await focused(), 'Usage keyboard', 'the focus was lost with the button');
    await page.keyboard.press('Enter');
    await page.getByText('0 requests of keyboard in the last 24 hours').waitFor();
    await page.getByRole('button', { name: 'All keys' }).focus();
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'Requests', 'the focus was lost with the button');
    const made = access.keys.list().find(({ name }) => name === 'keyboard');
    assert.equal(made?.tier, 'unlimited');
    assert.notEqual(made?.revokedAt, null);
  },

  'requests are drawn over time, of all keys or of one': async (t, open) => {
    const hour = 3_600_000;
    mock.timers.enable({ apis: ['Date'], now: (Math.floor(Date.now() / hour) + 0.5) * hour }); // no hour ends meanwhile
    t.after(() => mock.timers.reset());
    const { page, usage, shop } = await openUsage(t, open);
    await page.locator('.chart .bar').nth(23).waitFor();
    await page.locator('.chart svg').focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/UTC, one hour: 42 requests/).waitFor();
    await page.getByText('31 days').click();
    await page.getByText('42 requests of all keys in the last 31 days').waitFor();
    assert.ok((await page.locator('.chart .bar').count()) <= 32);
    await page.getByRole('button', { name: 'Usage shop' }).click();
    await page.getByText('12 requests of shop in the last 31 days').waitFor();
    usage.add(shop, 3, Date.now());
    await page.getByText('15 requests of shop in the last 31 days').waitFor();
    await page.getByRole('button', { name: 'All keys' }).click();
    await page.getByText('45 requests of all keys in the last 31 days').waitFor();
  },

  'a late answer about requests is not drawn as that of what was chosen meanwhile': async (t, open) => {
    const { page, usage, shop } = await openUsage(t, open);
    const held: (() => Promise<void>)[] = [];
    await page.route('**/admin/api/usage?days=31', (route) => void held.push(() => route.continue()));
    const hasShown = await recordTexts(page);
    await page.getByText('31 days').click();
    const answerLate = await waitFor(() => held.shift(), { what: 'the request to be held' });
    await page.getByRole('button', { name: 'Usage shop' }).click();
    await hasShown('12 requests of shop in the last 31 days');
    const answered = page.waitForResponse('**/admin/api/usage?days=31');
    await answerLate();
    await (await answered).finished();
    usage.add(shop, 3, Date.now());
    await hasShown('15 requests of shop in the last 31 days');
    const wasMixedUp = await page.evaluate('shownTexts.some((text) => text.includes("42 requests of shop"))');
    assert.equal(wasMixedUp, false, 'all requests were drawn as those of one key');
  },

  'the index is shown as it moves': async (t, open) => {
    const { server, state, indexStats } = await operate(t);
    const page = await open(t, `${server.url}/admin#/index`);
    await signIn(page);
    await page.getByText('Waiting for the node').waitFor();
    await page.getByText(/^No block was indexed since the daemon started \d+ s ago\.$/).waitFor();
    await page.getByText('The file is being measured').first().waitFor();
    Object.assign(state, statusAt(1_000), {
      phase: 'backfilling',
      nodeHead: 3_000,
      blocksPerSecond: 100,
      skippedLogs: { transfer_data: 7 },
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
    const fact = (name: string) => page.locator(`dt:text-is("${name}") + dd`);
    await page.getByText('Backfilling history').waitFor();
    assert.match(await textOf(fact('Behind')), /^2,000 blocks/);
    assert.match(await textOf(fact('Done in')), /^20 s/);
    // 100 bytes a transfer, 2,000 blocks of 2,500 transfers still to come, a million transfers a day.
    assert.match(await textOf(fact('Once filled')), /^≈ 2 GB/);
    assert.match(await textOf(fact('Growth')), /^100 MB a day/);
    assert.match(await textOf(fact('Full in')), /^595 days/);
    await page.getByText('≈ 30').waitFor();
    await page.getByRole('img', { name: 'ERC-20: 75 %' }).waitFor();
    await page.getByText('transfer_data').waitFor();
    assert.match(await textOf(fact('Internal transfers')), /^yes\s*by trace_block/);
    state.untraced = { first: 20, last: 39, blocks: 20 };
    await page.getByText('blocks 20 to 39 were indexed without traces').waitFor();
    assert.match(await textOf(fact('Internal transfers')), /^no/);
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

  'a chain that stands still is not shown as followed, and a restart not as a finding': async (t, open) => {
    const { server, state, indexStats } = await operate(t, { staleSeconds: 600 });
    Object.assign(state, statusAt(1_000), { startedAt: Date.now() - 180_000 });
    indexStats.latest = indexStatsOf();
    const page = await open(t, `${server.url}/admin#/index`);
    await signIn(page);
    await page.getByText('At the head of a stale chain').waitFor();
    await page
      .getByRole('alert')
      .getByText(/older than index\.stale_seconds \(600 s\)/)
      .waitFor();
    assert.equal(await page.getByText('Following the chain').count(), 0);
    await page.getByText(/^No block was indexed since the daemon started 3 min( \d+ s)? ago\.$/).waitFor();
    const commit = page.locator('dt:text-is("Last commit") + dd');
    assert.match(await textOf(commit), /^none\s*since the daemon started 3 min/);
    Object.assign(state, { headTimestamp: Date.now() / 1000, lastCommitAt: Date.now() });
    await page.getByText('Following the chain').waitFor();
    await page
      .getByText(/^None since the daemon started 3 min.* ago\. Earlier runs are not counted here\.$/)
      .waitFor();
  },

  'the index view shows how far PostgreSQL is, and what keeps it back': async (t, open) => {
    const sink = { ...initialSinkStatus('atlas', 'latest'), block: 900, lagBlocks: 100, lagSeconds: 40 };
    const { server, state } = await operate(t, { sinkState: () => sink });
    Object.assign(state, statusAt(1_000));
    const page = await open(t, `${server.url}/admin#/index`);
    await signIn(page);
    const part = page.getByRole('region', { name: 'PostgreSQL' });
    await part.getByText('Not connected').waitFor();
    assert.match(await textOf(part.locator('dt:text-is("Written up to") + dd')), /^900\s*schema atlas/);
    assert.match(await textOf(part.locator('dt:text-is("Behind the index") + dd')), /^100 blocks\s*40 s/);
    Object.assign(sink, {
      state: 'waiting',
      reason: 'PostgreSQL refuses: its disk is full: free space there',
    });
    await part.getByRole('alert').getByText('its disk is full').waitFor();
    Object.assign(sink, { state: 'following', reason: null });
    await part.getByText('Following the index').waitFor();
    assert.equal(await part.getByRole('alert').count(), 0);
  },

  'each part says when it is there, and the settings come when the server can be reached again': async (
    t,
    open,
  ) => {
    const { server } = await operate(t);
    const page = await open(t, `${server.url}/admin`);
    await signIn(page);
    const said = page.getByRole('status');
    await said.getByText('Loaded: Keys').waitFor();
    await page.route('**/admin/api/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Settings' }).click();
    await said.getByText('The server cannot be reached.').waitFor();
    await page.unroute('**/admin/api/**');
    await said.getByText('Loaded: Settings').waitFor();
    await page.getByText('server.port').waitFor();
  },

  'sockets and settings are shown': async (t, open) => {
    const { server, sockets } = await operate(t);
    const page = await open(t, `${server.url}/admin#/sockets`);
    await signIn(page);
    await page.getByText('Nobody is connected.').waitFor();
    sockets.push({
      endpoint: '/ws',
      keyId: 1,
      openedAt: Date.now() - 65_000,
      topics: ['logs', 'logs', 'newHeads'],
      backlogBytes: 2_500,
    });
    await page.getByText('logs ×2, newHeads').waitFor();
    await page.getByText('2.5 kB').waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('server.port').waitFor();
    await page.getByText('8650').waitFor();
  },

  'a server that went away is told, and forgotten when it is back': async (t, open) => {
    const { server } = await operate(t);
    const page = await open(t, `${server.url}/admin`);
    await signIn(page);
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.route('**/admin/api/**', (route) => route.abort());
    await page.getByText('The server cannot be reached.').waitFor();
    await page.unroute('**/admin/api/**');
    await page.locator('#trouble:empty').waitFor({ state: 'attached' });
  },

  'a server that cannot be reached at first is asked again until it can be': async (t, open) => {
    const { server } = await operate(t);
    const page = await open(t, `${server.url}/healthz`);
    await page.route('**/admin/api/session', (route) => route.abort(), { times: 1 });
    await page.goto(`${server.url}/admin`);
    await page.getByText('The server cannot be reached.').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.locator('#trouble:empty').waitFor({ state: 'attached' });
  },

  'below a path of a proxy the operator signs in and stays so': async (t, open) => {
    const { server } = await operate(t);
    const prefix = await prefixProxy(t, server.url, '/deep/atlas');
    const page = await open(t, `${prefix}/admin`);
    await signIn(page);
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
    await page.reload();
    await page.getByLabel('Operator token').waitFor();
    await page.goto(`${prefix}/`);
    await page.getByLabel('API key').waitFor();
  },

  'a session that ended asks for the token again': async (t, open) => {
    const { server } = await operate(t);
    const page = await open(t, `${server.url}/admin`);
    await signIn(page);
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.context().clearCookies();
    await page.getByLabel('Operator token').waitFor();
    await page.getByText('The session has ended.').waitFor();
  },
});
