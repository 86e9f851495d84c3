/** The rows of the explorer's tables, as tests compare them with the API. */
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { unitsToText } from '../../src/pages/ui/format.ts';

export interface TransferAnswer {
  transfers: { txHash: string; from: string; to: string; transferType: string }[];
}

const shownRowsSchema = z.array(
  z.object({ links: z.array(z.string()), figures: z.array(z.string()), text: z.string() }),
);

/** What rows say: where their links lead, and each amount as a plain number, whole although it is shown short. */
export async function shownRows(page: Page, selector: string): Promise<z.output<typeof shownRowsSchema>> {
  return shownRowsSchema.parse(
    await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((row) => ({
      links: [...row.querySelectorAll('a')].map((link) => link.href),
      figures: [...row.querySelectorAll('.amount')].map((amount) =>
        (amount.title || amount.textContent).replace('Token number ', '').split(' ')[0].replaceAll(',', '')),
      text: row.textContent,
    }))`),
  );
}

export const textOfUnits = (units: string, decimals: number | null) =>
  unitsToText(BigInt(units), decimals ?? 0);

export const rowsOf = (page: Page, section: string) => page.locator(`#${section} tbody tr`);
