/** What a wallet's page shows at first sight: the quick pass over the explorer. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { unitsToText } from '../../src/pages/ui/format.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { assertAccessible } from './accessible.ts';
import { pageTests, textOf } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

const answer = (page: Page, title: string) => page.locator('.answers').getByRole('region', { name: title });

/** The amounts of an answer as plain numbers, whole although they are shown short. */
async function amountsIn(page: Page, title: string): Promise<string[]> {
  const amounts = await answer(page, title).locator('.amount').all();
  return Promise.all(
    amounts.map(async (amount) => {
      const text = (await amount.getAttribute('title')) ?? (await textOf(amount));
      return (text.split(' ')[0] ?? '').replaceAll(',', '').replace('−', '-');
    }),
  );
}

async function linksIn(page: Page, title: string): Promise<string[]> {
  const links = await answer(page, title).getByRole('link').all();
  const targets = await Promise.all(links.map((link) => link.getAttribute('href')));
  return targets.map((target) => new URL(target ?? '').pathname);
}

interface Answers {
  funding: { from: string; amount: string; txHash: string; source: string } | null;
  tokens: { tokenAddress: string; balance: string; decimals: number | null; share: number | null }[];
  realizedProfit: string;
  counterparties: string[];
}

async function apiAnswers(address: string): Promise<Answers> {
  const { get } = world;
  const { firstFunding } = await get<{ firstFunding: Answers['funding'] }>('wallet_funding_source', {
    address,
  });
  const { tokens } = await get<{ tokens: Answers['tokens'] }>('wallet_tokens', { address, limit: 20 });
  const { totals } = await get<{ totals: { realizedProfit: string } }>('wallet_profit', { address });
  const parties = await get<{ counterparties: { address: string }[] }>('wallet_counterparties', {
    address,
    limit: 4,
  });
  return {
    funding: firstFunding,
    tokens: tokens.toSorted((a, b) => (b.share ?? -1) - (a.share ?? -1)).slice(0, 4),
    realizedProfit: totals.realizedProfit,
    counterparties: parties.counterparties.map((party) => party.address),
  };
}

pageTests({
  'a wallet answers at first sight who funded it, what it holds and earned, and whom it deals with, as the API does':
    async (t, open) => {
      const { url, key, samples } = world;
      const page = await open(t, `${url}/`, { key });
      for (const address of [samples.trader, samples.swingTrader, samples.payee]) {
        const expected = await apiAnswers(address);
        await page.goto(`${url}/address/${address}`);
        await answer(page, 'Whom it deals with').getByRole('listitem').first().waitFor();
        await answer(page, 'What it holds').locator('.amount').first().waitFor();
        const { funding, tokens, realizedProfit, counterparties } = expected;
        const tab = `/address/${address}`;
        assert.deepEqual((await amountsIn(page, 'Who funded it'))[0], funding?.amount, address);
        assert.deepEqual(
          (await linksIn(page, 'Who funded it')).filter((path) => !path.startsWith('/block/')),
          [`/address/${funding?.from}`, `/tx/${funding?.txHash}`, tab],
        );
        const way = funding?.source === 'direct' ? 'sent directly' : 'as an internal transfer';
        assert.ok((await textOf(answer(page, 'Who funded it'))).includes(way), address);
        assert.deepEqual(
          (await amountsIn(page, 'What it holds')).slice(1),
          tokens.map(({ balance, decimals }) => unitsToText(BigInt(balance), decimals ?? 0)),
        );
        assert.deepEqual(await linksIn(page, 'What it holds'), [
          ...tokens.map(({ tokenAddress }) => `/token/${tokenAddress}`),
          tab,
        ]);
        if (realizedProfit !== '0')
          assert.deepEqual(await amountsIn(page, 'What it earned'), [
            `+${unitsToText(BigInt(realizedProfit), 18)}`,
          ]);
        assert.deepEqual(await linksIn(page, 'Whom it deals with'), [
          ...counterparties.map((party) => `/address/${party}`),
          tab,
        ]);
      }
      await page.goto(`${url}/address/${samples.swingTrader}`);
      await page.getByText(/^Fresh: 3 transactions since it was first seen \d+ blocks ago/).waitFor();
      await answer(page, 'Whom it deals with').getByRole('listitem').first().waitFor();
      await assertAccessible(page, 'a wallet');
    },
});
