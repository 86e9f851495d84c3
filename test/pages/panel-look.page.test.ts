import { indexStatsOf, operate, TOKEN } from '../server/operating.ts';
import { statusAt } from '../server/serving.ts';
import { pageTests } from './browser.ts';
import { assertReadable } from './look.ts';

pageTests({
  'every part of the panel can be read on a screen and a phone, in light and dark': async (t, open) => {
    const { server, access, sockets, state, indexStats } = await operate(t);
    const used = access.keys.create({ name: 'Northwind Trading Company', tier: 'tiny' }).record;
    access.usage.add(used.id, 3, Date.now());
    access.keys.revoke(access.keys.create({ name: 'former', tier: 'free' }).record.id);
    sockets.push({ endpoint: '/ws', keyId: 1, openedAt: Date.now(), topics: ['newHeads'], backlogBytes: 0 });
    Object.assign(state, statusAt(1_000), {
      phase: 'paused',
      reason: 'the node is not reachable',
      nodeHead: 3_000,
      skippedLogs: { transfer_data: 7 },
      lastCommitAt: Date.now(),
    });
    indexStats.latest = indexStatsOf({ unmeasured: { names: ['wallets'], bytes: 5 } });

    const page = await open(t, `${server.url}/admin`);
    await page.getByLabel('Operator token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await assertReadable(page, 'signing in');
    await page.getByLabel('Operator token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.locator('.chart .bar').last().waitFor();
    await assertReadable(page, 'keys');
    await page.getByRole('button', { name: 'Rotate Northwind' }).click();
    await assertReadable(page, 'a question');
    await page.locator('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.locator('.secret').waitFor();
    await assertReadable(page, 'a new key');
    await page.getByRole('button', { name: 'I have it, close' }).click();
    for (const [name, shown] of Object.entries({ Index: '.facts', Sockets: '.table', Settings: '.table' })) {
      await page.getByRole('link', { name }).click();
      await page.locator(shown).first().waitFor();
      await assertReadable(page, name);
    }
  },
});
