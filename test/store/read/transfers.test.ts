import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import { kindName, prepareTransferParties, prepareTransfers } from '../../../src/store/read/transfers.ts';
import { DamageError } from '../../../src/store/storage-error.ts';
import { createIndex, txHash } from '../../support/index/index-fixture.ts';

/** An index with a transfer of each kind that the fixture makes, in two blocks. */
function createMixed(t: TestContext) {
  const index = createIndex(t);
  index.append([
    {
      first: [
        { from: 'a', to: 'b', amount: 0x123n },
        { kind: 'native_internal', from: 'b', to: 'c', amount: 0n },
        { kind: 'erc20', from: 'zero', to: 'a', token: 'x', amount: 7n, logIndex: 3 },
      ],
      second: [{ kind: 'erc721', from: 'b', to: 'b', token: 'y', tokenId: 0x2an, logIndex: 300 }],
    },
    {
      third: [
        { kind: 'erc1155', from: 'a', to: 'c', token: 'x', amount: 0n, tokenId: 1n, logIndex: 0 },
        { kind: 'erc1155', from: 'a', to: 'c', token: 'x', amount: 5n, tokenId: 0n, logIndex: 0 },
      ],
    },
  ]);
  return index;
}

const MEMBERS = ['txHash', 'eventIndex', 'kind', 'amount', 'tokenNumber', 'logIndex'] as const;

test('a transfer has the values that it was stored with', (t) => {
  const rows = prepareTransfers(createMixed(t).reader(t)).range(1, 7);
  const first = txHash('first').slice(2);
  const third = txHash('third').slice(2);
  assert.deepEqual(
    rows.map((row) => MEMBERS.map((member) => row[member])),
    [
      [first, 0, TransferKind.nativeDirect, '0123', '', null],
      [first, 1, TransferKind.nativeInternal, '', '', null],
      [first, 2, TransferKind.erc20, '07', '', 3],
      [txHash('second').slice(2), 0, TransferKind.erc721, '', '2A', 300],
      [third, 0, TransferKind.erc1155, '', '01', 0],
      [third, 1, TransferKind.erc1155, '05', '', 0],
    ],
  );
  assert.deepEqual(
    rows.map(({ token }) => token),
    [0, 0, 1, 2, 1, 1],
  );
});

test('a range and a list may begin within a transaction', (t) => {
  const transfers = prepareTransfers(createMixed(t).reader(t));
  const all = transfers.range(1, 7);
  assert.deepEqual(transfers.range(2, 4), all.slice(1, 3));
  assert.deepEqual(
    transfers.byId([6, 2, 5, 3]),
    [6, 2, 5, 3].map((id) => all[id - 1]),
  );
});

test('a transaction is read whole, or as far as the limit', (t) => {
  const transfers = prepareTransfers(createMixed(t).reader(t));
  const all = transfers.range(1, 7);
  assert.deepEqual(transfers.transaction(1, 100), all.slice(0, 3));
  assert.deepEqual(transfers.transaction(1, 2), all.slice(0, 2));
  assert.deepEqual(transfers.transaction(5, 100), all.slice(4));
  assert.deepEqual(transfers.transactionsOf([2, 5]), [...all.slice(0, 3), ...all.slice(4)]);
});

test('of what follows a transaction nothing is read, whatever the limit', (t) => {
  const db = createMixed(t).reader(t);
  const { prepare } = db;
  let read = 0;
  db.prepare = ((sql: string) => {
    const statement = prepare.call(db, sql);
    const { all } = statement;
    statement.all = (...values: unknown[]) => {
      const rows: unknown[] = Reflect.apply(all, statement, values);
      read += rows.length;
      return rows;
    };
    return statement;
  }) as typeof prepare;
  assert.equal(prepareTransfers(db).transaction(1, 100_000).length, 3);
  assert.equal(read, 3);
});

test('the parties of transfers are those of the whole ones, with the wallet of the contract', (t) => {
  const db = createMixed(t).reader(t);
  const wallets = db.prepare<[], number>('SELECT wallet FROM tokens ORDER BY id').pluck().all();
  const wanted = prepareTransfers(db)
    .range(2, 6)
    .map(({ id, sender, receiver, token }) => {
      return { id, sender, receiver, contract: wallets[token - 1] ?? null };
    });
  const parties = prepareTransferParties(db);
  assert.deepEqual(parties(2, 6, 100), wanted);
  assert.deepEqual(parties(2, 6, 2), wanted.slice(0, 2));
  assert.deepEqual(parties(7, 9, 2), []);
});

test('a transfer whose transaction has no first transfer is damage', (t) => {
  const index = createMixed(t);
  index.damage('UPDATE transfers SET tx = 2 WHERE id = 2');
  const transfers = prepareTransfers(index.reader(t));
  assert.throws(() => transfers.range(1, 7), new DamageError('transfer 2 belongs to no transaction'));
});

test('an unknown kind is damage', () => {
  assert.equal(kindName(TransferKind.erc20), 'erc20');
  assert.throws(() => kindName(7), new DamageError('a transfer has the unknown kind 7'));
});
