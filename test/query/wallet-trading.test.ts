/** A wallet's trading transactions equal those that a reading of all its transfers finds, within the same bounds. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NATIVE } from '../../src/model/wallet-part.ts';
import { prepareTradeIds } from '../../src/query/trade-ids.ts';
import { prepareWalletProfit } from '../../src/query/wallet-profit.ts';
import { tradeIn } from '../../src/query/wallet-trades.ts';
import { prepareWalletTrading } from '../../src/query/wallet-trading.ts';
import { prepareWalletTransactions } from '../../src/query/wallet-transactions.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { address, createIndex, type NamedBlock, type NamedTransfer } from '../support/index/index-fixture.ts';

const WHOLE = { from: 1, below: Number.MAX_SAFE_INTEGER };

/** Transactions of few wallets and tokens, near each other or far apart, one of them longer than a history page. */
function trading(seed: number): NamedBlock[] {
  const random = randomSource(seed);
  const int = (n: number) => Math.floor(random() * n);
  let name = 0;
  const move = (parties: string[]): NamedTransfer => {
    const from = parties[int(parties.length)] ?? 'a';
    const to = parties[int(parties.length)] ?? 'b';
    const kinds = [
      {},
      { kind: 'erc20', token: 'x' },
      { kind: 'erc20', token: 'y' },
      { kind: 'erc1155', token: 'z' },
    ];
    const number = { tokenNumber: BigInt(1 + int(2)) };
    const kind = kinds[int(4)] as Partial<NamedTransfer>;
    return { from, to, ...kind, ...(kind.kind === 'erc1155' && number), amount: BigInt(int(5)) };
  };
  const transaction = (length: number, parties: string[]) => Array.from({ length }, () => move(parties));
  return Array.from({ length: 30 }, (_, block): NamedBlock => {
    const others = block % 3 === 0 ? [transaction(70, ['u', 'v'])] : [];
    const long = block === 15 ? [transaction(400, ['a', 'b', 'u'])] : [];
    const few = Array.from({ length: 1 + int(8) }, () => transaction(1 + int(4), ['a', 'b', 'c', 'pool']));
    return Object.fromEntries(
      [...few, ...others, ...long, ...few.slice(2)].map((each) => [`${name++}`, each]),
    );
  });
}

function readersOf(t: TestContext, blocks: NamedBlock[]) {
  const index = createIndex(t);
  index.append(blocks);
  const { db, snapshot, walletIds } = index.snapshot(t);
  const head = snapshot.head();
  assert.ok(head);
  const ids = prepareTradeIds(db, walletIds)(head);
  const transactionsOf = prepareWalletTransactions(db);
  const idOf = (wallet: string) => walletIds.idOf(address(wallet)) ?? assert.fail(wallet);
  const told = (each: Parameters<typeof tradeIn>[0], wallet: number) => {
    const found = tradeIn(each, wallet, ids);
    return found && { first: found.first, rows: found.rows, trade: found.trade };
  };
  return {
    plain(wallet: string, most = Number.POSITIVE_INFINITY) {
      const trades = [];
      let read = 0;
      for (const each of transactionsOf(idOf(wallet), WHOLE, unitBudget(1e9))) {
        trades.push(told(each, idOf(wallet)) ?? []);
        read += each.rows.length;
        if (read >= most) return { trades: trades.flat(), readFrom: each.first };
      }
      return { trades: trades.flat(), readFrom: null };
    },
    read(wallet: string, bounds: object = {}, known: { from: number; below: number } | null = null) {
      const reader = prepareWalletTrading(db, told, bounds);
      const all = known === null ? [] : this.plain(wallet).trades.reverse();
      const transactions = all.filter(({ first }) => known && known.from <= first && first < known.below);
      const reading = reader(idOf(wallet), WHOLE, ids, unitBudget(1e9), known && { ...known, transactions });
      const trades = [];
      for (let next = reading.next(); ; next = reading.next()) {
        if (next.done) return { trades, readFrom: next.value };
        trades.push(next.value);
      }
    },
  };
}

test('the trades of each wallet are those of all its transfers, newest first, whole or up to a bound', (t) => {
  let found = 0;
  for (const seed of [1, 2]) {
    const { plain, read } = readersOf(t, trading(seed));
    for (const wallet of ['a', 'b', 'c', 'pool', 'u']) {
      const whole = plain(wallet);
      assert.deepEqual(read(wallet), whole, `${seed} ${wallet}`);
      found += whole.trades.length;
      for (const transfers of [1, 7, 129, 300])
        assert.deepEqual(
          read(wallet, { transfers }),
          plain(wallet, transfers),
          `${seed} ${wallet} ${transfers}`,
        );
    }
  }
  assert.ok(found > 100, `${found}`);
});

test('a reading over so many stretches of the chain has all trades from where it ends', (t) => {
  const readers = readersOf(t, trading(4));
  for (const wallet of ['a', 'c', 'pool']) {
    const whole = readers.plain(wallet).trades;
    let least = 0;
    for (const stretches of [1, 2, 3, 5]) {
      const { trades, readFrom } = readers.read(wallet, { stretches });
      assert.ok(readFrom !== null);
      assert.deepEqual(
        trades,
        whole.filter(({ first }) => first >= readFrom),
      );
      assert.ok(trades.length >= least);
      least = trades.length;
    }
    assert.equal(readers.read(wallet, { stretches: 1_000 }).readFrom, null);
  }
});

test('what is known of a wallet changes no reading, however far it goes', (t) => {
  const readers = readersOf(t, trading(5));
  for (const wallet of ['a', 'c', 'pool']) {
    const firsts = readers.plain(wallet).trades.map(({ first }) => first);
    const [newest = 0, middle = 0, old = 0] = [0.1, 0.5, 0.8].map(
      (part) => firsts[Math.floor(firsts.length * part)],
    );
    for (const known of [
      { from: 1, below: newest },
      { from: old, below: middle },
      { from: middle, below: 1e9 },
      { from: 1, below: 1e9 },
    ])
      for (const bounds of [{}, { transfers: 30 }, { transfers: 200 }, { stretches: 2 }, { stretches: 6 }])
        assert.deepEqual(
          readers.read(wallet, bounds, known),
          readers.read(wallet, bounds),
          `${wallet} ${known.from}`,
        );
  }
});

test('profits from kept trades equal those of a first reading, also after later blocks', (t) => {
  const [blocks, later] = [trading(6), trading(7)];
  const index = createIndex(t);
  index.append(blocks);
  const { db, snapshot, walletIds } = index.snapshot(t);
  const profitOf = prepareWalletProfit(db);
  const compare = () => {
    const head = snapshot.head();
    assert.ok(head);
    const ids = prepareTradeIds(db, walletIds)(head);
    const read = (reader: typeof profitOf, wallet: string) =>
      reader(walletIds.idOf(address(wallet)) ?? 0, NATIVE, ids, head, unitBudget(1e9));
    for (const wallet of ['a', 'b', 'pool'])
      assert.deepEqual(read(profitOf, wallet), read(prepareWalletProfit(db), wallet), wallet);
    snapshot.release();
  };
  compare();
  compare();
  index.append(later.map((block, i) => ({ [`later ${i}`]: Object.values(block)[0] ?? [] })));
  compare();
});
