import assert from 'node:assert/strict';
import { serve } from '../server/serving.ts';
import { pageTests, textOf } from './browser.ts';
import { ALICE, fillWorld, nodeWithTransfer } from './explorer-world.ts';
import { prefixProxy } from './prefix-proxy.ts';

pageTests({
  'a visitor gives a key, looks at a wallet, filters, follows a link and goes back': async (t, open) => {
    const { server, key, index } = await serve(t, { upstream: await nodeWithTransfer(t) });
    fillWorld(index);
    const base = await prefixProxy(t, server.url, '/deep/atlas');
    const page = await open(t, `${base}/address/${ALICE}`);
    await page.getByLabel('API key').fill('atlas_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is invalid or has been revoked.').waitFor();
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    const rows = page.locator('#transfers tbody tr');
    await rows.first().waitFor();
    assert.equal(await rows.count(), 50);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('−1', { exact: false }).nth(50).waitFor();

    await page.getByText('In', { exact: true }).click();
    await page.waitForURL(/direction=in/);
    await page.getByText('out', { exact: true }).first().waitFor({ state: 'detached' });
    assert.match(await textOf(rows.first()), /\+0\.5/);
    await page.getByRole('link', { name: /^0x/ }).last().click();
    await page.waitForURL(/address/);
    assert.ok(!page.url().includes(ALICE));
    await page.goBack();
    await page.waitForURL(/direction=in/);
    assert.match(await textOf(page.locator('h1')), new RegExp(ALICE));
  },
});
