import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { chromiumLaunch } from '../../scripts/chromium.ts';

test('the Chromium of the npm package lays out a page with its own fonts', async (t) => {
  const browser = await chromium.launch(chromiumLaunch('package'));
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.setContent('<span>atlas</span>');
  const { width } = (await page.locator('span').boundingBox()) ?? { width: 0 };
  assert.ok(width > 10, `${width} pixels wide`);
});

test('a Chromium can be named by its path', () => {
  assert.equal(chromiumLaunch('/opt/a/chromium').executablePath, '/opt/a/chromium');
});
