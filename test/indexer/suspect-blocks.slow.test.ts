/** What becomes of a block whose answers contradict themselves. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { IndexStatus } from '../../src/model/index-status.ts';
import { readGaps } from '../../src/store/block-gaps.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { bloomOf, honestBlock, type Members } from '../support/chain/lying-block.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { repairFile } from '../support/index/verify.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const HEAD = 12;
const BAD = 7;

type Change = (method: string, answer: Members[], block: number) => Members[];

/** A node of a chain of honest blocks 0 to HEAD, and what it changes. */
async function startChain(t: TestContext, change: Change = (_method, answer) => answer) {
  const blocks = Array.from({ length: HEAD + 1 }, (_, number) => honestBlock(number));
  const state = { change };
  const node = await startMisbehavingNode({
    answer(method, [param]) {
      if (method === 'eth_chainId') return '0x539';
      if (method === 'eth_blockNumber') return `0x${HEAD.toString(16)}`;
      if (method === 'web3_clientVersion') return 'liar/1';
      const number = blocks.findIndex(({ block }) => block['hash'] === param || block['number'] === param);
      const at = number < 0 ? HEAD : number;
      const { block, receipts, traces } = structuredClone(blocks[at]!);
      if (method === 'eth_getBlockByNumber') return state.change(method, [block], at)[0];
      if (method === 'eth_getBlockReceipts') return state.change(method, receipts, at);
      if (method === 'debug_traceBlockByHash') return state.change(method, traces, at);
      return null;
    },
  });
  t.after(() => node.close());
  return { node, state, url: node.url };
}

const loseLog: Change = (method, answer, block) => {
  if (method === 'eth_getBlockReceipts' && block === BAD) (answer[1]!['logs'] as unknown[]).pop();
  return answer;
};

const indexOptions = { startBlock: 0, head: 'latest' } as const;

function gapsIn(path: string) {
  const db = openIndexForReading(path);
  try {
    return readGaps(db, 'log').map(({ first, last }) => [first, last]);
  } finally {
    db.close();
  }
}

const hasPaused = (status: () => IndexStatus) =>
  waitFor(() => /log 1 is missing before log 2/.test(status().reason ?? ''), { what: 'the reason' });

test('a block that lost a log is not stored, and the status says which', async (t) => {
  const { url, state } = await startChain(t, loseLog);
  const indexer = startIndexer(t, { http: url, dir: tempDir(t), index: indexOptions });
  await indexer.reaches(BAD - 1);
  await hasPaused(indexer.status);
  assert.equal(indexer.status().phase, 'paused');
  state.change = (_method, answer) => answer;
  await indexer.reaches(HEAD);
  assert.equal(indexer.status().logGaps, null);
});

test('it is read from another node that has the log', async (t) => {
  const [bad, good] = [await startChain(t, loseLog), await startChain(t)];
  const indexer = startIndexer(t, {
    http: bad.url,
    others: [good.url],
    dir: tempDir(t),
    index: indexOptions,
  });
  await indexer.reaches(HEAD);
  assert.equal(indexer.status().logGaps, null);
  assert.match(indexer.logs.join('\n'), /an incomplete block was read from another node/);
});

test('the same answer of all nodes, often and for long, is stored as a log gap that a repair fills', async (t) => {
  const [bad, same] = [await startChain(t, loseLog), await startChain(t, loseLog)];
  const index = { ...indexOptions, logGapMs: 300 };
  const indexer = startIndexer(t, { http: bad.url, others: [same.url], dir: tempDir(t), index });
  await indexer.reaches(HEAD);
  assert.deepEqual(indexer.status().logGaps, {
    first: BAD,
    last: BAD,
    blocks: 1,
    reasons: [{ reason: 'logs are missing: their numbers have holes', blocks: 1 }],
  });
  assert.match(indexer.logs.join('\n'), /stored as a log gap/);
  await indexer.client.stop();
  assert.deepEqual(gapsIn(indexer.path), [[BAD, BAD]]);
  assert.equal((await repairFile(indexer.path, bad.url, 0, HEAD)).replacedFrom, null, 'no better answer yet');
  assert.deepEqual(gapsIn(indexer.path), [[BAD, BAD]]);
  bad.state.change = (_method, answer) => answer;
  assert.equal((await repairFile(indexer.path, bad.url, 0, HEAD)).replacedFrom, BAD);
  assert.deepEqual(gapsIn(indexer.path), []);
});

