/** Each rule of what a trade is, by a transaction made by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { type AssetAmount, NATIVE, type PartTransfer } from '../../src/model/wallet-part.ts';
import { summedTrade, tradeOf, tradesOfTransaction } from '../../src/trades/trade.ts';
import { type TradeIds, TradePart } from '../../src/trades/trade-part.ts';

const [ZERO, WALLET, ROUTER, POOL, ENTRY_POINT, OTHER] = [0, 1, 2, 3, 4, 5];
const [WETH, BLUR, USDC, DAI, MEME, DOG, ART, GAME, UNITS] = [11, 12, 13, 14, 15, 16, 17, 18, 19];
const { erc20, erc721, erc1155, nativeDirect, nativeInternal } = TransferKind;

const IDS: TradeIds = {
  zero: ZERO,
  feeSinks: new Set([ENTRY_POINT]),
  nativeEquivalents: new Set([WETH, BLUR]),
  equivalentContracts: new Set(),
  quoteTokens: new Set([USDC, DAI]),
  countsUnits: (token) => token === UNITS,
};

type Found = ReturnType<typeof tradesOfTransaction>;

function transfer(
  from: number,
  to: number,
  token: number,
  amount: number,
  kind: number = token === NATIVE ? nativeDirect : erc20,
  tokenNumber = '',
): PartTransfer {
  return { from, to, kind, token, tokenNumber, amount: BigInt(amount) };
}

const nft = (from: number, to: number, number: string, token = ART) =>
  transfer(from, to, token, 1, erc721, number);
const internal = (from: number, to: number, amount: number) =>
  transfer(from, to, NATIVE, amount, nativeInternal);

const text = ({ token, tokenNumber, kind, amount }: AssetAmount) =>
  `${amount} of ${token}${kind === erc1155 ? ` ${tokenNumber}` : ''}`;

/** That the trades of the wallets that moved a token are all its trades. */
function assertSame(found: Found, all: Found, token: number): void {
  const summed = (trades: Found) =>
    trades.flatMap(({ wallet, trade }) => {
      const sum = summedTrade(trade);
      return sum !== null && [sum.token, sum.quote].includes(token) ? [{ wallet, ...sum }] : [];
    });
  if (token !== NATIVE) assert.deepEqual(summed(found), summed(all));
}

/** The trade of WALLET as text; null for none. */
function tradeText(...transfers: PartTransfer[]): string | null {
  const all = tradesOfTransaction(transfers, IDS);
  for (const { token } of transfers) assertSame(tradesOfTransaction(transfers, IDS, token), all, token);
  const found = all.find(({ wallet }) => wallet === WALLET);
  const alone = new TradePart(WALLET, IDS);
  for (const each of transfers) if (each.from === WALLET || each.to === WALLET) alone.add(each);
  assert.deepEqual(found?.trade ?? null, tradeOf(alone, IDS), 'a part does not depend on the other wallets');
  if (found === undefined) return null;
  const { kind, given, received, asset, quote } = found.trade;
  const side = (amounts: readonly AssetAmount[]) => amounts.map(text).join(' and ');
  const about = asset === null ? '' : `, of ${asset.token}${quote === null ? '' : ` in ${quote}`}`;
  return `${kind}: ${side(given)} for ${side(received)}${about}`;
}

