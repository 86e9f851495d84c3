import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CRITERIA_TEXTS, LABELS } from '../../src/api/endpoints/wallet-label.ts';
import { labelSentences } from '../../src/pages/explorer/wallet/behaviour.ts';

const STATS = {
  txCount: 7,
  uniqueTokens: 1,
  nativeInMon: '12000.5',
  nativeInWei: '12000500000000000000000',
  nativeOutMon: '0',
  nativeOutWei: '0',
  ageBlocks: 519,
  firstBlock: 10,
  lastBlock: 13,
  firstFunder: null,
};

test('a label is a sentence about the wallet, with its criterion', () => {
  const sentences = labelSentences({ labels: ['fresh', 'whale', 'casual'], stats: STATS }, 'MON');
  assert.deepEqual(
    sentences.map(({ name, found, criterion }) => `${name}: ${found} (${criterion})`),
    [
      'Fresh: 7 transactions since it was first seen 519 blocks ago (less than 1,000 blocks and 20 transactions)',
      'Whale: received 12,000.5 MON and sent 0 MON (more than 10,000 either way)',
      'Casual: moved 1 token in 7 transactions (1 to 3 tokens, fewer than 50 transactions)',
    ],
  );
  assert.deepEqual(labelSentences({ labels: [], stats: STATS }, 'MON'), []);
  const [fresh] = labelSentences({ labels: ['fresh'], stats: { ...STATS, txCount: 1, ageBlocks: 0 } }, 'MON');
  assert.equal(fresh?.found, '1 transaction since it was first seen in the latest block');
  const [bot] = labelSentences({ labels: ['bot_likely'], stats: STATS }, 'MON');
  assert.equal(bot?.found, '1.75 transactions per block, 7 transactions in all');
});

test('each criterion has the figures of the one in the documentation', () => {
  const figures = (text: string): string[] => text.match(/\d+(?:,\d+)*/g) ?? [];
  for (const label of LABELS) {
    const [sentence] = labelSentences({ labels: [label], stats: STATS }, 'MON');
    const documented = figures(CRITERIA_TEXTS[label]);
    assert.deepEqual(
      figures(sentence?.criterion ?? '').filter((figure) => !documented.includes(figure)),
      [],
      label,
    );
  }
});
