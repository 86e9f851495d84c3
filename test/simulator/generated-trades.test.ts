/** What wallets buy and sell in a chain with trades, counted by the definition of a trade. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, suite, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { TransferRow } from '../../scripts/simulator/chain/ledger.ts';
import { TRADE_CONTRACTS } from '../../scripts/simulator/chain/markets.ts';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { decodeBlock } from '../../src/decode/block.ts';
import { decodeRules } from '../../src/decode/rules.ts';
import { ZERO_ADDRESS } from '../../src/model/address.ts';
import { newRules } from '../../src/model/index-rules.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { chainLines } from '../support/chain/chain-file.ts';
import { type CountedTransfer, TradeCounter } from '../support/chain/trade-counter.ts';

const { wrapped, stable, entryPoint, router, nftMarket } = TRADE_CONTRACTS;
const KINDS = {
  native: TransferKind.nativeDirect,
  internal: TransferKind.nativeInternal,
  erc20: TransferKind.erc20,
  erc721: TransferKind.erc721,
  erc1155: TransferKind.erc1155,
} as const;

function counted(row: TransferRow): CountedTransfer {
  const { hash, kind, from, to, amount } = row;
  return {
    tx: hash,
    kind: KINDS[kind],
    from,
    to,
    token: row.token ?? null,
    amount,
    tokenId: row.tokenId ?? null,
  };
}

suite('a chain with trades', () => {
  let rows: TransferRow[];
  let counter: TradeCounter;
  let pools: ReadonlySet<string>;

  before(() => {
    const chain = generateChain({ blocks: 60, txPerBlock: 100, trades: true });
    rows = [...chain.blocks].flatMap(({ transfers }) => transfers);
    pools = chain.pools;
    counter = new TradeCounter({ wrapped, stable }, pools);
    counter.add(rows.map(counted));
  });

  test('has as many buys and sells as real ones, half of them of pools', () => {
    const within = (name: string, value: number, [low, high]: [number, number]) =>
      assert.ok(value >= low && value <= high, `${name}: ${value}`);
    const { transfers, twoSided, ofPools, buy, sell, swap, mixed, semiFungible, rows } = counter.counts;
    within('buys and sells per transfer', (buy + sell) / transfers, [0.14, 0.19]);
    within('new rows per transfer', rows / transfers, [0.07, 0.12]);
    within('share of pools', ofPools / twoSided, [0.4, 0.55]);
    within('buys against sells', buy / sell, [0.7, 1.4]);
    for (const [name, count] of Object.entries({ swap, mixed, semiFungible }))
      assert.ok(count > 0, `no ${name}`);
    const both = [...counter.rows.values()].filter(
      ({ buys, sells, isOfPool }) => !isOfPool && buys * sells > 0,
    );
    assert.ok(both.length > 50, `${both.length} wallets bought and sold the same token`);
  });

  test('the router and the market of NFTs keep nothing', () => {
    const kept = new Map<string, bigint>();
    for (const { from, to, token, amount } of rows) {
      const asset = token === undefined || token === wrapped ? 'native' : token;
      for (const [wallet, change] of [
        [from, -amount],
        [to, amount],
      ] as const)
        if (wallet === router || wallet === nftMarket)
          kept.set(`${wallet} ${asset}`, (kept.get(`${wallet} ${asset}`) ?? 0n) + change);
    }
    assert.ok(kept.size > 0);
    assert.deepEqual(
      [...kept].filter(([, amount]) => amount !== 0n),
      [],
    );
  });

  test('nobody pays with tokens that it does not hold', () => {
    const balances = new Map<string, bigint>();
    for (const { kind, from, to, token, tokenId, amount } of rows) {
      if (kind === 'native' || kind === 'internal') continue;
      const key = (wallet: string) => `${token} ${kind === 'erc1155' ? tokenId : ''} ${wallet}`;
      balances.set(key(to), (balances.get(key(to)) ?? 0n) + amount);
      if (from === ZERO_ADDRESS) continue;
      const left = (balances.get(key(from)) ?? 0n) - amount;
      assert.ok(left >= 0n, key(from));
      balances.set(key(from), left);
    }
  });

  test('has launches, refunds, bundles, buys for others, smart accounts and sales of NFTs', () => {
    const transactions = Map.groupBy(rows, ({ hash }) => hash);
    const some = (holds: (transfers: TransferRow[]) => boolean) => [...transactions.values()].some(holds);
    const direct = (transfers: TransferRow[]) => transfers.find(({ kind }) => kind === 'native');
    const fromPool = (transfers: TransferRow[]) =>
      transfers.filter(({ kind, from, to }) => kind === 'erc20' && pools.has(from) && !pools.has(to));
    const occurs = {
      launch: some((transfers) => transfers.some(({ from, to }) => from === ZERO_ADDRESS && pools.has(to))),
      bundle: some((transfers) => new Set(fromPool(transfers).map(({ to }) => to)).size >= 4),
      refund: some((transfers) => {
        const payer = direct(transfers)?.from;
        return (
          fromPool(transfers).some(({ to }) => to === payer) &&
          transfers.some(({ kind, from, to }) => kind === 'internal' && from === router && to === payer)
        );
      }),
      'buy for another': some((transfers) => {
        const payment = direct(transfers);
        return payment !== undefined && pools.has(payment.to) && fromPool(transfers)[0]?.to !== payment.from;
      }),
      'fee of a smart account': rows.some(({ kind, to }) => kind === 'internal' && to === entryPoint),
      'two pools': some((transfers) => transfers.some(({ from, to }) => pools.has(from) && pools.has(to))),
      'sale of an NFT': some(
        (transfers) => direct(transfers)?.to === nftMarket && transfers.some(({ kind }) => kind === 'erc721'),
      ),
    };
    assert.deepEqual(
      Object.entries(occurs).flatMap(([what, found]) => (found ? [] : what)),
      [],
    );
  });
});

test('an index that knows the wrapped coin counts its deposits once', () => {
  const rules = decodeRules(newRules({ chainId: 1, monad: false, configured: { wrappedNative: [wrapped] } }));
  const out = new BatchBuilder();
  let transfers = 0;
  for (const block of generateChain({ blocks: 20, txPerBlock: 50, trades: true }).blocks) {
    const traces = { form: 'tree' as const, value: JSON.parse(block.trace ?? '[]') };
    decodeBlock(out, { block: JSON.parse(block.block), receipts: JSON.parse(block.receipts), traces }, rules);
    transfers += block.transfers.length;
  }
  assert.equal(out.finish(true).transferCount, transfers);
});

/** Of the first version with trades. */
const FIRST_PUBLISHED = 'f7b21715506524b984f2c0ad889a6dd80bc0fe35b8e591b8e4fa8e002da6d203';

test('the chain of a seed never changes, so that published figures stay comparable', () => {
  const lines = chainLines({ blocks: 30, txPerBlock: 12, trades: true });
  assert.equal(createHash('sha256').update(lines).digest('hex'), FIRST_PUBLISHED);
});
