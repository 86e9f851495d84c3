import assert from 'node:assert/strict';
import { z } from 'zod';
import { serve } from '../server/serving.ts';
import { pageTests, textOf } from './browser.ts';
import { prefixProxy } from './prefix-proxy.ts';

pageTests({
  'below a proxy the examples and the calls of openapi.json name the address that the page came from': async (
    t,
    open,
  ) => {
    const { server } = await serve(t);
    const base = await prefixProxy(t, server.url, '/deep/atlas');
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await open(t, `${base}/docs/`, { permissions });
    assert.equal(page.url(), `${base}/docs`);
    const summary = page.locator('#wallet_summary');
    await summary.locator('pre').first().getByText(`'${base}/api/wallet_summary?address=`).waitFor();
    const examples = (await page.locator('pre').allTextContents()).join();
    assert.ok(!examples.includes('localhost:8650'));
    await summary.locator('pre').first().hover();
    await summary.getByRole('button', { name: 'Copy the request' }).click();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    assert.ok(copied.includes(`${base}/api/wallet_summary?address=`), copied);

    const ids = z
      .array(z.string())
      .parse(await page.evaluate(`[...document.querySelectorAll('[id]')].map(({ id }) => id)`));
    assert.deepEqual(ids, [...new Set(ids)], 'a link to #search leads to the endpoint of that name');

    const document = await (await fetch(`${base}/openapi.json`)).json();
    const { servers } = z.object({ servers: z.tuple([z.object({ url: z.string() })]) }).parse(document);
    assert.equal(new URL(servers[0].url, `${base}/openapi.json`).href, `${base}/`);
  },

  'a visitor finds an endpoint, tries it with a key, and sees what is wrong': async (t, open) => {
    const { server, index, key } = await serve(t);
    index.append([{}]);
    const page = await open(t, `${server.url}/docs`);
    await page.getByRole('heading', { name: 'Error codes' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('largest holders');
    await page.getByText(/^[2-9] sections with all words\.$/).waitFor();
    const shown = await page.locator('main > section:visible').count();
    assert.ok(shown > 1 && shown < 10, `${shown} sections`);
    assert.equal(await page.locator('nav a[href="#token_holders"]').isVisible(), true);
    assert.equal(await page.locator('nav a[href="#wallet_label"]').isVisible(), false);
    await page.getByLabel('Search the documentation').fill('bot_likely criterion');
    await page.getByRole('cell', { name: 'at least 500 transactions' }).waitFor();
    await page.getByLabel('Search the documentation').fill('');

    const section = page.locator('#address_transfers');
    await section.getByText('Try it').click();
    await section.getByLabel('API key').fill(key);
    await section.getByLabel('direction').selectOption('in');
    await section.getByLabel('limit').fill('9999');
    await section.getByRole('button', { name: 'Send' }).click();
    await section.getByRole('alert').getByText('limit').waitFor();
    await section.getByLabel('limit').fill('5');
    await section.getByRole('button', { name: 'Send' }).click();
    const answer = section.getByRole('status', { name: 'Answer' });
    assert.match(await textOf(answer), /direction=in&limit=5.*200.*"transfers": \[\]/s);
    assert.equal((await textOf(answer)).includes(key), false, 'the key is shown');
    const batch = page.locator('#wallets_batch');
    await batch.getByText('Try it').click();
    await batch.getByLabel('Body').fill('{"addresses": []}');
    await batch.getByRole('button', { name: 'Send' }).click();
    await batch.getByRole('alert').getByText('addresses').waitFor();
  },

  'printed samples are complete': async (t, open) => {
    const { server } = await serve(t);
    const page = await open(t, `${server.url}/docs`);
    await page.emulateMedia({ media: 'print' });
    const cut = await page.evaluate(
      "[...document.querySelectorAll('pre')].filter((pre) => pre.scrollHeight > pre.clientHeight || " +
        'pre.scrollWidth > pre.clientWidth).length',
    );
    assert.equal(cut, 0);
  },
});