describe('a trade', () => {
  it('is a buy where the native coin was given and something else received', () => {
    assert.equal(
      tradeText(transfer(WALLET, ROUTER, NATIVE, 100), transfer(POOL, WALLET, MEME, 7)),
      'buy: 100 of 0 for 7 of 15, of 15 in 0',
    );
  });

  it('is a sell where the native coin was received', () => {
    assert.equal(
      tradeText(transfer(WALLET, POOL, MEME, 7), internal(ROUTER, WALLET, 90)),
      'sell: 7 of 15 for 90 of 0, of 15 in 0',
    );
  });

  it('nets refunds, and steps through further assets', () => {
    assert.equal(
      tradeText(
        transfer(WALLET, ROUTER, NATIVE, 100),
        transfer(POOL, WALLET, USDC, 50),
        transfer(WALLET, POOL, USDC, 50),
        transfer(POOL, WALLET, MEME, 7),
        internal(ROUTER, WALLET, 30),
      ),
      'buy: 70 of 0 for 7 of 15, of 15 in 0',
    );
  });

  it('counts the native coin and its equivalents as one asset', () => {
    assert.equal(
      tradeText(
        transfer(WALLET, WETH, NATIVE, 40),
        transfer(ZERO, WALLET, WETH, 40),
        transfer(WALLET, POOL, WETH, 60),
        transfer(WALLET, POOL, BLUR, 5),
        transfer(POOL, WALLET, MEME, 7),
      ),
      'buy: 65 of 0 for 7 of 15, of 15 in 0',
    );
    const wrapped = [transfer(WALLET, WETH, NATIVE, 40), transfer(ZERO, WALLET, WETH, 40)];
    assert.equal(tradeText(...wrapped), null, 'wrapping is no trade');
  });

  it('is a buy or sell in a quote token', () => {
    assert.equal(
      tradeText(transfer(WALLET, POOL, USDC, 10), transfer(POOL, WALLET, MEME, 7)),
      'buy: 10 of 13 for 7 of 15, of 15 in 13',
    );
    assert.equal(
      tradeText(transfer(WALLET, POOL, MEME, 7), transfer(POOL, WALLET, DAI, 9)),
      'sell: 7 of 15 for 9 of 14, of 15 in 14',
    );
  });

  it('is a buy or sell of the native coin against a quote token', () => {
    assert.equal(
      tradeText(transfer(WALLET, POOL, USDC, 10), internal(ROUTER, WALLET, 3)),
      'buy: 10 of 13 for 3 of 0, of 0 in 13',
    );
    assert.equal(
      tradeText(transfer(WALLET, POOL, WETH, 3), transfer(POOL, WALLET, USDC, 9)),
      'sell: 3 of 0 for 9 of 13, of 0 in 13',
    );
  });

  it('is a swap between two quote tokens, and between two others', () => {
    assert.equal(
      tradeText(transfer(WALLET, POOL, USDC, 10), transfer(POOL, WALLET, DAI, 9)),
      'swap: 10 of 13 for 9 of 14',
    );
    assert.equal(
      tradeText(transfer(WALLET, POOL, MEME, 10), transfer(POOL, WALLET, DOG, 9)),
      'swap: 10 of 15 for 9 of 16',
    );
  });

  it('is mixed with more assets on a side, of one asset where all others are quotes', () => {
    const [bought, paid, paidCoin] = [
      transfer(POOL, WALLET, MEME, 7),
      transfer(WALLET, POOL, USDC, 10),
      transfer(WALLET, POOL, NATIVE, 3),
    ];
    assert.equal(tradeText(paid, paidCoin, bought), 'mixed: 10 of 13 and 3 of 0 for 7 of 15, of 15');
    assert.equal(
      tradeText(paid, transfer(WALLET, POOL, DAI, 2), internal(POOL, WALLET, 4)),
      'mixed: 10 of 13 and 2 of 14 for 4 of 0, of 0',
    );
    assert.equal(
      tradeText(transfer(WALLET, POOL, DOG, 10), paidCoin, bought),
      'mixed: 10 of 16 and 3 of 0 for 7 of 15',
      'liquidity',
    );
  });

  it('is none where a side is empty', () => {
    assert.equal(tradeText(transfer(WALLET, OTHER, MEME, 7)), null);
    assert.equal(tradeText(transfer(POOL, WALLET, MEME, 7), transfer(POOL, WALLET, DOG, 1)), null);
    assert.equal(
      tradeText(transfer(WALLET, POOL, NATIVE, 10), internal(ROUTER, WALLET, 12)),
      null,
      'an arbitrage',
    );
  });

  it('ignores transfers to oneself and of nothing', () => {
    assert.equal(
      tradeText(
        transfer(WALLET, WALLET, MEME, 5),
        transfer(WALLET, ROUTER, NATIVE, 3),
        transfer(WALLET, ROUTER, DOG, 0),
      ),
      null,
    );
  });

  it('is no sale for a native coin that the zero address minted', () => {
    const deposit = [transfer(ZERO, WALLET, NATIVE, 100), transfer(WALLET, POOL, MEME, 7)];
    assert.equal(tradeText(...deposit), null);
    assert.equal(
      tradeText(
        transfer(ZERO, WALLET, NATIVE, 100),
        transfer(WALLET, POOL, NATIVE, 100),
        transfer(POOL, WALLET, MEME, 7),
      ),
      'buy: 100 of 0 for 7 of 15, of 15 in 0',
      'a deposit that buys',
    );
  });

  it('never belongs to the zero address', () => {
    const both = [transfer(ZERO, WALLET, MEME, 7), transfer(WALLET, ZERO, DOG, 7)];
    assert.deepEqual(
      tradesOfTransaction(both, IDS).map(({ wallet }) => wallet),
      [WALLET],
    );
  });

  it('belongs to every wallet that gave and received', () => {
    const transfers = [transfer(WALLET, POOL, NATIVE, 100), transfer(POOL, WALLET, MEME, 7)];
    assert.deepEqual(
      tradesOfTransaction(transfers, IDS).map(({ wallet, trade }) => [wallet, trade.kind]),
      [
        [WALLET, 'buy'],
        [POOL, 'sell'],
      ],
    );
  });
});