const loseReceipt: Change = (method, answer, block) =>
  method === 'eth_getBlockReceipts' && block === BAD ? answer.slice(1) : answer;

test('receipts that every node lacks for long are a log gap, unless those around are missing as well', async (t) => {
  const { url, state } = await startChain(t, loseReceipt);
  const index = { ...indexOptions, logGapMs: 300 };
  const one = startIndexer(t, { http: url, dir: tempDir(t), index });
  await one.reaches(HEAD);
  assert.deepEqual(one.status().logGaps?.reasons, [
    { reason: 'receipts of transactions are missing, and with them their logs', blocks: 1 },
  ]);
  await one.client.stop();
  assert.equal((await repairFile(one.path, url, 0, HEAD)).replacedFrom, null, 'the same without the receipt');
  state.change = (method, answer, block) =>
    method === 'eth_getBlockReceipts' && block === BAD ? [] : answer;
  const whole = startIndexer(t, { http: url, dir: tempDir(t), index });
  await whole.reaches(HEAD);
  assert.equal(whole.status().logGaps?.blocks, 1);
  state.change = (_method, answer) => answer;
  assert.equal((await repairFile(one.path, url, 0, HEAD)).replacedFrom, BAD);
  let asked = 0;
  state.change = (method, answer, block) => {
    if (method === 'eth_getBlockReceipts' && block === BAD) asked++;
    return method === 'eth_getBlockReceipts' && block >= BAD ? [] : answer;
  };
  const pruned = startIndexer(t, { http: url, dir: tempDir(t), index: { ...index, logGapMs: 0 } });
  await waitFor(() => asked > 6, { what: 'more than five answers' });
  assert.ok((pruned.status().head?.number ?? 0) < BAD);
  assert.equal(pruned.status().logGaps, null);
});

test('an answer that changes is not stored', async (t) => {
  let calls = 0;
  const { url } = await startChain(t, (method, answer, block) => {
    if (method === 'eth_getBlockReceipts' && block === BAD)
      (answer[3]!['logs'] as unknown[]).splice((calls++ >> 1) % 2, 1);
    return answer;
  });
  const index = { ...indexOptions, logGapMs: 0 };
  const indexer = startIndexer(t, { http: url, dir: tempDir(t), index });
  await waitFor(() => calls > 12, { what: 'more than six answers, each read twice' });
  assert.ok((indexer.status().head?.number ?? 0) < BAD);
  assert.equal(indexer.status().logGaps, null);
});

test('a chain whose root frames are never its transactions is indexed, and the status says so', async (t) => {
  const { url } = await startChain(t, (method, answer) => {
    if (method === 'debug_traceBlockByHash')
      for (const item of answer)
        item['result'] = { ...(item['result'] as Members), to: `0x${'80'.repeat(20)}` };
    return answer;
  });
  const indexer = startIndexer(t, { http: url, dir: tempDir(t), index: indexOptions });
  await indexer.reaches(HEAD);
  assert.match(indexer.status().unchecked ?? '', /root frames are not its transactions/);
  assert.equal(indexer.status().untraced, null);
});

test('logs counted for failed transactions leave holes that blooms excuse', async (t) => {
  const { url } = await startChain(t, (method, answer) => {
    const none = { logs: [], logsBloom: bloomOf([]) };
    if (method === 'eth_getBlockReceipts') Object.assign(answer[1]!, { ...none, status: '0x0' });
    if (method === 'eth_getBlockByNumber') answer[0]!['logsBloom'] = none.logsBloom;
    return answer;
  });
  const indexer = startIndexer(t, { http: url, dir: tempDir(t), index: { ...indexOptions, traces: false } });
  await indexer.reaches(HEAD);
  assert.equal(indexer.status().logGaps, null);
});
