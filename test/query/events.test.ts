import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareEventReader } from '../../src/query/events.ts';
import { prepareTransfersById } from '../../src/query/transfers.ts';
import { address, createIndex, type NamedTransfer } from '../support/index/index-fixture.ts';

test('transfers say the same as those of REST, in the order of the ids, read for the first time or again', (t) => {
  const index = createIndex(t);
  index.appendUntraced([
    {
      first: [
        { from: 'a', to: 'b', amount: 5n },
        { kind: 'erc20', from: 'zero', to: 'a', token: 'x', amount: 7n },
      ],
      second: [{ kind: 'erc721', from: 'b', to: 'b', token: 'y', tokenId: 42n }],
    },
  ]);
  index.append([{ third: [{ kind: 'erc1155', from: 'a', to: 'c', token: 'x', amount: 0n, tokenId: 1n }] }]);
  const db = index.reader(t);
  const { byId } = prepareEventReader(db);
  const wanted = prepareTransfersById(db)([3, 1, 4, 2]);
  for (let again = 0; again < 2; again++) {
    const rows = byId([3, 1, 4, 2]);
    assert.deepEqual(
      rows.map((row, i) => ({ ...row, ...wanted[i] })),
      rows,
    );
    assert.deepEqual(
      rows.map(({ from, eventIndex, uncertain }) => [from, eventIndex, uncertain]),
      [
        [address('b').slice(2), 0, 1],
        [address('a').slice(2), 0, 1],
        [address('a').slice(2), 0, 0],
        ['0'.repeat(40), 1, 1],
      ],
    );
  }
});

test('wallets whose ids were reassigned after a rollback are the current ones', (t) => {
  const index = createIndex(t);
  index.append([{ first: [{ from: 'a', to: 'b' }] }]);
  index.append([{ second: [{ from: 'a', to: 'old' }] }]);
  const events = prepareEventReader(index.reader(t));
  const receiver = () => events.byId([2])[0]?.to;
  assert.equal(receiver(), address('old').slice(2));
  index.writer.rollback(1);
  index.append([{ other: [{ from: 'a', to: 'new' }] }], 'branch');
  events.invalidateWalletsAbove(2);
  assert.equal(receiver(), address('new').slice(2));
});

test('a list with more wallets than are cached is read whole', (t) => {
  const index = createIndex(t);
  const many = Array.from({ length: 9_000 }, (_, i): NamedTransfer => ({ from: 'hub', to: `wallet ${i}` }));
  index.append([{ all: many }]);
  const ids = many.map((_, i) => i + 1);
  const { byId } = prepareEventReader(index.reader(t));
  for (let again = 0; again < 2; again++) {
    const received = byId(ids).map(({ to }) => to);
    assert.deepEqual(
      received,
      many.map(({ to }) => address(to).slice(2)),
    );
  }
});
