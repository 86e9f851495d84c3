/** A small world for the explorer: a treasury that funds a dealer who funds four wallets, a shop, and a token. */
import { address, type IndexFixture, type NamedBlock } from '../support/index-fixture.ts';

const COIN = 10n ** 18n;

/** Purchases of alice at the shop: one a block, more than two pages. */
export const PURCHASES = 60;

/** First block of the purchases. */
export const FIRST_PURCHASE = 4;

export const ALICE = address('alice');
export const GOLD = address('gold');

export function fillWorld(index: IndexFixture): void {
  index.append([
    { founding: [{ from: 'treasury', to: 'dealer', amount: 900n * COIN }] },
    {
      'fund alice': [{ from: 'dealer', to: 'alice', amount: 100n * COIN }],
      'fund bob': [{ from: 'dealer', to: 'bob', amount: 10n * COIN }],
    },
    {
      'fund carol': [{ from: 'dealer', to: 'carol', amount: 10n * COIN }],
      'fund dave': [{ from: 'dealer', to: 'dave', amount: 250n * COIN }],
      mint: [
        { kind: 'erc20', token: 'gold', from: 'zero', to: 'alice', amount: 700n },
        { kind: 'erc20', token: 'gold', from: 'zero', to: 'bob', amount: 200n },
        { kind: 'erc20', token: 'gold', from: 'zero', to: 'carol', amount: 100n },
      ],
    },
    ...Array.from({ length: PURCHASES }, (_, n): NamedBlock => {
      return { [`purchase ${n}`]: [{ from: 'alice', to: 'shop', amount: COIN }] };
    }),
    { refund: [{ kind: 'native_internal', from: 'shop', to: 'alice', amount: COIN / 2n }] },
  ]);
}
