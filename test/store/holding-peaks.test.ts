import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeSigned, encodeSigned, ZERO_BALANCE } from '../../src/lib/signed.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { prepareTopHoldings } from '../../src/query/holdings.ts';
import { prepareShareSupply } from '../../src/query/supply.ts';
import { deadlineBudget, OverBudgetError, unitBudget } from '../../src/query/work-budget.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { LARGE_TOKEN_WALLETS, peakSpanOf } from '../../src/store/tokens/holding-peaks.ts';
import { type PlainBlock, type PlainTransfer, randomSource, toBatch } from '../support/chain/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOKEN = 'c'.repeat(40);
const ZERO = '0'.repeat(40);
const walletAt = (i: number) => (0x1000000 + i).toString(16).padStart(40, 'a');

/** A block of transfers of one token. */
function tokenBlock(
  number: number,
  branch: number,
  moves: [from: string, to: string, amount: bigint][],
): PlainBlock {
  const transfers = moves.map(
    ([from, to, amount], logIndex): PlainTransfer => ({
      kind: TransferKind.erc20,
      from,
      to,
      token: TOKEN,
      logIndex,
      amount,
      number: null,
    }),
  );
  const hashOf = (block: number) =>
    `0x${(block * 10 + (block === number ? branch : 0)).toString(16).padStart(64, '0')}`;
  return {
    number,
    hash: hashOf(number),
    parent: hashOf(number - 1),
    timestamp: number,
    transactions: [{ hash: `0x${(number * 10 + branch).toString(16).padStart(64, 'f')}`, transfers }],
  };
}

/**
 * Block 1 mints to almost as many wallets as make a token large, block 2 makes it large, the others move balances: to
 * and from the largest holders, whole balances, and to equal balances.
 */
function chain(seed: number, blocks: number): PlainBlock[] {
  const random = randomSource(seed);
  const int = (n: number) => Math.floor(random() * n);
  const mint = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i): [string, string, bigint] => [
      ZERO,
      walletAt(from + i),
      BigInt((((from + i) * 7919) % 5000) + 1),
    ]);
  const all = [
    tokenBlock(1, 0, mint(0, LARGE_TOKEN_WALLETS)),
    tokenBlock(2, 0, mint(LARGE_TOKEN_WALLETS, LARGE_TOKEN_WALLETS + 20)),
  ];
  for (let number = 3; number <= blocks; number++) {
    const moves = Array.from({ length: 40 }, (): [string, string, bigint] => {
      const [from, to] = [int(300), int(LARGE_TOKEN_WALLETS)];
      return [walletAt(from * 50), walletAt(to), int(3) === 0 ? 5000n : BigInt(int(9000))];
    });
    all.push(tokenBlock(number, seed, moves));
  }
  return all;
}

function openWriter(path: string): IndexWriter {
  const writer = new IndexWriter(path, { cacheMb: 8 });
  if (writer.chain() === null) writer.setChain(1, 1);
  return writer;
}

function peaks(db: Db): [span: number, peak: bigint][] {
  return db
    .prepare<[], { span: number; peak: Buffer }>('SELECT span, peak FROM holding_peaks ORDER BY span')
    .all()
    .map(({ span, peak }) => [span, decodeSigned(peak)]);
}

/** Compares the peaks, and the largest holdings found by the query, with all holdings sorted. */
function compareWithAll(path: string, token: { id: number; wallets: number }): void {
  const db = openDatabase(path, { readonly: true });
  try {
    const all = db
      .prepare<[], { wallet: number; balance: Buffer }>(
        'SELECT wallet, balance FROM holdings WHERE wallet > 0',
      )
      .all()
      .map(({ wallet, balance }) => ({ wallet, amount: decodeSigned(balance) }))
      .filter(({ amount }) => amount > 0n)
      .sort((a, b) => Number(b.amount - a.amount) || a.wallet - b.wallet);
    const largest = new Map<number, bigint>();
    if (token.wallets > LARGE_TOKEN_WALLETS)
      for (const { wallet, amount } of all.toReversed()) largest.set(peakSpanOf(wallet), amount);
    assert.deepEqual(
      peaks(db),
      [...largest].sort(([a], [b]) => a - b),
    );
    const topOf = prepareTopHoldings(db);
    for (const limit of [1, 7, 50, 200]) {
      const found = topOf(token, limit, deadlineBudget(Infinity));
      assert.deepEqual(
        found.map(({ wallet, balance }) => ({ wallet, amount: decodeSigned(balance) })),
        all.slice(0, limit),
      );
    }
    const supply = -decodeSigned(
      db.prepare<[], Buffer>('SELECT balance FROM holdings WHERE wallet = 0').pluck().get() ?? ZERO_BALANCE,
    );
    assert.equal(prepareShareSupply(db)(token.id, deadlineBudget(Infinity)), supply);
    for (const place of [0, 40, 3_000, all.length - 3]) {
      const after = { wallet: all[place]!.wallet, balance: Buffer.from(encodeSigned(all[place]!.amount)) };
      const found = topOf(token, 7, deadlineBudget(Infinity), after);
      assert.deepEqual(
        found.map(({ wallet }) => wallet),
        all.slice(place + 1, place + 8).map(({ wallet }) => wallet),
      );
    }
  } finally {
    db.close();
  }
}

test('the peaks of a large token follow its holdings as these change, and through rollbacks', (t) => {
  const path = join(tempDir(t), 'index.db');
  const large = { id: 1, wallets: LARGE_TOKEN_WALLETS + 20 };
  const writer = openWriter(path);
  t.after(() => writer.close());
  for (const block of chain(1, 12)) writer.append([toBatch([block])]);
  compareWithAll(path, large);
  writer.rollback(5);
  compareWithAll(path, large);
  writer.rollback(1);
  compareWithAll(path, { id: 1, wallets: LARGE_TOKEN_WALLETS });
  writer.append([toBatch(chain(2, 9).slice(1))]); // large and changed in one commit
  compareWithAll(path, large);
});

test('the event loop itself finds the largest holders of a token of a million wallets', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = openWriter(path);
  writer.append([toBatch(chain(1, 3))]);
  writer.close();
  const db = openDatabase(path, { readonly: true });
  t.after(() => db.close());
  const topOf = prepareTopHoldings(db);
  assert.equal(topOf({ id: 1, wallets: 1_000_000 }, 10, unitBudget(20_000)).length, 10);
  assert.throws(() => topOf({ id: 1, wallets: 1_000_000 }, 200, unitBudget(20_000)), OverBudgetError);
});
