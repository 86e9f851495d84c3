/**
 * The peaks of a token with many traders equal those of all its sums, as it becomes large, changes, and shrinks again.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTradeRules } from '../../src/model/trade-rules.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { prepareTraderRanking } from '../../src/query/token-traders.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { unpackSums } from '../../src/store/trades/packed-sums.ts';
import { LARGE_TOKEN_TRADERS } from '../../src/store/trades/trade-peaks.ts';
import { averageCostProfit } from '../../src/trades/profit.ts';
import { type PlainBlock, type PlainTransfer, randomSource, toBatch } from '../support/chain/random-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { differencesOf, verifyAlone } from '../support/index/verify.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOKEN = 'c'.repeat(40);
const QUOTE = 'd'.repeat(40);
const POOL = 'e'.repeat(40);
const walletAt = (i: number) => (0x1000000 + i).toString(16).padStart(40, 'a');

interface Move {
  wallet: number;
  isBuy: boolean;
  amount: number;
  price: number;
  quote: '' | typeof QUOTE;
}

/** A block of trades with a pool, one in each transaction. */
function block(number: number, branch: number, moves: readonly Move[]): PlainBlock {
  const hashOf = (of: number) =>
    `0x${(of * 10 + (of === number ? branch : 0)).toString(16).padStart(64, '0')}`;
  const transactions = moves.map(({ wallet, isBuy, amount, price, quote }, i) => {
    const sides = [walletAt(wallet), POOL];
    if (!isBuy) sides.reverse();
    const [buyer = '', seller = ''] = sides;
    const of = (token: string, from: string, to: string, value: number): PlainTransfer => ({
      kind: token === '' ? TransferKind.nativeDirect : TransferKind.erc20,
      from,
      to,
      token,
      logIndex: token === '' ? -1 : i,
      amount: BigInt(value),
      number: null,
    });
    const hash = `0x${(number * 1_000_000 + branch * 100_000 + i).toString(16).padStart(64, 'f')}`;
    return { hash, transfers: [of(quote, buyer, seller, price), of(TOKEN, seller, buyer, amount)] };
  });
  return { number, hash: hashOf(number), parent: hashOf(number - 1), timestamp: number, transactions };
}

function randomMoves(random: () => number, count: number): Move[] {
  const int = (n: number) => Math.floor(random() * n);
  return Array.from({ length: count }, () => ({
    wallet: int(LARGE_TOKEN_TRADERS),
    isBuy: int(3) === 0,
    amount: 1 + int(50),
    price: 1 + int(1_000),
    quote: int(5) === 0 ? QUOTE : '',
  }));
}

function peakRows(path: string): number {
  const db = openDatabase(path, { readonly: true });
  try {
    return db.prepare<[], number>('SELECT count(*) FROM trade_peaks').pluck().get() ?? 0;
  } finally {
    db.close();
  }
}

/** All rankings of the token equal those of a sort of its sums, from any place on. */
function checkRankings(path: string, random: () => number): void {
  const db = openIndexForReading(path);
  const ranking = prepareTraderRanking(db);
  const rows = db.prepare<[], { wallet: number; sums: Buffer }>(
    'SELECT wallet, sums FROM trade_sums WHERE token = (SELECT token FROM traded_tokens ORDER BY traders DESC LIMIT 1)',
  );
  const budget = unitBudget(Number.MAX_SAFE_INTEGER);
  const pair = db
    .prepare<[], number>('SELECT token FROM traded_tokens ORDER BY traders DESC LIMIT 1')
    .pluck();
  const token = pair.get() ?? 0;
  try {
    for (const quote of new Set(rows.all().flatMap(({ sums }) => unpackSums(sums).map((each) => each.quote))))
      for (const order of ['profit', 'loss'] as const) {
        const sign = order === 'profit' ? 1n : -1n;
        const expected = rows
          .all()
          .flatMap(({ wallet, sums }) =>
            unpackSums(sums)
              .filter((each) => each.quote === quote)
              .map((each) => ({ wallet, profit: averageCostProfit(each) })),
          )
          .sort((a, b) => Number((b.profit - a.profit) * sign) || a.wallet - b.wallet);
        const whole = [...ranking({ token, quote }, { order, after: undefined }, budget)];
        const shown = ({ wallet, profit }: { wallet: number; profit: bigint }) => `${wallet} ${profit}`;
        assert.deepEqual(whole.map(shown), expected.map(shown));
        for (let n = 0; n < 9; n++) {
          const at = Math.floor(random() ** (1 + (n % 3)) * expected.length);
          const page: string[] = [];
          for (const trader of ranking({ token, quote }, { order, after: expected[at] }, budget)) {
            page.push(shown(trader));
            if (page.length === 40) break;
          }
          assert.deepEqual(page, expected.slice(at + 1, at + 41).map(shown), `${order} after ${at}`);
        }
      }
  } finally {
    db.close();
  }
}

test('peaks come with many traders, follow them, and go', async (t) => {
  const dir = tempDir(t);
  const random = randomSource(7);
  const rules = newTradeRules({ chainId: 1, wrappedNative: [], configured: { quoteTokens: [`0x${QUOTE}`] } });
  const open = (name: string) => {
    const writer = new IndexWriter(join(dir, name), { cacheMb: 16 });
    writer.setChain(1, 1);
    writer.setTradeRules(rules);
    return writer;
  };
  const many = Array.from({ length: LARGE_TOKEN_TRADERS - 2 }, (_, wallet) => ({
    wallet,
    isBuy: true,
    amount: 1 + (wallet % 90),
    price: 1 + ((wallet * 7919) % 5_000),
    quote: '' as const,
  }));
  const one = (wallet: number) => [{ wallet, isBuy: true, amount: 1, price: 1, quote: '' as const }];
  const chain = [
    block(1, 0, many),
    block(2, 0, one(LARGE_TOKEN_TRADERS)), // and the pool: as many as are not yet large
    block(3, 0, one(LARGE_TOKEN_TRADERS + 1)),
    ...[4, 5, 6].map((number) => block(number, 0, randomMoves(random, 1_500))),
  ];
  const writer = open('index.db');
  const path = join(dir, 'index.db');
  const check = async () => assert.deepEqual(differencesOf(await verifyAlone(path)), []);
  for (const [i, each] of chain.entries()) {
    writer.append([toBatch([each])]);
    if (i === 1) assert.equal(peakRows(path), 0);
    if (i === 2) assert.ok(peakRows(path) > 3);
  }
  await check();
  checkRankings(path, random);
  writer.rollback(4);
  await check();
  const branch = [5, 6].map((number) => block(number, 1, randomMoves(random, 900)));
  for (const each of branch) writer.append([toBatch([each])]);
  await check();
  const fresh = open('fresh.db');
  fresh.append([toBatch([...chain.slice(0, 4), ...branch])]);
  fresh.close();
  assert.deepEqual(dumpIndex(path), dumpIndex(join(dir, 'fresh.db')));
  writer.rollback(2);
  assert.equal(peakRows(path), 0);
  await check();
  writer.close();
});
