import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTRIES_PER_PAGE } from '../../src/store/wallet-history.ts';
import { prepareSumsComparer } from '../../src/verify/compare-sums.ts';
import { Check } from '../../src/verify/report.ts';
import { createIndex } from '../support/index/index-fixture.ts';

const PAGES = 3;

test('verify names each kind of damage to the sums of a busy wallet', (t) => {
  const index = createIndex(t, 1, 1);
  index.append([
    {
      transaction: Array.from({ length: PAGES * ENTRIES_PER_PAGE + 1 }, (_, i) => ({
        from: 'hub',
        to: `other ${i % 10}`,
      })),
    },
  ]);
  const db = index.reader(t);
  const hub = { id: 1, pages: PAGES, firstTransfer: 1 };
  const differences = (): string[] => {
    const check = new Check('wallets');
    prepareSumsComparer(db, 1)(hub, check);
    return check.differences.map(({ text }) => text);
  };
  assert.deepEqual(differences(), []);
  const damages: [sql: string, undo: string, expected: RegExp][] = [
    [
      'UPDATE summed_histories SET pages = 2',
      'UPDATE summed_histories SET pages = 3',
      /^the summed pages of 0x\w+ is 2 in/,
    ],
    [
      'UPDATE summed_histories SET last = 9',
      'UPDATE summed_histories SET last = 384',
      /^the last summed transfer of 0x\w+ is 9/,
    ],
    [
      'UPDATE counterparty_sums SET peak = peak + 1',
      'UPDATE counterparty_sums SET peak = peak - 1',
      /^the most transfers with a wallet of span 0/,
    ],
    [
      'UPDATE counterparty_sums SET sent = sent + 1',
      'UPDATE counterparty_sums SET sent = sent - 1',
      /^the newest native transfer to a wallet of span 0 of 0x\w+ is 385/,
    ],
    [
      'UPDATE counterparty_sums SET span = 1',
      'UPDATE counterparty_sums SET span = 0',
      /^the sums with wallet 1026 of 0x\w+ is .* must be none/,
    ],
  ];
  for (const [sql, undo, expected] of damages) {
    index.damage(sql);
    assert.match(differences()[0] ?? '', expected);
    index.damage(undo);
    assert.deepEqual(differences(), []);
  }
});
