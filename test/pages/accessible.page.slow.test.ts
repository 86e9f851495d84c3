/** Every page at three widths and in both themes. */
import { before } from 'node:test';
import { indexStatsOf, operate } from '../server/operating.ts';
import { serve, statusAt } from '../server/serving.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { assertAccessible } from './accessible.ts';
import { pageTests } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';
import { partOf, SOCKET, signIn } from './panel.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

pageTests({
  'every page of the explorer is accessible': async (t, open) => {
    const { url, key, samples, get } = world;
    const { trader, token, chain, cohort } = samples;
    const { transfers } = await get<{ transfers: { txHash: string }[] }>('address_transfers', {
      address: trader,
    });
    const page = await open(t, `${url}/`);
    await page.getByLabel('API key').waitFor();
    await assertAccessible(page, 'the first visit');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    const places: [path: string, shown: string][] = [
      ['/', '#wallets tbody tr'],
      [`/address/${chain[0]}`, '#transfers tbody tr'],
      [`/address/${trader}?tab=tokens`, '#tokens tbody tr'],
      [`/address/${trader}?tab=trades`, '#trades tbody tr'],
      [`/address/${trader}?tab=trades&token=${token}`, '#curve .chart'],
      [`/address/${trader}?tab=flows`, '.chart'],
      [`/address/${chain.at(-1)}?tab=funding`, '.funding-chain'],
      [`/address/${chain[0]}?tab=network`, '.node'],
      [`/address/${chain[0]}?tab=counterparties`, '#counterparties tbody tr'],
      [`/token/${token}`, '#holders tbody tr'],
      [`/token/${token}?tab=transfers`, '#transfers tbody tr'],
      [`/token/${token}?tab=buyers`, '#buyers tbody tr'],
      [`/token/${token}?tab=launch`, '#launch tbody tr'],
      [`/token/${token}?tab=traders`, '#traders tbody tr'],
      [`/token/${samples.bundledToken}?tab=launch`, '#launch tbody tr'],
      [`/tx/${transfers[0]?.txHash}`, '#logs table'],
      ['/block/3', '#transactions tbody tr'],
      ['/search?q=demo', '.results li'],
      ['/tokens', '#tokens tbody tr'],
      ['/large', '#large tbody tr'],
      ['/live?kind=erc1155', '#live h1'],
      [`/address/${cohort[0]?.replace(/^0x../, '0x00')}`, 'main > div.notice'],
      ['/nothing/here', '.intro'],
    ];
    for (const [path, shown] of places) {
      await page.goto(url + path);
      await page.locator(shown).first().waitFor();
      await assertAccessible(page, path);
    }
  },

  'every part of the panel is accessible': async (t, open) => {
    const { server, access, sockets, state, indexStats, activity, hooks } = await operate(t);
    const used = access.keys.create({ name: 'Northwind Trading Company', tier: 'tiny' }).record;
    access.usage.add(used.id, 3, Date.now());
    access.keys.revoke(access.keys.create({ name: 'former', tier: 'free' }).record.id);
    const address = '2001:0db8:0000:0000:0000:0000:0000:0001';
    sockets.push({ ...SOCKET, id: 1, address, openedAt: Date.now(), topics: ['newHeads'] });
    hooks.lists.import('friends', new Set(['11'.repeat(20)]));
    Object.assign(state, statusAt(1_000), {
      phase: 'paused',
      reason: 'the node is not reachable',
      nodeHead: 3_000,
      skippedLogs: { transfer_data: 7 },
      skippedIn: { transfer_data: `0x${'5c'.repeat(32)}` },
      skippedContracts: [
        {
          contract: `0x${'c0'.repeat(20)}`,
          reason: 'transfer_data',
          logs: 7,
          txHash: `0x${'5c'.repeat(32)}`,
        },
      ],
      lastCommitAt: Date.now(),
    });
    indexStats.latest = indexStatsOf({ unmeasured: { names: ['wallets'], bytes: 5 } });
    const sample = {
      ...activity.totals,
      lagBlocks: 0,
      lagSeconds: 1,
      residentBytes: 1,
      loopDelaySeconds: 0,
    };
    const samples = [20, 10].map((secondsAgo) => ({ ...sample, at: Date.now() - secondsAgo * 1_000 }));
    Object.assign(activity, { samples });

    const page = await open(t, `${server.url}/admin`);
    await signIn(page, 'wrong');
    await page.getByRole('alert').waitFor();
    await assertAccessible(page, 'signing in');
    await signIn(page);
    await page.locator('.chart').waitFor();
    await assertAccessible(page, 'overview');
    await partOf(page, 'Keys').click();
    await page.locator('.chart .bar').last().waitFor();
    await assertAccessible(page, 'keys');
    await page.getByRole('button', { name: 'Change Northwind' }).click();
    await assertAccessible(page, 'a form');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Rotate Northwind' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.locator('.secret').waitFor();
    await assertAccessible(page, 'a new key');
    await page.getByRole('button', { name: 'I have saved it, close' }).click();
    const parts = { Index: '.share-cell', Sockets: '.table', Webhooks: '#lists .table', Settings: '.table' };
    for (const [name, shown] of Object.entries(parts)) {
      await partOf(page, name).click();
      await page.locator(shown).first().waitFor();
      await assertAccessible(page, name);
    }
  },

  'the docs are accessible, with their forms': async (t, open) => {
    const { server, key } = await serve(t);
    const page = await open(t, `${server.url}/docs`);
    for (const [name, field, wrong] of [
      ['address_transfers', 'limit', '9999'],
      ['wallets_batch', 'Body', '{"addresses": []}'],
    ] as const) {
      const section = page.locator(`#${name}`);
      await section.getByText('Try it').click();
      await section.getByLabel('API key').fill(key);
      await section.getByLabel(field).fill(wrong);
      await section.getByRole('button', { name: 'Send' }).click();
      await section.getByRole('alert').waitFor();
    }
    await assertAccessible(page, 'the docs with forms');
  },
});
