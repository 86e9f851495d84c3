/** What wallets of the demo chain gain. Each amount can be checked by hand from the transactions of the wallet. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { before, suite, test } from 'node:test';
import { startAnvil } from '../../src/dev/anvil.ts';
import type { DemoContracts } from '../../src/dev/contracts.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { type SampleAddresses, sampleAddresses } from '../../src/dev/sample-addresses.ts';
import { BUNDLE_SIZE } from '../../src/dev/trade-scenarios.ts';
import { generateTraffic } from '../../src/dev/traffic.ts';
import { roles } from '../../src/dev/wallets.ts';
import { WEI_PER_COIN } from '../../src/lib/units.ts';
import { TRANSFER_KIND_NAMES } from '../../src/model/transfer-kind.ts';
import { NATIVE } from '../../src/model/wallet-part.ts';
import { ProfitLedger } from '../../src/trades/profit.ts';
import { summedTrade } from '../../src/trades/trade.ts';
import { ChainTrades } from '../support/chain/trade-counter.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { type IndexedTransfer, indexedTransfers } from '../support/index/index-rows.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { tempDir } from '../support/temp-dir.ts';

const SEED = 7;
const ROUNDS = 2;
const COIN = WEI_PER_COIN;

suite('the trades of the demo chain', () => {
  const cleanup = suiteCleanup();
  let contracts: DemoContracts;
  let samples: SampleAddresses;
  let transfers: IndexedTransfer[];
  /** Per wallet its buys and sells of whole tokens for whole coins, as text in the order of the chain. */
  const trades = new Map<string, string[]>();
  /** By wallet, token and quote. */
  const profits = new Map<string, ProfitLedger>();

  before(async () => {
    const anvil = await startAnvil({ manual: true });
    cleanup.after(() => anvil.stop());
    contracts = await deployDemo(anvil.url, { mine: true });
    await generateTraffic(anvil.url, contracts, { rounds: ROUNDS, seed: SEED, mine: true });
    samples = sampleAddresses(contracts, SEED);
    const indexer = startIndexer(cleanup, {
      http: anvil.url,
      dir: tempDir(cleanup),
      wrappedNative: [contracts.wrapped],
    });
    await indexer.reaches(Number(await anvil.call('eth_blockNumber')));
    transfers = indexedTransfers(dirname(indexer.path));
    readTrades();
  });

  function readTrades(): void {
    const chain = new ChainTrades({ wrapped: contracts.wrapped, stable: contracts.stable });
    const symbols = new Map([
      [NATIVE, 'coins'],
      [chain.idOf(contracts.token), 'DEMO'],
      [chain.idOf(contracts.stable), 'DUSD'],
      [chain.idOf(samples.snipedToken), 'SNIPED'],
      [chain.idOf(samples.bundledToken), 'BUNDLED'],
    ]);
    const symbol = (id: number) => symbols.get(id) ?? 'another';
    const counted = transfers.map((transfer) => ({
      ...transfer,
      tx: transfer.hash,
      kind: TRANSFER_KIND_NAMES.indexOf(transfer.kind),
    }));
    for (const { wallet, trade } of chain.of(counted)) {
      const address = chain.addressOf(wallet) ?? '';
      const whole = ({ amount, token }: { amount: bigint; token: number }) =>
        `${amount / (symbol(token) === 'DUSD' ? 10n ** 6n : COIN)} ${symbol(token)}`;
      const [given, received] = [
        trade.given.map(whole).join(' and '),
        trade.received.map(whole).join(' and '),
      ];
      trades.set(address, [...(trades.get(address) ?? []), `${trade.kind}: ${given} for ${received}`]);
      const summed = summedTrade(trade);
      if (summed === null) continue;
      const key = `${address} ${symbol(summed.token)} ${symbol(summed.quote)}`;
      const ledger = profits.get(key) ?? new ProfitLedger();
      ledger.add(summed);
      profits.set(key, ledger);
    }
  }

  test('the swing trader gains 10 coins, of 12 paid 2 came back', () => {
    assert.deepEqual(trades.get(samples.swingTrader), [
      'buy: 10 coins for 1000 DEMO',
      'sell: 1000 DEMO for 20 coins',
    ]);
    const direct = transfers.find(
      ({ kind, from }) => kind === 'native_direct' && from === samples.swingTrader,
    );
    assert.equal(direct?.amount, 12n * COIN);
    assert.equal(profits.get(`${samples.swingTrader} DEMO coins`)?.realizedProfit, 10n * COIN);
  });

  test('the trader gains 5 coins and 5 dollars in each round', () => {
    const trader = roles().trader.address.toLowerCase();
    const round = [
      'buy: 10 coins for 1000 DEMO',
      'buy: 10 DUSD for 1000 DEMO',
      'sell: 500 DEMO for 10 coins',
      'sell: 500 DEMO for 10 DUSD',
      /* its first trade of */ 'swap: 100 DEMO for 100 SNIPED',
    ];
    assert.deepEqual(trades.get(trader)?.slice(0, round.length), round);
    const gain = (quote: string) => profits.get(`${trader} DEMO ${quote}`);
    assert.equal(gain('coins')?.realizedProfit, BigInt(ROUNDS) * 5n * COIN);
    assert.equal(gain('DUSD')?.realizedProfit, BigInt(ROUNDS) * 5_000_000n);
    assert.equal(gain('coins')?.position, BigInt(ROUNDS) * 500n * COIN);
  });

  test('the whale sells what it did not buy, then loses 10 coins', () => {
    const ledger = profits.get(`${samples.whale} DEMO coins`);
    assert.equal(ledger?.soldWithoutCost, 1_000n * COIN);
    assert.equal(ledger.receivedWithoutCost, 10n * COIN);
    assert.equal(ledger.realizedProfit, -10n * COIN);
  });

  test('a launch is sniped, and a sniper doubles its 10 coins', () => {
    assert.deepEqual(trades.get(samples.sniper), [
      'buy: 10 coins for 1000 SNIPED',
      'sell: 1000 SNIPED for 20 coins',
    ]);
    const [launch, ...later] = transfers.filter(({ token }) => token === samples.snipedToken);
    const buyers = later.filter(({ block }) => block === (launch?.block ?? 0) + 1).map(({ to }) => to);
    assert.equal(buyers.length, 2);
    const funders = buyers.map(
      (buyer) => transfers.find(({ kind, to }) => kind === 'native_direct' && to === buyer)?.from,
    );
    assert.ok(funders[0] !== undefined && funders[0] === funders[1], `funded by ${funders}`);
  });

  test('a launch is bundled: one wallet pays for the others, and trades nothing itself', () => {
    const [launch, ...later] = transfers.filter(({ token }) => token === samples.bundledToken);
    const bundle = later.filter(({ block }) => block === (launch?.block ?? 0) + 1);
    assert.equal(new Set(bundle.map(({ to }) => to)).size, BUNDLE_SIZE);
    const payments = transfers.filter(({ hash, token }) => token === null && hash === bundle[0]?.hash);
    assert.deepEqual(
      payments.map(({ from, amount }) => [from, amount]),
      [[samples.bundlePayer, 50n * COIN]],
    );
    assert.equal(trades.get(samples.bundlePayer), undefined);
  });

  test('the router keeps nothing, the pools hold both sides', () => {
    assert.equal(trades.get(contracts.router), undefined);
    assert.ok((trades.get(contracts.pool)?.length ?? 0) >= 6 * ROUNDS);
    assert.ok((trades.get(contracts.dollarPool)?.length ?? 0) >= 2 * ROUNDS);
  });
});
