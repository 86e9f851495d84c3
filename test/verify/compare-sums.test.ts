import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTRIES_PER_PAGE } from '../../src/store/wallet-history.ts';
import { prepareSumsComparer } from '../../src/verify/comparers.ts';
import { Check } from '../../src/verify/report.ts';
import { createIndex } from '../support/index/index-fixture.ts';

const PAGES = 3;

for (const bytesPerPass of [undefined, 1])
  test(`verify names damage to the sums of a busy wallet, ${bytesPerPass ?? 'the usual'} bytes a pass`, (t) => {
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
      prepareSumsComparer(db, 1, bytesPerPass)(hub, check);
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

test('the sums of a wallet with many counterparties are compared in passes, and a missing row is named', (t) => {
  const index = createIndex(t, 1, 1);
  const wallets = 5_000; // five spans
  index.append([
    { transaction: Array.from({ length: wallets }, (_, i) => ({ from: 'hub', to: `other ${i}` })) },
  ]);
  const db = index.reader(t);
  const pages = Math.ceil(wallets / ENTRIES_PER_PAGE) - 1;
  const differences = (bytesPerPass?: number): string[] => {
    const check = new Check('wallets');
    prepareSumsComparer(db, 1, bytesPerPass)({ id: 1, pages, firstTransfer: 1 }, check);
    return check.differences.map(({ text }) => text);
  };
  index.damage('DELETE FROM counterparty_sums WHERE span = 2');
  for (const bytesPerPass of [undefined, 1, 20_000]) {
    const [missing, ...others] = differences(bytesPerPass);
    assert.match(missing ?? '', /^1024 sums with counterparties of 0x\w+ are missing/);
    assert.deepEqual(others, []);
  }
});