describe('NFTs', () => {
  it('of one contract are one asset, counted in tokens', () => {
    assert.equal(
      tradeText(transfer(WALLET, ROUTER, NATIVE, 100), nft(POOL, WALLET, '01'), nft(OTHER, WALLET, '02')),
      'buy: 100 of 0 for 2 of 17, of 17 in 0',
    );
  });

  it('that pass through are no leg', () => {
    assert.equal(
      tradeText(
        nft(OTHER, WALLET, '01'),
        nft(WALLET, POOL, '01'),
        transfer(WALLET, OTHER, NATIVE, 90),
        transfer(POOL, WALLET, WETH, 100),
      ),
      null,
    );
    assert.equal(
      tradeText(nft(WALLET, POOL, '01'), nft(POOL, WALLET, '02'), internal(POOL, WALLET, 5)),
      null,
      'an exchange within a collection changes no count',
    );
  });

  it('of an ERC-1155 contract are an asset by id', () => {
    assert.equal(
      tradeText(
        transfer(WALLET, POOL, GAME, 2, erc1155, '0A'),
        transfer(POOL, WALLET, GAME, 3, erc1155, '0B'),
      ),
      'swap: 2 of 18 0A for 3 of 18 0B',
    );
    assert.equal(
      tradeText(transfer(WALLET, POOL, NATIVE, 2), transfer(POOL, WALLET, GAME, 3, erc1155, '0B')),
      'buy: 2 of 0 for 3 of 18 0B, of 18 in 0',
    );
  });

  it('beside units of their contract are no leg', () => {
    const [sold, brought] = [transfer(WALLET, POOL, ART, 500), internal(POOL, WALLET, 9)];
    assert.equal(tradeText(sold, nft(WALLET, ZERO, '07'), brought), 'sell: 500 of 17 for 9 of 0, of 17 in 0');
    assert.equal(
      tradeText(nft(WALLET, OTHER, '07', UNITS), brought),
      null,
      'nor alone, where units came first',
    );
  });

  it('of a contract on the lists are no quote', () => {
    assert.equal(
      tradeText(nft(POOL, WALLET, '01', USDC), transfer(WALLET, POOL, NATIVE, 5)),
      'buy: 5 of 0 for 1 of 13, of 13 in 0',
    );
    assert.equal(
      tradeText(nft(POOL, WALLET, '01', WETH), transfer(WALLET, POOL, NATIVE, 5)),
      'buy: 5 of 0 for 1 of 11, of 11 in 0',
    );
  });
});

describe('fees', () => {
  const trade = [transfer(WALLET, POOL, USDC, 10), transfer(POOL, WALLET, MEME, 7)];
  const feesOf = (transfers: readonly PartTransfer[]) => {
    const part = new TradePart(WALLET, IDS);
    for (const each of transfers) part.add(each);
    return part.fees().map(text);
  };

  it('to a sink are no part of a trade', () => {
    const transfers = [internal(WALLET, ENTRY_POINT, 3), ...trade, transfer(WALLET, ENTRY_POINT, USDC, 1)];
    assert.equal(tradeText(...transfers), 'buy: 10 of 13 for 7 of 15, of 15 in 13');
    assert.deepEqual(feesOf(transfers), ['3 of 0', '1 of 13']);
    assert.deepEqual(feesOf(trade), []);
  });

  it('are net, and below zero for who is paid by a sink', () => {
    assert.deepEqual(feesOf([internal(WALLET, ENTRY_POINT, 5), internal(ENTRY_POINT, WALLET, 2)]), [
      '3 of 0',
    ]);
    const bundler = [internal(ENTRY_POINT, WALLET, 5), transfer(WALLET, POOL, MEME, 1)];
    assert.deepEqual(feesOf(bundler), ['-5 of 0']);
    assert.equal(tradeText(...bundler), null);
  });
});

describe('sums', () => {
  const summed = (...transfers: PartTransfer[]) => {
    const found = tradesOfTransaction(transfers, IDS).find(({ wallet }) => wallet === WALLET);
    assert.ok(found !== undefined);
    return summedTrade(found.trade);
  };

  it('take buys and sells of coins, tokens and collections', () => {
    assert.deepEqual(
      summed(transfer(WALLET, POOL, WETH, 9), nft(POOL, WALLET, '01'), nft(POOL, WALLET, '02')),
      {
        token: ART,
        quote: NATIVE,
        isBuy: true,
        amount: 2n,
        quoteAmount: 9n,
      },
    );
    assert.deepEqual(summed(transfer(WALLET, POOL, NATIVE, 9), transfer(POOL, WALLET, USDC, 20)), {
      token: NATIVE,
      quote: USDC,
      isBuy: false,
      amount: 9n,
      quoteAmount: 20n,
    });
  });

  it('leave out swaps, mixed trades and ERC-1155', () => {
    const [paid, got] = [transfer(WALLET, POOL, NATIVE, 9), transfer(POOL, WALLET, MEME, 20)];
    assert.equal(summed(transfer(WALLET, POOL, DOG, 9), got), null);
    assert.equal(summed(paid, transfer(WALLET, POOL, USDC, 1), got), null);
    assert.equal(summed(paid, transfer(POOL, WALLET, GAME, 3, erc1155, '0B')), null);
  });
});
