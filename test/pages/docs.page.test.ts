import assert from 'node:assert/strict';
import { z } from 'zod';
import { serve } from '../server/serving.ts';
import { pageTests } from './browser.ts';
import { prefixProxy } from './prefix-proxy.ts';

pageTests({
  'examples name the address that the page came from, and calls of openapi.json go there too': async (
    t,
    open,
  ) => {
    const { server } = await serve(t);
    for (const base of [server.url, await prefixProxy(t, server.url, '/deep/atlas')]) {
      const page = await open(t, `${base}/docs/`);
      assert.equal(page.url(), `${base}/docs`);
      const summary = page.locator('#wallet_summary pre').first();
      await summary.getByText(`'${base}/api/wallet_summary?address=`).waitFor();
      const examples = (await page.locator('pre').allTextContents()).join();
      assert.ok(!examples.includes('localhost:8650'));

      const document = await (await fetch(`${base}/openapi.json`)).json();
      const { servers } = z.object({ servers: z.tuple([z.object({ url: z.string() })]) }).parse(document);
      assert.equal(new URL(servers[0].url, `${base}/openapi.json`).href, `${base}/`);
    }
  },

  'printed samples are whole': async (t, open) => {
    const { server } = await serve(t);
    const page = await open(t, `${server.url}/docs`);
    await page.emulateMedia({ media: 'print' });
    const cut = await page.evaluate(
      "[...document.querySelectorAll('pre')].filter((pre) => pre.scrollHeight > pre.clientHeight || pre.scrollWidth > pre.clientWidth).length",
    );
    assert.equal(cut, 0);
  },
});
