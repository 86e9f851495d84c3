/** Answers that contradict themselves are not cached for good. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayCache } from '../../src/gateway/answer-checks.ts';
import { type BlockAnswers, honestBlock, type Members } from '../support/chain/lying-block.ts';

const BLOCK = 5;

const tailOf = (result: unknown) => Buffer.from(`"result":${JSON.stringify(result)}}`);

/** Whether the answers of four methods about a block may be cached, after a change. */
function cached(change: (answers: BlockAnswers) => void = () => undefined) {
  const answers = honestBlock(BLOCK);
  change(answers);
  const { block, receipts } = answers;
  const results = {
    eth_getBlockByNumber: block,
    eth_getBlockReceipts: receipts,
    eth_getTransactionReceipt: receipts[1],
    eth_getLogs: receipts.flatMap(({ logs }) => logs),
  };
  return Object.entries(results)
    .filter(([method, result]) => mayCache(method, BLOCK, tailOf(result)))
    .map(([method]) => method);
}

const ALL = ['eth_getBlockByNumber', 'eth_getBlockReceipts', 'eth_getTransactionReceipt', 'eth_getLogs'];
const but = (...names: string[]) => ALL.filter((name) => !names.includes(name));
const logsOf = ({ receipts }: BlockAnswers, i: number) => receipts[i]!['logs'] as Members[];

test('complete answers are cached, and what is left out or null contradicts nothing', () => {
  assert.deepEqual(cached(), ALL);
  assert.deepEqual(
    cached((answers) => {
      for (const log of logsOf(answers, 1)) Object.assign(log, { transactionHash: null, removed: undefined });
    }),
    ALL,
  );
  assert.ok(mayCache('eth_call', BLOCK, tailOf('0x')));
});

test('lost, foreign and removed logs are not cached', () => {
  const receipts = ['eth_getBlockReceipts', 'eth_getTransactionReceipt'];
  assert.deepEqual(
    cached((answers) => void logsOf(answers, 1).pop()),
    but('eth_getBlockReceipts'),
  );
  assert.deepEqual(
    cached((answers) => void logsOf(answers, 1).splice(0)),
    but(...receipts),
  );
  assert.deepEqual(
    cached((answers) => Object.assign(logsOf(answers, 1)[0]!, { removed: true })),
    ['eth_getBlockByNumber'],
  );
  for (const name of ['blockHash', 'transactionHash'])
    assert.deepEqual(
      cached((answers) => Object.assign(logsOf(answers, 1)[0]!, { [name]: `0x${'99'.repeat(32)}` })),
      but(...receipts),
      name,
    );
});

test('answers about other blocks, no receipts at all, and truncated ones are not cached', () => {
  assert.ok(!mayCache('eth_getBlockReceipts', BLOCK, tailOf([])));
  assert.ok(!mayCache('eth_getLogs', BLOCK, tailOf([{ blockNumber: '0x6' }])));
  assert.ok(!mayCache('eth_getBlockByNumber', BLOCK, tailOf(honestBlock(BLOCK + 1).block)));
  assert.ok(!mayCache('eth_getBlockReceipts', BLOCK, Buffer.from('"result":[{')));
  const moved = cached(({ block }) =>
    Object.assign((block['transactions'] as Members[])[2]!, { blockHash: `0x${'99'.repeat(32)}` }),
  );
  assert.deepEqual(moved, but('eth_getBlockByNumber'));
});

test('numbers that restart with each receipt are another numbering', () => {
  const restarted = cached((answers) => {
    for (const i of [1, 2, 3])
      for (const [at, log] of logsOf(answers, i).entries()) log['logIndex'] = `0x${at}`;
  });
  assert.deepEqual(restarted, ALL);
});
