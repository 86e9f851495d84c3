import assert from 'node:assert/strict';
import { serve } from '../server/serving.ts';
import { address, txHash } from '../support/index-fixture.ts';
import { pageTests } from './browser.ts';
import { ALICE, fillWorld, GOLD, nodeWithTransfer } from './explorer-world.ts';
import { assertReadable } from './look.ts';

pageTests({
  'the check itself notices faint text, what is too wide, and a control without a name': async (t, open) => {
    const { server } = await serve(t);
    const page = await open(t, `${server.url}/#/`);
    await page.getByLabel('API key').waitFor();
    await assertReadable(page, 'as it is');
    const spoilt = async (script: string, fault: RegExp) => {
      await page.reload();
      await page.getByLabel('API key').waitFor();
      await page.evaluate(script);
      await assert.rejects(assertReadable(page, 'spoilt'), fault);
    };
    await spoilt("document.documentElement.style.setProperty('--soft', '#b5b5b5')", /contrast \d/);
    await spoilt("document.querySelector('h1').style.width = '2000px'", /px wider/);
    await spoilt("document.querySelector('button').textContent = ''", /no name/);
    await spoilt("document.querySelector('h1').setAttribute('aria-hidden', '')", /aria-hidden hides nothing/);
  },

  'every view of the explorer can be read on a screen and a phone, in light and dark': async (t, open) => {
    const { server, key, index } = await serve(t, { upstream: await nodeWithTransfer(t) });
    fillWorld(index);
    // As many digits as are shown, to a holder and in a list.
    index.append([
      {
        much: [
          { kind: 'erc20', token: 'gold', from: 'zero', to: 'alice', amount: 987_654_321n * 10n ** 21n },
        ],
      },
    ]);
    const page = await open(t, `${server.url}/#/`);
    await page.getByLabel('API key').waitFor();
    await assertReadable(page, 'the asking for the key');
    await page.getByLabel('API key').fill('atlas_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await assertReadable(page, 'a wrong key');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('#large .table').waitFor();
    await assertReadable(page, 'the beginning');

    const views = {
      'a wallet': [`wallet/${ALICE}`, ['flows', 'funding', 'coordinated', 'counterparties', 'transfers']],
      'an empty wallet': [`wallet/${address('nobody')}`, ['funding', 'transfers']],
      'a token': [`token/${GOLD}`, ['holders', 'buyers', 'activity']],
      'a transaction': [`transaction/${txHash('trade')}`, ['summary']],
      'a block': ['block/100', ['summary']],
    } as const;
    for (const [what, [view, parts]] of Object.entries(views)) {
      await page.goto(`${server.url}/#/${view}`);
      for (const part of parts) {
        await page.locator(`#${part}`).scrollIntoViewIfNeeded();
        await page.locator(`#${part}[data-state=shown]`).waitFor();
      }
      await page.locator('.exchange summary').first().click();
      await assertReadable(page, what);
    }
    await page.goto(`${server.url}/#/find/nothing`);
    await page.getByRole('heading', { name: 'Not an address, hash or block number' }).waitFor();
    await assertReadable(page, 'a search for what is no address');
  },
});
