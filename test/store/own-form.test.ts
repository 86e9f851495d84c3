/** An ERC-404 logs each move in units and once more as NFTs. Its balances are the units, if those came first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeSigned } from '../../src/lib/signed.ts';
import type { Db } from '../../src/store/open-database.ts';
import { address, createIndex, type NamedBlock } from '../support/index/index-fixture.ts';
import { differencesOf, verifyAlone } from '../support/index/verify.ts';

const mixed = { token: 'pandora' };
const MINT: NamedBlock = {
  mint: [
    { ...mixed, kind: 'erc20', from: 'zero', to: 'alice', amount: 10n },
    { ...mixed, kind: 'erc721', from: 'zero', to: 'alice', tokenId: 1n },
  ],
};
const MOVE: NamedBlock = {
  move: [
    { ...mixed, kind: 'erc20', from: 'alice', to: 'bob', amount: 4n },
    { ...mixed, kind: 'erc721', from: 'alice', to: 'carol', tokenId: 1n },
  ],
};

/** `balance transfers` of each wallet but the zero address, and how many bought. */
function holdings(db: Db): unknown {
  const rows = db
    .prepare<[], { address: string; balance: Buffer; transfers: number }>(/* sql */ `
      SELECT lower(hex(w.address)) AS address, h.balance, h.transfers
      FROM holdings h JOIN wallets w ON w.id = h.wallet WHERE w.id > 0`)
    .all();
  const named = Object.fromEntries(
    ['alice', 'bob', 'carol'].map((name) => {
      const row = rows.find((each) => `0x${each.address}` === address(name));
      return [name, row && `${decodeSigned(row.balance)} ${row.transfers}`];
    }),
  );
  return { ...named, buyers: db.prepare('SELECT buyers FROM tokens').pluck().get() };
}

for (const { version, after } of [
  { version: 2, after: { alice: '6 4', bob: '4 1', carol: '0 1', buyers: 2 } },
  { version: 1, after: { alice: '6 4', bob: '4 1', carol: '1 1', buyers: 3 } },
])
  test(`by rules ${version}, NFTs of a token of units ${version === 1 ? 'count' : 'move no balance'}`, async (t) => {
    const index = createIndex(t);
    const rules = index.writer.rules();
    assert.ok(rules !== null);
    index.writer.setRules({ ...rules, version });
    index.append([MINT]);
    const minted = holdings(index.reader(t));
    index.append([MOVE]);
    assert.deepEqual(holdings(index.reader(t)), after);
    assert.deepEqual(differencesOf(await verifyAlone(index.path)), []);
    index.writer.rollback((index.writer.head()?.number ?? 0) - 1);
    assert.deepEqual(holdings(index.reader(t)), minted);
    assert.deepEqual(differencesOf(await verifyAlone(index.path)), []);
  });
