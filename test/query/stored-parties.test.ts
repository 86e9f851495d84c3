/** The sender and receiver that the index has of a transaction are those of its own block. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { prepareStreamReads } from '../../src/query/stream-reads.ts';
import { type PlainBlock, randomWallet, toBatch } from '../support/chain/random-chain.ts';
import { createIndex } from '../support/index/index-fixture.ts';

/** A block of one payment from wallet 1 to 2, in a transaction sent by another wallet to wallet 3. */
function blockSentBy(sender: number, parent: string): PlainBlock {
  const [from, to] = [1, 2].map((wallet) => randomWallet(wallet).slice(2));
  const amounts = { logIndex: 0, amount: 5n, number: null };
  return {
    number: 1,
    hash: `0x${String(sender).repeat(64)}`,
    parent,
    timestamp: 1,
    transactions: [
      {
        hash: `0x${'ab'.repeat(32)}`,
        transfers: [{ kind: TransferKind.erc20, from: from!, to: to!, token: 'cc'.repeat(20), ...amounts }],
        parties: { from: randomWallet(sender), to: randomWallet(3) },
      },
    ],
  };
}

test('a transfer of a block that has left the chain gets no parties of the block in its place', (t) => {
  const index = createIndex(t, 1);
  const parent = `0x${'0'.repeat(64)}`;
  index.writer.append([toBatch([blockSentBy(4, parent)])]);
  const { db, snapshot } = index.snapshot(t);
  const { storedParties, events, transactionRows } = prepareStreamReads(db, snapshot);
  const [old] = events([1]);
  assert.ok(old);
  const partiesOf = (row: typeof old) => storedParties().of(row, (_, i) => transactionRows([1 + i])[0]);
  assert.equal(partiesOf(old)?.from, randomWallet(4).slice(2));
  index.writer.rollback(0);
  index.writer.append([toBatch([blockSentBy(5, parent)])]);
  assert.equal(partiesOf(old), null);
  const [current] = events([1]);
  assert.ok(current);
  assert.equal(partiesOf(current)?.from, randomWallet(5).slice(2));
});
