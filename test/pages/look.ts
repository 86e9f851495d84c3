/** Whether a page can be read: at three sizes, in light and dark. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { NARROW, UPRIGHT, WIDE } from './browser.ts';

const SCRIPT = readFileSync(new URL('./look-script.js', import.meta.url), 'utf8');

/** Fails naming what is too wide, lacks contrast (below 4.5:1) or is a control without a name. */
export async function assertReadable(page: Page, what: string): Promise<void> {
  for (const [size, viewport] of Object.entries({ wide: WIDE, upright: UPRIGHT, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const faults = await page.evaluate(SCRIPT);
      assert.deepEqual(faults, [], `${what}, ${size}, ${colorScheme}`);
    }
  }
  await page.setViewportSize(WIDE);
}
