import assert from 'node:assert/strict';
import type { Page, Route } from 'playwright-core';
import { serve, statusAt } from '../server/serving.ts';
import { address, txHash } from '../support/index-fixture.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests, recordTexts, textOf } from './browser.ts';
import { ALICE, fillWorld, GOLD, nodeWithTransfer } from './explorer-world.ts';
import { assertReadable } from './look.ts';

const HOSTILE = '<img src=x onerror="document.title=`owned`">';

/** As the server answers a key that asks too often. */
const RATE_LIMITED = {
  error: { code: 'rate_limited', message: 'more than 5 requests a second' },
  retryAfter: 1,
};

/** Brings every part into sight until it is shown; what is shown above may push it away again. */
async function seeAll(page: Page): Promise<void> {
  await page.locator('.part').first().waitFor();
  for (const part of await page.locator('.part').all()) {
    const shown = async () => {
      await part.scrollIntoViewIfNeeded();
      return (await part.getAttribute('data-state')) === 'shown';
    };
    await waitFor(shown, { what: `#${await part.getAttribute('id')} to be shown` });
  }
}

pageTests({
  'a slow key still gets every part, and is told why it waits': async (t, open) => {
    const { server, access, index } = await serve(t);
    fillWorld(index);
    const { key } = access.keys.create({ name: 'visitor', tier: 'free' });
    const page = await open(t, `${server.url}/healthz`, { key });
    // However slow this machine is, the rate seems used up for the first two requests.
    let refused = 0;
    await page.route('**/api/wallet_*', (route) =>
      refused++ < 2 ? route.fulfill({ status: 429, json: RATE_LIMITED }) : route.continue(),
    );
    const hasShown = await recordTexts(page);
    await page.goto(`${server.url}/#/wallet/${ALICE}`);
    await seeAll(page);
    await hasShown('This key is over its rate limit');
    assert.ok(refused > 2, 'what was refused was not asked for again');
    assert.equal(await page.locator('.notice.bad').count(), 0);
    await page.locator('#pace:empty').waitFor({ state: 'attached' });
  },

  'a used up quota is told with the time until it begins anew': async (t, open) => {
    const { server, access, index } = await serve(t);
    fillWorld(index);
    const { key } = access.keys.create({ name: 'visitor', tier: 'tiny' });
    const page = await open(t, `${server.url}/#/wallet/${ALICE}`, { key });
    const told = page.getByText('The requests of this key for this month are used up.');
    await told.first().waitFor();
    await page.goto(`${server.url}/#/find/${txHash('any')}`); // asks /rpc
    await page.locator('#search').locator(told).waitFor();
  },

  'an empty index is told, and the view comes by itself when the first block is in': async (t, open) => {
    const { server, key, index } = await serve(t);
    const page = await open(t, `${server.url}/#/wallet/${ALICE}`, { key });
    await page.locator('#summary').getByText('No block is indexed yet').waitFor();
    fillWorld(index);
    await page.locator('#summary .facts').waitFor();
  },

  'a depth that the tier does not allow leaves the chain as it was, with the reason': async (t, open) => {
    const { server, access, index } = await serve(t);
    index.append(
      Array.from({ length: 7 }, (_, n) => ({
        [`hop ${n}`]: [{ from: `link ${n}`, to: `link ${n + 1}`, amount: 10n ** 18n }],
      })),
    );
    const { key } = access.keys.create({ name: 'visitor', tier: 'free' });
    const page = await open(t, `${server.url}/#/wallet/${address('link 7')}/funding`, { key });
    const nodes = page.locator('#funding .node');
    await page.getByRole('button', { name: 'Go further back' }).click();
    await page.getByText('The tier of this key ends here').waitFor();
    assert.equal(await nodes.count(), 6);
  },

  'a key with more depth goes further back': async (t, open) => {
    const { server, key, index } = await serve(t);
    index.append(
      Array.from({ length: 7 }, (_, n) => ({ [`hop ${n}`]: [{ from: `link ${n}`, to: `link ${n + 1}` }] })),
    );
    const page = await open(t, `${server.url}/#/wallet/${address('link 7')}/funding`, { key });
    await page.getByRole('button', { name: 'Go further back' }).click();
    await page.locator('#funding .node').nth(7).waitFor();
    await page.getByText('The index has no funding of the first wallet').waitFor();
  },

  'a server that cannot be reached is told, and asked again until it can be': async (t, open) => {
    const { server, key, index } = await serve(t);
    fillWorld(index);
    const page = await open(t, `${server.url}/#/`, { key });
    await page.getByRole('heading', { name: 'Large transfers' }).waitFor();
    const cut = (route: Route) => route.abort();
    await page.route('**/api/**', cut);
    await page.goto(`${server.url}/#/wallet/${ALICE}`);
    const summary = page.locator('#summary');
    await summary.getByText('The server cannot be reached.').waitFor();
    await page.unroute('**/api/**', cut);
    await summary.locator('.facts').waitFor();
  },

  'a page that comes slowly or not as a whole says so': async (t, open) => {
    const { server } = await serve(t);
    const page = await open(t, `${server.url}/healthz`);
    const held: Route[] = [];
    await page.route('**/explorer/route.js', (route) => void held.push(route));
    await page.goto(`${server.url}/`, { waitUntil: 'commit' });
    const route = await waitFor(() => held.shift(), { what: 'the page to load its scripts' });
    const before = "getComputedStyle(document.querySelector('main'), '::before').content";
    await waitFor(async () => (await page.evaluate(before)) === '"Loading …"', {
      what: 'the page to say that it loads',
    });
    await page.route('**/explorer/route.js', (again) => again.abort()); // what was preloaded in vain is asked for again
    await route.abort();
    await page.getByRole('alert').getByText('A part of this page could not be loaded.').waitFor();
  },

  'an answer that breaks off is asked for again, and the state of the chain once at a time': async (
    t,
    open,
  ) => {
    const { server, key, index } = await serve(t);
    fillWorld(index);
    const page = await open(t, `${server.url}/healthz`, { key });
    await page.clock.install();
    const asked: Route[] = [];
    await page.route('**/status', (route) => void asked.push(route));
    const cut = (route: Route) => route.fulfill({ contentType: 'application/json', body: '{"address":"0x' });
    await page.route('**/api/**', cut);
    await page.goto(`${server.url}/#/wallet/${ALICE}`);
    const summary = page.locator('#summary');
    await summary.getByText('The server cannot be reached.').waitFor();
    await page.clock.runFor(9_000);
    assert.equal(asked.length, 1, 'the state is asked for although the answer before has not come');
    await asked[0]?.fulfill({ contentType: 'application/json', body: '{"phase":' });
    await page.getByText('server not reached').waitFor();
    await page.unroute('**/api/**', cut);
    await page.clock.runFor(4_000);
    await summary.locator('.facts').waitFor();
  },

  'a chain that stands still has no green dot': async (t, open) => {
    const { server, key, index, state } = await serve(t, { staleSeconds: 600 });
    fillWorld(index);
    Object.assign(state, statusAt(7), { headTimestamp: Math.floor(Date.now() / 1000) - 410 * 86_400 });
    const page = await open(t, server.url, { key });
    const chain = page.locator('#chain');
    await chain.getByText(/^block 7, 1 y 45 d old$/).waitFor();
    assert.equal(await chain.getAttribute('data-state'), 'bad');
    state.headTimestamp = Math.floor(Date.now() / 1000);
    await chain.getByText(/^block 7$/).waitFor();
    assert.equal(await chain.getAttribute('data-state'), 'good');
  },

  'what the server could not answer is asked again on request, and told once as long as it is the same':
    async (t, open) => {
      const { server, key, index } = await serve(t);
      fillWorld(index);
      const page = await open(t, `${server.url}/healthz`, { key });
      const fail = (route: Route) => route.fulfill({ status: 500, json: { error: { code: 'internal' } } });
      await page.route('**/api/**', fail);
      await page.goto(`${server.url}/#/wallet/${ALICE}`);
      const summary = page.locator('#summary');
      const alert = await summary.getByRole('alert').elementHandle();
      const again = summary.getByRole('button', { name: 'Retry' });
      const asked = page.waitForResponse('**/api/wallet_summary*');
      await again.click();
      await asked;
      assert.equal(await alert?.evaluate((element: { isConnected: boolean }) => element.isConnected), true);
      await page.unroute('**/api/**', fail);
      await again.click();
      await summary.locator('.facts').waitFor();
    },

  'large transfers come anew by themselves, except under the hands of whoever is in them': async (
    t,
    open,
  ) => {
    const { server, key, index } = await serve(t);
    fillWorld(index);
    const page = await open(t, `${server.url}/healthz`, { key });
    await page.clock.install();
    await page.goto(`${server.url}/#/`);
    const rows = page.locator('#large tbody tr');
    await rows.nth(2).waitFor();
    const announced = page.getByRole('status').getByText('Loaded: Large transfers');
    await page.clock.runFor(1_000);
    assert.equal(await announced.count(), 1, 'the end of the loading is not announced');
    await page.clock.runFor(5_000);
    index.append([{ 'one more': [{ from: 'treasury', to: 'shop', amount: 500n * 10n ** 18n }] }]);
    await rows.first().getByRole('link').first().focus();
    await page.clock.runFor(61_000);
    assert.equal(await rows.count(), 3);
    await page.getByRole('searchbox').focus();
    await rows.first().hover();
    await page.clock.runFor(61_000);
    assert.equal(await rows.count(), 3);
    await page.getByRole('searchbox').hover();
    await page.clock.runFor(61_000);
    await rows.nth(3).waitFor();
    await page.clock.runFor(1_000);
    assert.equal(await announced.count(), 0, 'announced although nobody waited for it');
  },

  'a key that ends while it is used is asked for anew': async (t, open) => {
    const { server, access, index } = await serve(t);
    fillWorld(index);
    const { key, record } = access.keys.create({ name: 'visitor', tier: 'unlimited' });
    const page = await open(t, `${server.url}/#/`, { key });
    await page.getByRole('heading', { name: 'Large transfers' }).waitFor();
    access.keys.revoke(record.id);
    await page.goto(`${server.url}/#/wallet/${ALICE}`);
    await page.getByText('This key is invalid or has been revoked.').waitFor();
    await page.getByLabel('API key').waitFor();
  },

  'transfers are there without streams, and the page says what is missing': async (t, open) => {
    const { server, key, index } = await serve(t);
    fillWorld(index);
    const page = await open(t, `${server.url}/#/wallet/${ALICE}/transfers`, { key });
    await page.getByText('Live: not available').waitFor();
    await page.getByText('The server did not accept the WebSocket.').waitFor();
    await page.locator('#transfers tbody tr').nth(24).waitFor();
  },

  'whatever strings the API gives are shown as text': async (t, open) => {
    const { server, key, index } = await serve(t, { upstream: await nodeWithTransfer(t) });
    fillWorld(index);
    const page = await open(t, `${server.url}/healthz`, { key });
    const hostileFields = /^(name|symbol|type|confidence|message|transferType)$/;
    await page.route('**/api/**', async (route) => {
      const response = await route.fetch();
      const text = JSON.stringify(await response.json(), (field, value) => {
        if (field === 'labels') return [HOSTILE];
        return hostileFields.test(field) ? HOSTILE : value;
      });
      await route.fulfill({ response, body: text });
    });
    for (const [kind, view] of Object.entries({ Wallet: `wallet/${ALICE}`, Token: `token/${GOLD}` })) {
      await page.goto(`${server.url}/#/${view}`);
      await page.locator('.kind', { hasText: kind }).waitFor();
      await seeAll(page);
      await page.getByText('<img src=x', { exact: false }).first().waitFor();
      assert.equal(await page.locator('main img, main script, main [onerror]').count(), 0, view);
      assert.doesNotMatch(await page.title(), /owned/);
    }
  },

  'names of tokens that mislead or are too large do neither': async (t, open) => {
    const names = [
      'US\u202eCDSU',
      'W'.repeat(10_000),
      'a\nb\u2028c',
      `Z${'\u0334'.repeat(90)}`,
      '\ufdfd'.repeat(16),
      '\u3164\u2800',
      'many decimals',
    ];
    const tokens = names.map((_, n) => address(`named ${n}`));
    const { server, key, index } = await serve(t, { upstream: await nodeWithTransfer(t, tokens) });
    const moved = { kind: 'erc20', from: 'bob', to: 'alice', amount: 2n ** 255n } as const;
    const tiny = names.length - 1;
    index.append(
      [0, 1].map((block) =>
        Object.fromEntries(
          names.map((_, n) => [
            `move ${n} in ${block}`,
            [{ ...moved, amount: n === tiny ? 42n : 2n ** 255n, token: `named ${n}` }],
          ]),
        ),
      ),
    );
    const rest = { tries: 1, retryAt: null };
    index.writer.saveMetadata(
      names.map((name, n) => ({
        ...rest,
        address: address(`named ${n}`),
        name,
        symbol: name,
        decimals: n === tiny ? 255 : 0,
      })),
    );
    const page = await open(t, `${server.url}/#/`, { key });
    for (const view of [
      `transaction/${txHash('trade')}`,
      `wallet/${ALICE}/transfers`,
      ...tokens.map((at) => `token/${at}`),
    ]) {
      await page.goto(`${server.url}/#/${view}`);
      await page.locator('#summary[data-state=shown]').waitFor();
      await seeAll(page);
      for (const summary of await page.locator('#summary .exchange summary').all()) await summary.click();
      await assertReadable(page, view);
      assert.doesNotMatch(await textOf(page.locator('main')), /[\u202e\u2028]/);
    }
    await page.goto(`${server.url}/#/wallet/${ALICE}/flows`);
    const asset = page.getByLabel('Asset');
    for (const token of tokens) {
      await asset.selectOption(token);
      const text = await textOf(page.locator('#flows'));
      assert.doesNotMatch(text, /\u2068\u2069/, 'a name that cannot be seen is shown as one');
    }
    await assertReadable(page, 'balance of the smallest amount');
  },

  'hostile text in the address of the page stays text': async (t, open) => {
    const { server, key } = await serve(t);
    const page = await open(t, `${server.url}/#/find/${encodeURIComponent(HOSTILE)}`, { key });
    await page.getByRole('heading', { name: 'Not an address, hash or block number' }).waitFor();
    assert.match(await textOf(page.locator('main')), /<img src=x onerror/);
    assert.equal(await page.locator('main img').count(), 0);
    await page.goto(`${server.url}/#/wallet/${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  },

  'how long ago something was keeps up with the clock': async (t, open) => {
    const { server, key, index } = await serve(t);
    fillWorld(index);
    const page = await open(t, `${server.url}/#/wallet/${ALICE}`, { key });
    const last = page.locator('#summary time');
    const shown = await textOf(last);
    await page.evaluate('{ const now = Date.now(); Date.now = () => now + 3 * 86_400_000; }');
    await waitFor(async () => (await textOf(last)) !== shown, { what: 'the moment to grow older' });
  },
});
