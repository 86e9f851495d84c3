import assert from 'node:assert/strict';
import { pageTests, textOf } from '../pages/browser.ts';
import { operate, TOKEN } from '../server/operating.ts';

const HOSTILE = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>';

pageTests({
  'hostile names of keys and topics of sockets are text in the panel': async (t, open) => {
    const { server, access, sockets } = await operate(t);
    const { record } = access.keys.create({ name: HOSTILE, tier: 'free' });
    sockets.push({
      id: 1,
      address: '192.0.2.1',
      endpoint: '/ws',
      keyId: record.id,
      openedAt: Date.now(),
      topics: [HOSTILE],
      backlogBytes: 0,
    });
    const page = await open(t, `${server.url}/admin?part=keys`);
    await page.getByLabel('Operator token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('<img src=x', { exact: false }).first().waitFor();
    await page.getByRole('link', { name: 'Sockets', exact: true }).click();
    await page.locator('td', { hasText: '<img src=x' }).first().waitFor();
    assert.match(await textOf(page.locator('main')), /<img src=x onerror/);
    assert.equal(await page.locator('main img[src="x"]').count(), 0);
    assert.notEqual(await page.title(), 'owned');
  },

  'a key name with direction marks cannot change the text of the revoke dialog': async (t, open) => {
    const { server, access } = await operate(t);
    access.keys.create({ name: `shop\u202e${'x'.repeat(100)}`, tier: 'free' });
    const page = await open(t, `${server.url}/admin?part=keys`);
    await page.getByLabel('Operator token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Revoke shop' }).click();
    const question = await textOf(page.locator('dialog p'));
    assert.match(question, /^The key of shopx+… stops working at once/);
  },
});
