import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { verifyText } from '../../src/cli/verify/verify-text.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import { hideTransfers } from '../support/nodes/hide-transfers.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const HEAD = 200;

/** A node, and an index built from a node that omits the last log of some blocks' receipts. */
async function wronglyIndexed(t: TestContext, wrong: readonly number[]) {
  const chain = [...generateChain({ seed: 61, blocks: HEAD, txPerBlock: 6 }).blocks];
  const node = await startNode(t, { chain });
  const forgetful = await startMisbehavingNode({ upstream: node.url });
  t.after(() => forgetful.close());
  forgetful.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockReceipts' && wrong.includes(Number(params[0]))
        ? hideTransfers(result, (at) => at === 0)
        : result,
  });
  const path = await buildIndex({ url: forgetful.url, dir: tempDir(t), startBlock: 1 });
  forgetful.misbehave({});
  return { path, node, proxy: forgetful };
}

test('verify --all compares every block, and resumes where it was stopped', async (t) => {
  const { path, proxy } = await wronglyIndexed(t, [30, 150, 199]);
  const stop = new AbortController();
  const stopped = verifyFile({
    path,
    http: proxy.url,
    all: true,
    signal: stop.signal,
    onProgress: (text) => text.startsWith('block 64 of 200') && stop.abort(new FatalError('stopped')),
  });
  await assert.rejects(stopped, /^FatalError: stopped; all blocks below 65 are compared: run it again/);
  assert.ok(existsSync(`${path}.verify`));
  proxy.requests.length = 0;
  const report = await verifyFile({ path, http: proxy.url, all: true });
  const read = proxy.requests.flatMap(({ calls }) =>
    calls.flatMap(({ method, params }) => (method === 'eth_getBlockReceipts' ? [Number(params[0])] : [])),
  );
  assert.ok(read.includes(65) && !read.includes(40), 'no block is compared twice');
  const found = differencesOf(report).filter((text) => text.startsWith('transfers: '));
  assert.deepEqual(
    found.map((text) => Number(/of block (\d+) /.exec(text)?.[1])),
    [30, 150, 199],
  );
  const text = verifyText(report);
  assert.match(text, /^transfers +3 DIFFER +100 % +all 200 blocks with [\d,]+ transfers, decoded again$/m);
  assert.match(text, /^checksums +equal +100 % /m);
  assert.match(text, /^wallets +equal +100 % /m);
  assert.match(text, /note \(transfers\): resumed after block 64, where an earlier run stopped/);
  assert.ok(!existsSync(`${path}.verify`), 'a finished run leaves nothing');
});

test('verify reports the sampled share; --all names a node’s failure, and starts over after changes', async (t) => {
  const { path, node, proxy } = await wronglyIndexed(t, []);
  const text = verifyText(await verifyFile({ path, http: node.url, sample: 50 }));
  assert.match(text, /^CHECK +RESULT +SHARE +WHAT WAS COMPARED$/m);
  assert.match(text, /^checksums +equal +100 % /m);
  assert.match(text, /^transfers +equal +5\.0 % +all transfers of 10 blocks/m);
  assert.match(text, /^wallets +equal +\d+\.\d % /m);

  const failure = { code: -32000, message: 'no such luck' };
  proxy.misbehave({ errorFor: { eth_getBlockReceipts: failure, eth_getTransactionReceipt: failure } });
  await assert.rejects(
    verifyFile({ path, http: proxy.url, all: true }),
    /cannot be read from the node: .*no such luck.*; all blocks below 1 are compared/,
  );

  const stop = new AbortController();
  const onProgress = (text: string) =>
    text.startsWith('block 128 of 200') && stop.abort(new FatalError('stopped'));
  await assert.rejects(
    verifyFile({ path, http: node.url, all: true, signal: stop.signal, onProgress }),
    /below 129/,
  );
  const db = openDatabase(path);
  db.exec('UPDATE blocks SET hash = zeroblob(32) WHERE number = 128');
  db.close();
  const report = await verifyFile({ path, http: node.url, all: true });
  assert.match(verifyText(report), /^transfers +1 DIFFERS? +100 % +all 200 blocks/m);
});
