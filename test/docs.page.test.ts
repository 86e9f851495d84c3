/** The browser example of the docs, in a real browser, from its own origin. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startAnvil } from '../src/dev/anvil.ts';
import { pageTests } from './pages/browser.ts';
import { nestedCleanup } from './support/cleanup.ts';
import { startTestDaemon } from './support/daemon/daemon.ts';
import { codeBlock } from './support/docs.ts';

pageTests({
  'the browser example lists large transfers and shows a funding when it happens': async (context, open) => {
    const t = nestedCleanup(context);
    const example = codeBlock('html browser');
    const anvil = await startAnvil({ manual: true });
    t.after(() => anvil.stop());
    const [from, to] = (await anvil.call('eth_accounts')) as string[];
    const send = async () => {
      await anvil.call('eth_sendTransaction', [{ from, to, value: '0x1bc16d674ec80000' }]);
      await anvil.call('anvil_mine', []);
    };
    await send();
    const served = await startTestDaemon(t, {
      flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl },
    });
    await served.reaches(1);

    const html = example.replace('http://127.0.0.1:8650', served.url).replace('atlas_...', served.key);
    const elsewhere = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end(`<link rel="icon" href="data:,">${html}`);
    }).listen(0, '127.0.0.1');
    t.after(() => void elsewhere.close());
    await once(elsewhere, 'listening');
    const page = await open(context, `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
    await page.getByText('"amount":"2.000000"').waitFor();
    await page.getByText(/"id":1,"result":"0x/).waitFor(); // the reply to the subscribe
    await send();
    await page.getByText('"event":"wallet_funded"').waitFor();
  },
});
