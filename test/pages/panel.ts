/** The operator's panel in a browser. */
import type { Page } from 'playwright-core';
import { TOKEN } from '../server/operating.ts';

/** Submits the form of the operator's token. */
export async function signIn(page: Page, token = TOKEN): Promise<void> {
  await page.getByLabel('Operator token').fill(token);
  await page.keyboard.press('Enter');
}

export const isOpen = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor();

export const partOf = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

/** An open socket, as the panel lists it. */
export const SOCKET = { endpoint: '/ws', keyId: 1, backlogBytes: 2_500 } as const;
