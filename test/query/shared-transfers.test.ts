/** The transfers that a wallet shares with a token equal those that a filter of all transfers finds. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { prepareSharedTransfers } from '../../src/query/shared-transfers.ts';
import { prepareTokenHistoryIds } from '../../src/query/token-history.ts';
import { prepareHistoryIds } from '../../src/query/wallet-history-ids.ts';
import { HistoryEnd, listEnd, prepareFirstOfTransaction } from '../../src/query/wallet-history-reading.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import { rowChecksum } from '../../src/store/checksum.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { HistoryFlag } from '../../src/store/wallet-history.ts';
import { address, createIndex, type NamedTransfer } from '../support/index/index-fixture.ts';

const TRANSFERS = 4_000;
const IN_TRANSACTION = 5;
const FREELY = unitBudget(1e12);
const BOTH = HistoryFlag.in | HistoryFlag.out;
const ALL_KINDS = 0xff;

/** Of one wallet in all transfers, some in many and some in few, and of tokens likewise. */
function manyTransfers(): NamedTransfer[] {
  let state = 1;
  const below = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    return (state >>> 8) % limit;
  };
  const rarely = (names: readonly string[]) => names[Math.floor(Math.log2(1 + below(2 ** names.length)))]!;
  return Array.from({ length: TRANSFERS }, (_, i): NamedTransfer => {
    const from = rarely(['rare', 'seldom', 'some', 'zero', 'often', 'busy']);
    const to = below(3) === 0 ? `new ${i % 50}` : rarely(['rare', 'seldom', 'zero', 'busy', 'often']);
    const token = rarely(['dust', 'shy', 'coin', 'cash']);
    const amount = BigInt(below(3));
    if (i > TRANSFERS / 2 && i < (TRANSFERS * 3) / 4) return { from: 'busy', to, amount };
    return below(4) === 0 ? { from, to, amount } : { kind: 'erc20', token, from, to, amount };
  });
}

function fixture(t: TestContext) {
  const transfers = manyTransfers();
  const index = createIndex(t);
  const transactions = Array.from({ length: TRANSFERS / IN_TRANSACTION }, (_, i) => [
    `transaction ${i}`,
    transfers.slice(i * IN_TRANSACTION, (i + 1) * IN_TRANSACTION),
  ]);
  index.append(
    Array.from({ length: 20 }, (_, b) => Object.fromEntries(transactions.slice(b * 40, b * 40 + 40))),
  );
  return { index, transfers };
}

/** As in an index of an earlier release whose histories of tokens are still being listed. */
function endTokenHistoryAt(path: string, lastTransfer: number): void {
  const db = openDatabase(path);
  db.prepare("UPDATE derived SET last_transfer = ?, checksum = ? WHERE name = 'token_history'").run(
    lastTransfer,
    rowChecksum('token_history', lastTransfer),
  );
  db.close();
}

test('whatever the range, the bounds and the end of the history of the token', (t) => {
  const { index, transfers } = fixture(t);
  let compared = 0;
  for (const end of [TRANSFERS, 1_234, 0]) {
    endTokenHistoryAt(index.path, end);
    const db = index.reader(t);
    const idOf = prepareWalletIdByAddress(db);
    const shared = prepareSharedTransfers(db);
    const firstOf = prepareFirstOfTransaction(db);
    const tokenOf = db.prepare<[number], number>('SELECT id FROM tokens WHERE wallet = ?').pluck();
    const ofWallet = prepareHistoryIds(db);
    const ofToken = prepareTokenHistoryIds(db);
    for (const name of ['rare', 'seldom', 'often', 'busy', 'zero', 'new 7'])
      for (const token of ['dust', 'shy', 'cash']) {
        const wallet = name === 'zero' ? 0 : idOf(address(name))!;
        const id = tokenOf.get(idOf(address(token))!)!;
        const all = transfers.flatMap((each, i) =>
          each.token === token && (each.from === name || each.to === name) ? i + 1 : [],
        );
        for (const [from, below] of [
          [1, Infinity],
          [501, 3_501],
          [2_001, 3_001],
        ] as const) {
          const expected = all.filter((each) => each >= from && each < below);
          const filter = { from, below, direction: BOTH, kinds: ALL_KINDS };
          const what = `${name} with ${token} from ${from}, history to ${end}`;
          assert.deepEqual(
            [...shared(wallet, id, filter, listEnd(), FREELY)].reverse().flat(),
            expected,
            what,
          );
          for (const pages of [1, 4]) {
            const reading = new HistoryEnd(firstOf);
            const read = [...shared(wallet, id, filter, reading, FREELY, pages)].reverse().flat();
            const first = reading.readFrom ?? from;
            assert.equal(first % IN_TRANSACTION, 1, 'a transaction is read whole');
            assert.deepEqual(
              read,
              expected.filter((each) => each >= first),
              `${what}, ${pages} pages`,
            );
          }
          for (const maxEntries of [1, 1e6])
            assert.deepEqual(
              pagesOf(
                (below) => ofWallet(wallet, { ...filter, below, token: id, limit: 7, maxEntries }, FREELY),
                below,
              ),
              expected.toReversed(),
              `${what}, listed`,
            );
          const bounded = { from, limit: 7, stretches: 2 };
          assert.deepEqual(
            pagesOf((below) => ofToken(id, { ...bounded, wallet, below }, FREELY), below),
            expected.toReversed(),
          );
          const large = (each: number) => transfers[each - 1]!.amount === 2n;
          for (const by of [{ wallet }, {}]) {
            const wanted = transfers.flatMap((each, i) => (each.token === token ? i + 1 : []));
            const matching = (
              'wallet' in by ? expected : wanted.filter((each) => each >= from && each < below)
            ).filter(large);
            const list = (below: number) =>
              ofToken(
                id,
                { ...bounded, ...by, below, minAmount: Uint8Array.of(2), kinds: 1 << TransferKind.erc20 },
                FREELY,
              );
            assert.deepEqual(pagesOf(list, below), matching.toReversed(), `${what}, of 2 or more`);
          }
          compared += expected.length;
        }
      }
    db.close();
  }
  assert.ok(compared > 5_000, `${compared} transfers`);
});

/** All pages of a list. */
function pagesOf(
  page: (below: number) => { ids: number[]; resumeBelow: number | null },
  below: number,
): number[] {
  const found: number[] = [];
  for (let next: number | null = below; next !== null; ) {
    const { ids, resumeBelow }: { ids: number[]; resumeBelow: number | null } = page(next);
    assert.ok(resumeBelow === null || resumeBelow < next, 'a page goes on below the one before');
    found.push(...ids);
    next = ids.length === 7 ? ids.at(-1)! : resumeBelow;
  }
  return found;
}
