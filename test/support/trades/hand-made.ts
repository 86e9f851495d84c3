/** Transactions made by hand, with the answers that a decoder, the lists of Ethereum and the sums must give. */
import { FEE_SINKS } from '../../../src/model/known-contracts.ts';
import type { ToldTransaction, ToldTransfer } from '../chain/told-chain.ts';
import { address, partyAddress } from '../index/index-fixture.ts';

// Known contracts of Ethereum.
export const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const BLUR = '0x0000000000a39bb272e79075ade125fd351887ac';
export const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
export const DAI = '0x6b175474e89094c44da98b954eedeac495271d0f';
const [, ENTRY_POINT = ''] = FEE_SINKS;

const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const CONSECUTIVE = '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d';

const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0');
const party = (name: string): `0x${string}` => `0x${word(partyAddress(name))}`;
export const coin = (from: string, to: string, amount: bigint): ToldTransfer => ({ from, to, amount });
export const token = (name: string, from: string, to: string, amount: bigint): ToldTransfer => ({
  token: name,
  from,
  to,
  amount,
});
export const nft = (from: string, to: string, tokenId: bigint, of = 'art'): ToldTransfer => ({
  token: of,
  from,
  to,
  tokenId,
});

/** Wraps or unwraps coins of a wallet, which the log alone shows. */
const wraps = (topic: `0x${string}`, wallet: string, amount: bigint) => ({
  address: partyAddress(WETH),
  topics: [topic, party(wallet)],
  data: `0x${word(amount)}` as const,
});

function batch(from: string, to: string, ids: bigint[], amounts: bigint[]) {
  const list = (values: bigint[]) => [BigInt(values.length), ...values].map(word).join('');
  const second = 32n * BigInt(3 + ids.length);
  return {
    address: address('items'),
    topics: [BATCH, party(from), party(from), party(to)] as `0x${string}`[],
    data: `0x${word(64n)}${word(second)}${list(ids)}${list(amounts)}` as const,
  };
}

/** A transaction that a wallet sends to a router, unless `rest` says otherwise. */
export function sent(
  from: string,
  value: bigint,
  transfers: ToldTransfer[],
  rest: Partial<ToldTransaction> = {},
): ToldTransaction {
  return { from, to: 'router', value, transfers, ...rest };
}

const deposit = (amount: bigint) => ({ type: '0x7e', mint: `0x${amount.toString(16)}`, sourceHash: '0x1' });

/** What the API must say of the wallet `name`. */
export interface HandMadeCase {
  name: string;
  transactions: ToldTransaction[];
  /** Newest first. */
  trades: string[];
  /** Rows of wallet_profit in `quote`. */
  profits?: string[];
  quote?: string;
  /** Its row in token_traders of `token`, meme by default. */
  trader?: string;
  token?: string;
}

const HUGE = 2n ** 200n;

