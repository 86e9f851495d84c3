/** The browser's own WebSocket, which can only put the key into the address. */
import assert from 'node:assert/strict';
import { pageTests } from '../pages/browser.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';

pageTests({
  'a page subscribes with the key in the URL, and is told when the key is invalid': async (context, open) => {
    const t = nestedCleanup(context);
    const { node } = await startGeneratedNode(t, { blocks: 40, txPerBlock: 5 }, { head: 20 });
    const served = await startTestDaemon(t, { flags: { '--node-http': node.url, '--node-ws': node.wsUrl } });
    const page = await open(context, `${served.url}/healthz`);
    const address = `${served.url.replace('http', 'ws')}/ws?api_key=`;
    await page.evaluate((url) => {
      const socket = new WebSocket(url);
      const received: string[] = [];
      Object.assign(globalThis, { received });
      socket.onopen = () =>
        socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
      socket.onmessage = ({ data }) => received.push(data);
    }, address + served.key);
    const received = async (count: number): Promise<string[]> => {
      await page.waitForFunction((wanted) => Reflect.get(globalThis, 'received').length >= wanted, count);
      return page.evaluate(() => Reflect.get(globalThis, 'received'));
    };
    const [reply] = await received(1);
    const { result: id } = JSON.parse(reply ?? '');
    node.mine(3);
    const heads = (await received(4)).slice(1).map((text) => JSON.parse(text));
    assert.deepEqual(
      heads.map(({ params }) => [params.subscription, Number(params.result.number)]),
      [21, 22, 23].map((number) => [id, number]),
    );
    const code = await page.evaluate(
      (url) =>
        new Promise<number>((resolve) => {
          new WebSocket(url).onclose = (event) => resolve(event.code);
        }),
      `${address}atlas_wrong`,
    );
    assert.equal(code, 1006);
  },
});
