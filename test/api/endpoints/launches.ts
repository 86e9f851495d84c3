/** A token's launch made by hand, and how to read the answers about it. */
import type { TestContext } from 'node:test';
import { askApi } from '../../support/clients/ask-api.ts';
import {
  address,
  createIndex,
  type IndexFixture,
  type NamedBlock,
} from '../../support/index/index-fixture.ts';
import { buy, coin, sell, token } from '../../support/trades/named-transfers.ts';

export type Row = Record<string, unknown>;

const MEME = address('meme');

/** A launch with everything that is counted. */
export const LAUNCH: NamedBlock[] = [
  { funding: [coin('rich', 'first', 50n)], more: [coin('rich', 'second', 50n)] },
  { creation: [token('zero', 'maker', 1_000n)], gift: [token('maker', 'friend', 50n)] },
  { liquidity: [token('maker', 'pool', 900n), coin('maker', 'pool', 100n)] },
  {
    first: buy('first', 100n, 10n),
    second: buy('second', 50n, 10n),
    bundle: [coin('payer', 'pool', 40n), ...['a', 'b', 'c', 'd'].map((wallet) => token('pool', wallet, 10n))],
  },
  {},
  {
    dump: sell('first', 80n, 40n),
    routed: [
      coin('late', 'router', 5n),
      coin('router', 'pool', 5n),
      token('pool', 'router', 20n),
      token('router', 'late', 20n),
    ],
  },
  {},
  { single: [coin('uncle', 'pool', 5n), token('pool', 'niece', 5n)] },
];

export function launchOf(
  t: TestContext,
  blocks: readonly NamedBlock[],
  lists: Parameters<typeof askApi>[2] = {},
) {
  const index = createIndex(t);
  index.append(blocks);
  return { index, ask: asking(t, index, lists) };
}

export function asking(t: TestContext, index: IndexFixture, lists: Parameters<typeof askApi>[2] = {}) {
  const ask = askApi(t, index.path, lists);
  return (input: Row = {}) => ask('token_launch', { token: MEME, ...input });
}

export const rowsOf = (value: unknown): Row[] => (Array.isArray(value) ? value : []);
export function buyersOf(answer: Row): Map<string, Row> {
  const names = [
    'maker',
    'friend',
    'pool',
    'first',
    'second',
    'a',
    'b',
    'c',
    'd',
    'router',
    'late',
    'niece',
    'collector',
    'other',
  ];
  const named = new Map(names.map((name) => [address(name) as string, name]));
  return new Map(rowsOf(answer.buyers).map((row) => [named.get(String(row.address)) ?? '?', row]));
}
export const pick = (row: Row | undefined, ...members: string[]) => members.map((member) => row?.[member]);
