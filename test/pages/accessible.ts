/** Whether everybody can use a page: axe-core, and nothing wider than the window, at three widths and in both themes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { z } from 'zod';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Layout differs by width and colours by theme: each width in one theme, and the colours of both in cards and tables. */
const VIEWS = [
  { width: 390, colorScheme: 'light', rules: {} },
  { width: 390, colorScheme: 'dark', rules: { runOnly: ['color-contrast'] } },
  { width: 768, colorScheme: 'light', rules: { rules: { 'color-contrast': { enabled: false } } } },
  { width: 1440, colorScheme: 'dark', rules: {} },
] as const;
const HEIGHT = 900;

const resultSchema = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

/** Fails naming each violation and the first element that has it. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(AXE);
  for (const { width, colorScheme, rules } of VIEWS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.equal(excess, 0, `${what} at ${width}, ${colorScheme}: wider than the window`);
    const options = JSON.stringify({ ...rules, resultTypes: ['violations'] });
    const found = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) => violations)`);
    const violations = resultSchema
      .parse(found)
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} (${nodes.length})`);
    assert.deepEqual(violations, [], `${what} at ${width}, ${colorScheme}`);
  }
}
