/** The part of the panel that creates, changes and revokes keys. */
import assert from 'node:assert/strict';
import { operate, TOKEN } from '../server/operating.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests, recordTexts, textOf } from './browser.ts';
import { signIn } from './panel.ts';

pageTests({
  'a key is created, shown once, used, changed, replaced and revoked': async (t, open) => {
    const { server, index, access } = await operate(t);
    index.append([{}]);
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await open(t, `${server.url}/admin?part=keys`, { permissions });
    await signIn(page);
    const ask = async (key: string, path = 'wallet_summary') => {
      const url = `${server.url}/api/${path}?address=0x${'11'.repeat(20)}`;
      return (await fetch(url, { headers: { 'X-API-Key': key } })).status;
    };
    const secret = page.locator('.secret');

    await page.getByLabel('Name').fill('<b>shop</b>');
    await page.getByLabel('Tier').selectOption('free');
    await page.getByRole('button', { name: 'Create key' }).click();
    const first = await textOf(secret);
    const row = page.locator('tbody tr', { hasText: '<b>shop</b>' });
    await row.getByText('none recently').waitFor();
    assert.equal(await ask(first), 200);
    for (let i = 0; i < 5; i++) await page.keyboard.press('Escape');
    assert.equal(await textOf(secret), first, 'Escape lost the key');
    const hasShown = await recordTexts(page);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await hasShown('Copied');
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), first);
    await page.getByRole('button', { name: 'I have saved it, close' }).click();
    await secret.waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(first), false, 'the key is still in the page');
    await row.getByText('1 of 100,000').waitFor();
    await row.getByText(/^\d+ s ago$/).waitFor();

    await row.getByRole('button', { name: 'Change' }).click();
    const dialog = page.locator('dialog');
    await dialog.getByLabel('Name').fill('shop two');
    await dialog.getByLabel('Tier').selectOption('unlimited');
    await dialog.getByLabel('Expires').fill('2999-01-01T00:00');
    await dialog.getByLabel('Allowed only').fill('GET /everything');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('cannot be allowed').waitFor();
    await dialog.getByLabel('Allowed only').fill('GET /api/wallet_summary\n\neth_call');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const changed = page.locator('tbody tr', { hasText: 'shop two' });
    await changed.getByText('2999-01-01 00:00').waitFor();
    await changed.getByText('2 allowed').waitFor();
    await changed.getByRole('button', { name: 'Change' }).click();
    assert.equal(await dialog.getByLabel('Tier').inputValue(), 'unlimited', 'saving would change the tier');
    await page.keyboard.press('Escape');
    assert.deepEqual([await ask(first), await ask(first, 'wallet_label')], [200, 403]);

    await changed.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const second = await textOf(secret);
    await page.getByRole('button', { name: 'I have saved it, close' }).click();
    assert.deepEqual([await ask(first), await ask(second)], [401, 200]);
    await changed.getByText('rotated').waitFor();

    await changed.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await ask(second), 200, 'revoked although it was called off');
    await changed.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await changed.getByText('revoked').waitFor();
    assert.equal(await ask(second), 401);
    assert.equal(await changed.getByRole('button').count(), 1, 'only its usage is left to see');

    access.keys.create({ name: 'app 17', tier: 'growth' });
    const names = () => page.locator('#keys tbody .name').allTextContents();
    for (const [text, found] of [
      ['App 17', 'app 17'],
      ['revoked', 'shop two'],
      ['wallet_summary', 'shop two'],
      ['nobody', ''],
    ] as const) {
      await page.getByLabel('Search the keys').fill(text);
      await waitFor(async () => (await names()).join() === found, { what: `keys found by "${text}"` });
    }
    await page.getByText('No keys match this search.').waitFor();
  },

  'a key can be created and revoked with the keyboard alone': async (t, open) => {
    const { server, access } = await operate(t);
    const page = await open(t, `${server.url}/admin?part=keys`);
    const focused = async () =>
      String(
        await page.evaluate(
          'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
        ),
      );
    const press = async (key: string, until: RegExp) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press(key);
        if (until.test(await focused())) return;
      }
      throw new Error(`${key} does not lead to ${until}; it ended at ${await focused()}`);
    };
    await page.getByLabel('Operator token').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByLabel('Search the keys').focus();
    await page.getByLabel('Tier').locator('option').first().waitFor({ state: 'attached' });
    await page.keyboard.press('Tab');
    await page.keyboard.type('keyboard');
    await page.keyboard.press('Tab');
    await page.keyboard.type('unlim');
    await press('Tab', /^Create key$/);
    await page.keyboard.press('Enter');
    await page.locator('.secret').waitFor();
    await press('Tab', /^I have saved it/);
    await page.keyboard.press('Enter');
    await page.locator('dialog').waitFor({ state: 'detached' });
    assert.equal(await focused(), 'Create key', 'the focus was lost while the key was made');
    await page.getByRole('button', { name: 'Revoke keyboard' }).waitFor();
    await press('Tab', /^Revoke keyboard$/);
    await page.keyboard.press('Enter');
    // The cautious answer has the focus once the dialog is open.
    await page.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('tr.ended').waitFor();
    assert.equal(await focused(), 'Usage keyboard', 'the focus was lost with the button');
    await page.keyboard.press('Enter');
    await page.getByText('0 requests of keyboard in the last 24 hours').waitFor();
    const made = access.keys.list().find(({ name }) => name === 'keyboard');
    assert.equal(made?.tier, 'unlimited');
    assert.notEqual(made?.revokedAt, null);
  },
});