export const HAND_MADE: readonly HandMadeCase[] = [
  {
    name: 'refunded',
    transactions: [
      sent('refunded', 100n, [
        coin('router', 'pool', 70n),
        coin('router', 'refunded', 30n),
        token(USDC, 'pool', 'refunded', 50n),
        token(USDC, 'refunded', 'pool', 50n),
        token('meme', 'pool', 'refunded', 7n),
      ]),
    ],
    trades: ['buy: 70 native for 7 meme, of meme in native'],
    profits: ['meme: 7 for 70, 0 for 0; realized 0; without cost 0 for 0; holds 7 for 70'],
    trader: '7 for 70, 0 for 0; average 0',
  },
  {
    name: 'wrapping',
    transactions: [
      sent('wrapping', 40n, [], { to: WETH, logs: [wraps(DEPOSIT, 'wrapping', 40n)] }),
      sent('wrapping', 0n, [token(WETH, 'wrapping', 'pool', 25n), token('meme', 'pool', 'wrapping', 5n)]),
      sent('wrapping', 0n, [coin(WETH, 'wrapping', 15n)], {
        to: WETH,
        logs: [wraps(WITHDRAWAL, 'wrapping', 15n)],
      }),
    ],
    trades: ['buy: 25 native for 5 meme, of meme in native'],
  },
  {
    name: 'unwrapped',
    transactions: [
      sent(
        'unwrapped',
        0n,
        [
          token('meme', 'unwrapped', 'pool', 6n),
          token(WETH, 'pool', 'router', 90n),
          coin(WETH, 'router', 90n),
          coin('router', 'unwrapped', 90n),
        ],
        { logs: [wraps(WITHDRAWAL, 'router', 90n)] },
      ),
    ],
    trades: ['sell: 6 meme for 90 native, of meme in native'],
    profits: ['meme: 0 for 0, 6 for 90; realized 0; without cost 6 for 90; holds 0 for 0'],
    trader: '0 for 0, 6 for 90; average 0',
  },
  {
    name: 'bidding',
    transactions: [
      sent('bidding', 30n, [token(BLUR, 'zero', 'bidding', 30n)], { to: BLUR }),
      sent('bidding', 0n, [
        token(BLUR, 'bidding', 'collector', 30n),
        nft('collector', 'bidding', 3n),
        nft('collector', 'bidding', 4n),
      ]),
    ],
    trades: ['buy: 30 native for 2 art 3 4, of art in native'],
    profits: ['art: 2 for 30, 0 for 0; realized 0; without cost 0 for 0; holds 2 for 30'],
    token: 'art',
    trader: '2 for 30, 0 for 0; average 0',
  },
  {
    // Its own code pays the pool and calls it: the transaction goes to the sender itself.
    name: 'delegated',
    transactions: [
      sent('delegated', 0n, [coin('delegated', 'pool', 12n), token('meme', 'pool', 'delegated', 3n)], {
        to: 'delegated',
        members: { type: '0x4', authorizationList: [] },
      }),
      sent('delegated', 9n, [token('meme', 'delegated', 'pool', 1n), coin('pool', 'delegated', 2n)], {
        to: 'delegated',
        members: { type: '0x4', authorizationList: [] },
      }),
    ],
    trades: ['sell: 1 meme for 2 native, of meme in native', 'buy: 12 native for 3 meme, of meme in native'],
    profits: ['meme: 3 for 12, 1 for 2; realized -2; without cost 0 for 0; holds 2 for 8'],
    trader: '3 for 12, 1 for 2; average -2',
  },
  {
    name: 'depositor',
    transactions: [
      // A mint that arrives beside a gift is no sale of the gift.
      sent('depositor', 0n, [token('meme', 'depositor', 'friend', 4n)], { members: deposit(80n) }),
      sent('depositor', 80n, [token('meme', 'pool', 'depositor', 4n)], { to: 'pool', members: deposit(80n) }),
    ],
    trades: ['buy: 80 native for 4 meme, of meme in native'],
    profits: ['meme: 4 for 80, 0 for 0; realized 0; without cost 0 for 0; holds 4 for 80'],
    trader: '4 for 80, 0 for 0; average 0',
  },
  {
    name: 'batching',
    transactions: [
      sent('batching', 5n, [], {
        to: 'pool',
        logs: [batch('pool', 'batching', [1n, 2n], [5n, 7n]), batch('batching', 'pool', [1n], [5n])],
      }),
      // Nothing is left of either id: money for nothing is no trade.
      sent('batching', 5n, [], {
        to: 'pool',
        logs: [batch('pool', 'batching', [3n, 4n], [5n, 7n]), batch('batching', 'pool', [4n, 3n], [7n, 5n])],
      }),
      // One id twice is one asset, two ids are two.
      sent('batching', 6n, [], { to: 'pool', logs: [batch('pool', 'batching', [8n, 8n], [1n, 2n])] }),
      sent('batching', 6n, [], { to: 'pool', logs: [batch('pool', 'batching', [8n, 9n], [1n, 2n])] }),
    ],
    trades: [
      'mixed: 6 native for 1 items 8 and 2 items 9',
      'buy: 6 native for 3 items 8, of items in native',
      'buy: 5 native for 7 items 2, of items in native',
    ],
    profits: [],
    token: 'items',
  },
  {
    name: 'minting',
    transactions: [
      sent('minting', 9n, [], {
        to: 'art',
        logs: [
          {
            address: address('art'),
            topics: [CONSECUTIVE, `0x${word(100n)}`, party('zero'), party('minting')],
            data: `0x${word(102n)}`,
          },
        ],
      }),
      sent('minting', 0n, [nft('minting', 'collector', 101n), coin('router', 'minting', 2n)]),
    ],
    trades: [
      'sell: 1 art 101 for 2 native, of art in native',
      'buy: 9 native for 3 art 100 101 102, of art in native',
    ],
    profits: ['art: 3 for 9, 1 for 2; realized -1; without cost 0 for 0; holds 2 for 6'],
    token: 'art',
    trader: '3 for 9, 1 for 2; average -1',
  },
  {
    name: 'whale',
    transactions: [
      sent('whale', 2n ** 130n, [token('meme', 'pool', 'whale', HUGE)]),
      sent('whale', 0n, [token('meme', 'whale', 'pool', HUGE / 2n), coin('pool', 'whale', 2n ** 129n - 1n)]),
    ],
    trades: [
      `sell: ${2n ** 199n} meme for ${2n ** 129n - 1n} native, of meme in native`,
      `buy: ${2n ** 130n} native for ${HUGE} meme, of meme in native`,
    ],
    profits: [
      `meme: ${HUGE} for ${2n ** 130n}, ${2n ** 199n} for ${2n ** 129n - 1n}; realized -1; without cost 0 for 0; ` +
        `holds ${2n ** 199n} for ${2n ** 129n}`,
    ],
    trader: `${HUGE} for ${2n ** 130n}, ${2n ** 199n} for ${2n ** 129n - 1n}; average -1`,
  },
  {
    name: 'loser',
    transactions: [
      sent('loser', 0n, [token(USDC, 'loser', 'pool', 100n), token('meme', 'pool', 'loser', 10n)]),
      sent('loser', 0n, [token('meme', 'loser', 'pool', 4n), token(USDC, 'pool', 'loser', 10n)]),
      sent('loser', 0n, [token('meme', 'loser', 'pool', 1n), coin('pool', 'loser', 50n)]),
    ],
    trades: [
      'sell: 1 meme for 50 native, of meme in native',
      'sell: 4 meme for 10 USDC, of meme in USDC',
      'buy: 100 USDC for 10 meme, of meme in USDC',
    ],
    quote: USDC,
    profits: ['meme: 10 for 100, 4 for 10; realized -30; without cost 0 for 0; holds 6 for 60'],
    trader: '10 for 100, 4 for 10; average -30',
  },
  {
    name: 'hasty',
    transactions: [
      sent('hasty', 0n, [token('meme', 'hasty', 'pool', 10n), coin('pool', 'hasty', 100n)]),
      sent('hasty', 30n, [token('meme', 'pool', 'hasty', 6n)]),
      sent('hasty', 0n, [token('meme', 'hasty', 'pool', 8n), coin('pool', 'hasty', 41n)]),
    ],
    trades: [
      'sell: 8 meme for 41 native, of meme in native',
      'buy: 30 native for 6 meme, of meme in native',
      'sell: 10 meme for 100 native, of meme in native',
    ],
    // floor(41 x 6 / 8) = 30 less the cost of 30; 2 of the 8 bring 11.
    profits: ['meme: 6 for 30, 18 for 141; realized 0; without cost 12 for 111; holds 0 for 0'],
    // floor(141 x 6 / 18) = 47.
    trader: '6 for 30, 18 for 141; average 17',
  },
  {
    name: 'smart account',
    transactions: [
      sent(
        'bundler',
        0n,
        [
          coin('smart account', ENTRY_POINT, 9n),
          token(USDC, 'smart account', 'pool', 20n),
          token('meme', 'pool', 'smart account', 2n),
          coin(ENTRY_POINT, 'bundler', 5n),
          coin(ENTRY_POINT, 'smart account', 4n),
        ],
        { to: ENTRY_POINT },
      ),
      // What a sink returns is no price.
      sent(
        'bundler',
        0n,
        [token('meme', 'smart account', 'pool', 1n), coin(ENTRY_POINT, 'smart account', 4n)],
        {
          to: ENTRY_POINT,
        },
      ),
    ],
    trades: ['buy: 20 USDC for 2 meme, of meme in USDC, fees 5 native'],
    quote: USDC,
    profits: ['meme: 2 for 20, 0 for 0; realized 0; without cost 0 for 0; holds 2 for 20'],
    trader: '2 for 20, 0 for 0; average 0',
  },
  {
    name: 'hybrid',
    transactions: [
      sent('hybrid', 8n, [
        token('dog', 'pool', 'hybrid', 1_000n),
        nft('zero', 'hybrid', 5n, 'dog'),
        nft('zero', 'hybrid', 6n, 'dog'),
      ]),
    ],
    trades: ['buy: 8 native for 1000 dog, of dog in native'],
    profits: ['dog: 1000 for 8, 0 for 0; realized 0; without cost 0 for 0; holds 1000 for 8'],
    token: 'dog',
    trader: '1000 for 8, 0 for 0; average 0',
  },
  {
    name: 'stable',
    transactions: [
      sent('stable', 0n, [token(USDC, 'stable', 'pool', 11n), token(DAI, 'pool', 'stable', 10n)]),
      sent('stable', 0n, [token(USDC, 'stable', 'pool', 60n), coin('pool', 'stable', 20n)]),
      sent('stable', 0n, [token(WETH, 'stable', 'pool', 5n), token(USDC, 'pool', 'stable', 14n)]),
      sent('stable', 1n, [token(USDC, 'stable', 'pool', 3n), token('meme', 'pool', 'stable', 2n)]),
    ],
    trades: [
      'mixed: 1 native and 3 USDC for 2 meme, of meme',
      'sell: 5 native for 14 USDC, of native in USDC',
      'buy: 60 USDC for 20 native, of native in USDC',
      'swap: 11 USDC for 10 DAI',
    ],
    quote: USDC,
    profits: ['native: 20 for 60, 5 for 14; realized -1; without cost 0 for 0; holds 15 for 45'],
    token: 'native',
    trader: '20 for 60, 5 for 14; average -1',
  },
];
