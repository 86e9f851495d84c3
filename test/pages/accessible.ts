/**
 * Checks that a page is accessible: axe-core, and nothing cut off by the window, at three widths and in both themes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { z } from 'zod';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The themes differ only in colours: check all rules in one theme, colour rules in the other. */
const COLORS = { runOnly: ['color-contrast', 'link-in-text-block'] };
const VIEWS = [
  { width: 390, colorScheme: 'light', rules: {} },
  { width: 390, colorScheme: 'dark', rules: COLORS },
  { width: 768, colorScheme: 'dark', rules: {} },
  { width: 768, colorScheme: 'light', rules: COLORS },
  { width: 1440, colorScheme: 'light', rules: {} },
  { width: 1440, colorScheme: 'dark', rules: COLORS },
] as const;
const HEIGHT = 900;

/**
 * Elements beyond the right edge of the window that cannot be scrolled to: `main` clips them, so the page is no wider.
 */
const CUT_OFF = `[...document.querySelectorAll('main *')]
  .filter((element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && element.getBoundingClientRect().right > innerWidth + 1
    && !element.closest('.hidden-text, .copy, svg *'))
  .filter((element) => {
    for (let at = element; at !== null; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return false;
    return true;
  })
  .map((element) => element.outerHTML.slice(0, 200))`;

/** Boxes whose text sticks out at the right, for example an address in a sentence. */
const STICKING_OUT = `[...document.querySelectorAll('main :is(.notice, .answers > section, .facts > div, td, th, p)')]
  .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
  .filter((element) => {
    for (let at = element; at !== null; at = at.parentElement)
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX) && at.localName !== 'main') return false;
    return getComputedStyle(element).display !== 'inline';
  })
  .map((element) => element.outerHTML.slice(0, 200))`;

const resultSchema = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

/** Fails naming each violation and the first element that has it. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(AXE);
  for (const { width, colorScheme, rules } of VIEWS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.equal(excess, 0, `${what} at ${width}, ${colorScheme}: wider than the window`);
    assert.deepEqual(await page.evaluate(CUT_OFF), [], `${what} at ${width}: cut off`);
    assert.deepEqual(await page.evaluate(STICKING_OUT), [], `${what} at ${width}: sticks out of its box`);
    const options = JSON.stringify({ ...rules, resultTypes: ['violations'] });
    const found = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) => violations)`);
    const violations = resultSchema
      .parse(found)
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} (${nodes.length})`);
    assert.deepEqual(violations, [], `${what} at ${width}, ${colorScheme}`);
  }
}
