import assert from 'node:assert/strict';
import { before } from 'node:test';
import { suiteCleanup } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { pageTests } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

pageTests({
  'an index without traces that begins at a later block says both, and asks for no block before it': async (
    t,
    open,
  ) => {
    const { anvil, samples, pay } = world;
    const before = await pay(samples.trader, 1);
    const start = Number(await anvil.call('eth_blockNumber')) + 1;
    await pay(samples.trader, 1);
    const { url, key, reaches } = await startTestDaemon(t, {
      flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl, '--start-block': `${start}` },
      env: { ATLAS_INDEX__TRACES: 'false' },
    });
    await reaches(start);
    const page = await open(t, `${url}/live?nothing=1`, { key });
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(response.url());
    });
    await page.locator('#live tbody tr').first().waitFor();
    await page.goto(`${url}/`);
    await page.locator('#transfers tbody tr').first().waitFor();
    assert.deepEqual(refused, []);
    for (const path of ['', 'large', `address/${samples.trader}`, `block/${start}?tab=transfers`]) {
      await page.goto(`${url}/${path}`);
      await page.getByText('Internal transfers, those by contracts, are missing').waitFor();
      assert.equal(await page.getByText(/including internal/).count(), 0, path);
    }

    const words = `block ${start - 1} is before the first indexed block ${start}`;
    for (const path of [`block/${start - 1}`, `block/${start - 1}?tab=transfers`, `tx/${before}`]) {
      await page.goto(`${url}/${path}`);
      await page.getByText(words).waitFor();
      assert.equal(await page.getByText('No transfers').count(), 0, path);
      assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0, path);
    }
  },
});
