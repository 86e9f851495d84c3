/** More hand-made transactions, in each of which several rules of trades meet. */
import { coin, DAI, type HandMadeCase, nft, sent, token, USDC, WETH } from './hand-made.ts';

export const HAND_MADE_EDGES: readonly HandMadeCase[] = [
  {
    // Pays in coins and in wrapped ones, gets its refund in wrapped ones, and sends itself what it bought.
    name: 'changing',
    transactions: [
      sent('changing', 10n, [
        token(WETH, 'changing', 'pool', 5n),
        token('meme', 'pool', 'changing', 4n),
        token('meme', 'changing', 'changing', 4n),
        token(WETH, 'pool', 'changing', 3n),
        token('dog', 'changing', 'pool', 0n),
      ]),
      sent('changing', 0n, [
        token('meme', 'changing', 'pool', 3n),
        coin('pool', 'changing', 4n),
        token(WETH, 'pool', 'changing', 6n),
      ]),
    ],
    trades: ['sell: 3 meme for 10 native, of meme in native', 'buy: 12 native for 4 meme, of meme in native'],
    profits: ['meme: 4 for 12, 3 for 10; realized 1; without cost 0 for 0; holds 1 for 3'],
    trader: '4 for 12, 3 for 10; average 1',
  },
  {
    // Bought in one quote and got for nothing, sold in the other: its cost is unknown.
    name: 'crossing',
    transactions: [
      sent('crossing', 0n, [token(USDC, 'crossing', 'pool', 90n), token('meme', 'pool', 'crossing', 9n)]),
      sent('friend', 0n, [token('meme', 'friend', 'crossing', 5n)]),
      sent('crossing', 20n, [token('meme', 'pool', 'crossing', 2n)]),
      sent('crossing', 0n, [token('meme', 'crossing', 'pool', 3n), coin('pool', 'crossing', 50n)]),
      sent('crossing', 0n, [token('meme', 'crossing', 'pool', 1n), coin('pool', 'crossing', 8n)]),
    ],
    trades: [
      'sell: 1 meme for 8 native, of meme in native',
      'sell: 3 meme for 50 native, of meme in native',
      'buy: 20 native for 2 meme, of meme in native',
      'buy: 90 USDC for 9 meme, of meme in USDC',
    ],
    // floor(50 x 2 / 3) = 33 less the cost of 20; of the 50 the other 17, and then 8, without cost.
    profits: ['meme: 2 for 20, 4 for 58; realized 13; without cost 2 for 25; holds 0 for 0'],
    // floor(58 x 2 / 4) - 20
    trader: '2 for 20, 4 for 58; average 9',
  },
  {
    name: 'two quotes',
    transactions: [
      sent('two quotes', 0n, [
        token(USDC, 'two quotes', 'pool', 30n),
        token('meme', 'pool', 'two quotes', 2n),
        coin('pool', 'two quotes', 1n),
      ]),
      sent('two quotes', 0n, [
        token('meme', 'two quotes', 'pool', 2n),
        token(USDC, 'pool', 'two quotes', 9n),
        token(DAI, 'pool', 'two quotes', 8n),
      ]),
    ],
    trades: [
      'mixed: 2 meme for 8 DAI and 9 USDC, of meme',
      'mixed: 30 USDC for 1 native and 2 meme, of meme',
    ],
    profits: [],
  },
  {
    // A router whose part is nothing, and one that keeps a fee, which is a gift.
    name: 'router',
    transactions: [
      sent('buyer', 30n, [
        coin('router', 'pool', 30n),
        token('meme', 'pool', 'router', 6n),
        token('meme', 'router', 'buyer', 6n),
      ]),
      sent('buyer', 31n, [
        coin('router', 'pool', 30n),
        token('meme', 'pool', 'router', 6n),
        token('meme', 'router', 'buyer', 6n),
      ]),
    ],
    trades: [],
    profits: [],
  },
  {
    // One NFT in, another out of the same collection, and a coin paid for the exchange: no count changes.
    name: 'exchanging',
    transactions: [
      sent('exchanging', 7n, [nft('pool', 'exchanging', 1n)]),
      sent('exchanging', 1n, [nft('exchanging', 'pool', 1n), nft('pool', 'exchanging', 2n)]),
      sent('exchanging', 0n, [nft('exchanging', 'pool', 2n), coin('pool', 'exchanging', 5n)]),
    ],
    trades: ['sell: 1 art 2 for 5 native, of art in native', 'buy: 7 native for 1 art 1, of art in native'],
    profits: ['art: 1 for 7, 1 for 5; realized -2; without cost 0 for 0; holds 0 for 0'],
    token: 'art',
    trader: '1 for 7, 1 for 5; average -2',
  },
];
