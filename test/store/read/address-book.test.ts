import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AddressBook } from '../../../src/store/read/address-book.ts';
import { prepareTransfers } from '../../../src/store/read/transfers.ts';
import { DamageError } from '../../../src/store/storage-error.ts';
import { address, createIndex, type NamedTransfer } from '../../support/index/index-fixture.ts';

const digits = (name: string) => address(name).slice(2);

/** An index of one block in which `hub` sends to that many wallets, each time another token. */
function createFan(t: TestContext, wallets: number) {
  const index = createIndex(t);
  const transfers = Array.from(
    { length: wallets },
    (_, i): NamedTransfer => ({ kind: 'erc20', from: 'hub', to: `wallet ${i}`, token: `token ${i}` }),
  );
  index.append([{ all: transfers }]);
  return index;
}

test('a load that exceeds the book still knows all of its addresses, the second time too', (t) => {
  const db = createFan(t, 20).reader(t);
  const transfers = prepareTransfers(db).range(1, 21);
  const book = new AddressBook(db, { wallets: 4, tokens: 4 });
  for (let again = 0; again < 2; again++) {
    book.load(transfers);
    const named = transfers.map(({ sender, receiver, token }) => [
      book.wallets.of(sender),
      book.wallets.of(receiver),
      book.tokens.of(token),
    ]);
    assert.deepEqual(
      named,
      transfers.map((_, i) => [digits('hub'), digits(`wallet ${i}`), digits(`token ${i}`)]),
    );
  }
});

test('a single address is loaded on demand, with the chosen prefix', (t) => {
  const db = createFan(t, 1).reader(t);
  const [transfer] = prepareTransfers(db).range(1, 2);
  const book = new AddressBook(db, { wallets: 4, tokens: 4, prefix: '0x' });
  assert.equal(book.wallets.find(transfer!.receiver), undefined);
  assert.equal(book.wallets.read(transfer!.receiver), address('wallet 0'));
  assert.equal(book.wallets.find(transfer!.receiver), address('wallet 0'));
  assert.equal(book.tokens.read(transfer!.token), address('token 0'));
});

test('after a rollback the book gives the current addresses of reassigned ids', (t) => {
  const index = createIndex(t);
  index.append([{ first: [{ from: 'a', to: 'b' }] }]);
  index.append([{ second: [{ kind: 'erc20', from: 'a', to: 'old', token: 'x' }] }]);
  const db = index.reader(t);
  const transfers = prepareTransfers(db);
  const book = new AddressBook(db, { wallets: 8, tokens: 8 });
  const second = () => {
    const [transfer] = transfers.range(2, 3);
    book.load([transfer!]);
    return [book.wallets.of(transfer!.receiver), book.tokens.of(transfer!.token)];
  };
  assert.deepEqual(second(), [digits('old'), digits('x')]);
  index.writer.rollback(1);
  index.append([{ other: [{ kind: 'erc20', from: 'a', to: 'new', token: 'y' }] }], 'branch');
  book.rollback(2);
  assert.deepEqual(second(), [digits('new'), digits('y')]);
});

test('an id without a row is damage', (t) => {
  const db = createFan(t, 1).reader(t);
  const book = new AddressBook(db, { wallets: 4, tokens: 4 });
  book.wallets.load([99]);
  assert.throws(
    () => book.wallets.of(99),
    new DamageError('the index refers to wallet 99, which has no row'),
  );
});
