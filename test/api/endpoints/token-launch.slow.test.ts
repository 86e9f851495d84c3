/** token_launch over small chains made by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { address, createIndex, type NamedTransfer } from '../../support/index/index-fixture.ts';
import { buy, coin, nft, sell, token } from '../../support/trades/named-transfers.ts';
import { asking, buyersOf, LAUNCH, launchOf, pick, type Row, rowsOf } from './launches.ts';

describe('token_launch', () => {
  it('says how each of the first holders got the token', async (t) => {
    const { ask } = launchOf(t, LAUNCH);
    const answer = await ask();
    const buyers = buyersOf(answer);
    assert.deepEqual(
      [...buyers].map(([name, { rank, blocksAfterFirst, how, amount, counted }]) => [
        name,
        rank,
        blocksAfterFirst,
        how,
        amount,
        counted,
      ]),
      [
        ['maker', 1, 0, 'minted', '1000', true],
        ['friend', 2, 0, 'received', '50', true],
        ['pool', 3, 1, 'received', '900', false],
        ['first', 4, 2, 'bought', '100', true],
        ['second', 5, 2, 'bought', '50', true],
        ['a', 6, 2, 'bought_for', '10', true],
        ['b', 7, 2, 'bought_for', '10', true],
        ['c', 8, 2, 'bought_for', '10', true],
        ['d', 9, 2, 'bought_for', '10', true],
        ['router', 10, 4, 'received', '0', false],
        ['late', 11, 4, 'bought', '20', true],
        ['niece', 12, 6, 'bought_for', '5', true],
      ],
    );
    assert.deepEqual([answer.firstBlock, answer.openBlock, answer.count], [2, 3, 12]);
  });

  it('gives what each paid, holds, sold and gained, and its funds', async (t) => {
    const buyers = buyersOf(await launchOf(t, LAUNCH).ask());
    const first = buyers.get('first');
    assert.deepEqual(pick(first, 'balance', 'heldShare', 'sold', 'averageCostProfit'), [
      '20',
      0.2,
      '80',
      '32',
    ]);
    assert.deepEqual(pick(first, 'funder', 'fundingAgeBlocks', 'payer'), [address('rich'), 3, null]);
    const leg = (amount: string) => ({
      tokenAddress: null,
      amount,
      symbol: 'MON',
      decimals: 18,
      tokenIds: null,
      count: null,
    });
    assert.deepEqual(first?.paid, leg('10'));
    const [bundled, niece] = [buyers.get('a'), buyers.get('niece')];
    assert.deepEqual(pick(bundled, 'payer', 'paid', 'funder', 'fundingAgeBlocks'), [
      address('payer'),
      null,
      null,
      null,
    ]);
    assert.deepEqual([niece?.payer, niece?.paid], [address('uncle'), leg('5')]);
    assert.equal(buyers.get('router')?.heldShare, null);
  });

  it('numbers groups and counts by the thresholds', async (t) => {
    const { ask } = launchOf(t, LAUNCH);
    const answer = await ask();
    const groups = [...buyersOf(answer)].map(([name, row]) => [
      name,
      ...pick(row, 'sameBlock', 'samePayer', 'sameFunder'),
    ]);
    assert.deepEqual(
      groups.filter(([, ...numbers]) => numbers.some((number) => number !== null)),
      [
        ['maker', 1, null, null],
        ['friend', 1, null, null],
        ['first', 2, null, 1],
        ['second', 2, null, 1],
        ['a', 2, 1, null],
        ['b', 2, 1, null],
        ['c', 2, 1, null],
        ['d', 2, 1, null],
      ],
    );
    const summary = {
      counted: 10,
      snipers: 7,
      bundles: 1,
      sameFunderGroups: 1,
      insiders: 2,
      fresh: 2,
      heldShare: 0.18577075,
      supplyShare: 0.235,
    };
    assert.deepEqual(answer.summary, summary);
    const changed = await ask({ sniper_blocks: '0', bundle_wallets: '2', fresh_blocks: '2' });
    assert.deepEqual(changed.summary, { ...summary, snipers: 0, bundles: 2, fresh: 0 });
    assert.deepEqual((await ask({ sniper_blocks: '5' })).summary, { ...summary, snipers: 8 });
    const few = await ask({ limit: '2' });
    assert.deepEqual([few.count, few.openBlock], [2, null]);
    assert.deepEqual(few.summary, {
      ...summary,
      counted: 2,
      snipers: 0,
      bundles: 0,
      sameFunderGroups: 0,
      insiders: 0,
      fresh: 0,
      heldShare: 0.095238095,
      supplyShare: 0.1,
    });
  });

  it('connects wallets of one block by payer or funder, and none by a funder of too many', async (t) => {
    const wallets = ['a', 'b', 'c', 'd'];
    const fund = (from: string, to: string) => ({ [`${from} funds ${to}`]: [coin(from, to, 20n)] });
    const { ask, index } = launchOf(t, [
      { ...fund('left', 'a'), ...fund('left', 'b'), ...fund('right', 'c'), ...fund('right', 'd') },
      { creation: [token('zero', 'pool', 1_000n)] },
      {
        // b pays for itself and, in another transaction, for c.
        one: buy('a', 10n, 1n),
        two: buy('b', 10n, 1n),
        three: [coin('b', 'pool', 1n), token('pool', 'c', 10n)],
        four: buy('d', 10n, 1n),
      },
    ]);
    const answer = await ask();
    const groups = [...buyersOf(answer)].map(([name, row]) => [
      name,
      ...pick(row, 'samePayer', 'sameFunder'),
    ]);
    assert.deepEqual(groups, [
      ['pool', null, null],
      ['a', null, 1],
      ['b', 1, 1],
      ['c', 1, 2],
      ['d', null, 2],
    ]);
    assert.deepEqual(pick(Object(answer.summary), 'bundles', 'sameFunderGroups'), [1, 2]);
    index.append([
      Object.fromEntries(
        Array.from({ length: 1_001 }, (_, i) => [`crowd ${i}`, [coin('left', `crowd ${i}`, 1n)]]),
      ),
    ]);
    const later = await asking(t, index)();
    assert.deepEqual(
      wallets.map((name) => buyersOf(later).get(name)?.sameFunder),
      [null, null, 1, 1],
    );
    assert.deepEqual(pick(Object(later.summary), 'bundles', 'sameFunderGroups'), [0, 1]);
  });

  it('takes nobody for a payer who gave the token itself, got something, or has no part', async (t) => {
    const { ask } = launchOf(
      t,
      [
        { creation: [token('zero', 'maker', 1_000n)] },
        // The fee of whoever distributes tokens, and the tip of one who distributes those of another.
        { airdrop: [coin('maker', 'service', 1n), token('maker', 'a', 5n)] },
        { tip: [coin('other', 'service', 1n), token('maker', 'b', 5n)] },
        // The fee of a buyer's token goes to somebody else.
        { fee: [...buy('c', 10n, 4n), token('pool', 'd', 1n)] },
        { sponsored: [coin('entry', 'pool', 4n), token('pool', 'first', 5n)] },
        { both: [coin('payer', 'pool', 4n), coin('uncle', 'pool', 4n), token('pool', 'second', 5n)] },
        { minted: [coin('payer', 'maker', 4n), token('zero', 'late', 5n)] },
      ],
      { feeSinks: [address('entry')] },
    );
    const found = [...buyersOf(await ask())].map(([name, row]) => [
      name,
      ...pick(row, 'how', 'payer', 'paid'),
    ]);
    const leg = {
      tokenAddress: null,
      amount: '4',
      symbol: 'MON',
      decimals: 18,
      tokenIds: null,
      count: null,
    };
    assert.deepEqual(found, [
      ['maker', 'minted', null, null],
      ['a', 'received', null, null],
      ['b', 'received', null, null],
      ['c', 'bought', null, leg],
      ['d', 'received', null, null],
      ['first', 'received', null, null],
      ['second', 'bought_for', null, null],
      ['late', 'bought_for', address('payer'), leg],
    ]);
  });

  it('takes no contract of wrapped coins for a payer, which gives what a seller unwraps', async (t) => {
    const wrapped = address('wmon');
    const { ask } = launchOf(
      t,
      [
        { creation: [token('zero', 'maker', 1_000n)], deposit: [coin('pool', 'wmon', 90n)] },
        { wrap: [token('zero', 'pool', 90n, 'wmon')] },
        // A sale with a fee for somebody, paid in wrapped coins that a router unwraps.
        {
          sale: [
            token('maker', 'pool', 95n),
            token('maker', 'late', 5n),
            token('pool', 'router', 9n, 'wmon'),
            token('router', 'zero', 9n, 'wmon'),
            { ...coin('wmon', 'router', 9n), kind: 'native_internal' },
            { ...coin('router', 'maker', 9n), kind: 'native_internal' },
          ],
        },
      ],
      { nativeEquivalents: [wrapped] },
    );
    const found = [...buyersOf(await ask())].map(([name, row]) => [name, ...pick(row, 'how', 'payer')]);
    assert.deepEqual(found, [
      ['maker', 'minted', null],
      ['pool', 'bought', null],
      ['late', 'received', null],
    ]);
  });

  it('names the zero address as the source of what a router passes on', async (t) => {
    const { ask } = launchOf(t, [
      { sale: [coin('a', 'router', 5n), token('zero', 'router', 9n), token('router', 'a', 9n)] },
    ]);
    const found = [...buyersOf(await ask())].map(([name, row]) => [
      name,
      ...pick(row, 'how', 'amount', 'counted'),
    ]);
    assert.deepEqual(found, [
      ['router', 'minted', '0', false],
      ['a', 'bought', '9', true],
    ]);
  });

  it('takes a pool that is given coins with the token for no buyer', async (t) => {
    const { ask } = launchOf(t, [
      { creation: [coin('maker', 'pool', 100n), token('zero', 'pool', 1_000n)] },
      { first: buy('first', 10n, 1n) },
    ]);
    const answer = await ask();
    const found = [...buyersOf(answer)].map(([name, row]) => [name, ...pick(row, 'how', 'payer', 'counted')]);
    assert.deepEqual(found, [
      ['pool', 'minted', null, false],
      ['first', 'bought', null, true],
    ]);
    assert.equal(Object(answer.summary).snipers, 1);
  });

  it('counts NFTs of a collection, and sums no trades of ERC-1155 nor of the native coin', async (t) => {
    const item = (from: string, to: string, tokenId: bigint, amount: bigint): NamedTransfer => ({
      kind: 'erc1155',
      token: 'items',
      from,
      to,
      tokenId,
      amount,
    });
    const { ask } = launchOf(
      t,
      [
        { mint: [1n, 2n, 3n].map((id) => nft('zero', 'maker', id)) },
        { trade: [token('a', 'maker', 7n, 'usd'), nft('maker', 'a', 1n), nft('maker', 'a', 2n)] },
        { resale: [nft('a', 'b', 2n), token('b', 'a', 9n, 'usd')] },
        { items: [item('zero', 'maker', 1n, 5n), item('zero', 'maker', 2n, 5n)] },
        { bought: [coin('a', 'maker', 8n), item('maker', 'a', 1n, 2n), item('maker', 'a', 2n, 1n)] },
        { wrap: [coin('a', 'wmon', 3n), token('zero', 'a', 3n, 'wmon')] },
        { swapped: [nft('b', 'a', 2n), token('a', 'b', 1n, 'wmon')] },
      ],
      { quoteTokens: [address('usd')], nativeEquivalents: [address('wmon')] },
    );
    const sums = (answer: Row) => [
      answer.profitReason,
      ...[...buyersOf(answer)].map(([name, row]) => [
        name,
        ...pick(row, 'how', 'amount', 'balance', 'sold', 'averageCostProfit'),
      ]),
    ];
    const art = await ask({ token: address('art'), quote: address('usd') });
    assert.deepEqual(sums(art), [
      null,
      ['maker', 'minted', '3', '1', '2', '0'],
      ['a', 'bought', '2', '2', '1', '6'],
      ['b', 'bought', '1', '0', '1', '0'],
    ]);
    assert.deepEqual(pick(art, 'decimals', 'quote'), [
      0,
      { tokenAddress: address('usd'), symbol: null, decimals: null },
    ]);
    const [reason, ...items] = sums(await ask({ token: address('items') }));
    assert.match(String(reason), /ERC-1155/);
    assert.deepEqual(items, [
      ['maker', 'minted', '10', '7', null, null],
      ['a', 'bought', '3', '3', null, null],
    ]);
    const [coinReason, ...wrapped] = sums(await ask({ token: address('wmon') }));
    assert.match(String(coinReason), /native coin/);
    assert.deepEqual(wrapped, [
      ['a', 'minted', '3', '2', null, null],
      ['b', 'bought', '1', '1', null, null],
    ]);
  });

  it('says where transfers are missing, and sums no trades there', async (t) => {
    const index = createIndex(t);
    index.append([{ creation: [token('zero', 'pool', 1_000n)] }, { first: buy('first', 10n, 5n) }]);
    index.writer.append([
      {
        ...index.batch([{ second: buy('second', 10n, 5n), sale: sell('first', 10n, 9n) }]),
        gaps: [{ kind: 'trace', first: 3, last: 3, reason: 'busy' }],
      },
    ]);
    index.append([{ third: buy('late', 10n, 5n) }]);
    const ask = asking(t, index);
    const answer = await ask();
    const found = [...buyersOf(answer)].map(([name, row]) => [
      name,
      ...pick(row, 'uncertain', 'how', 'sold', 'averageCostProfit'),
      row.paid === null,
    ]);
    assert.deepEqual(found, [
      ['pool', false, 'minted', '20', '0', true],
      ['first', false, 'bought', '0', '0', false],
      ['second', true, 'bought', '0', '0', true],
      ['late', false, 'bought', '0', '0', false],
    ]);
    index.appendUntraced([{ more: buy('niece', 10n, 5n) }]);
    const untraced = await asking(t, index)();
    assert.match(String(untraced.profitReason), /internal transfers are not indexed/);
    const [pool] = rowsOf(untraced.buyers);
    assert.deepEqual(pick(pool, 'sold', 'averageCostProfit', 'heldShare'), [null, null, 0.97]);
    assert.equal(buyersOf(untraced).get('niece')?.uncertain, true);
  });

  it('answers for a token without buyers, or without holders', async (t) => {
    const { ask } = launchOf(t, [
      { empty: [token('a', 'b', 0n, 'quiet')] },
      { creation: [token('zero', 'maker', 10n)], gift: [token('maker', 'a', 4n)] },
    ]);
    const { buyers, summary, openBlock } = await ask();
    assert.deepEqual([rowsOf(buyers).length, openBlock], [2, null]);
    assert.deepEqual(summary, {
      counted: 2,
      snipers: 0,
      bundles: 0,
      sameFunderGroups: 0,
      insiders: 0,
      fresh: 0,
      heldShare: 0.714285714,
      supplyShare: 1,
    });
    const quiet = await ask({ token: address('quiet') });
    assert.deepEqual([quiet.buyers, quiet.firstBlock, quiet.openBlock], [[], 1, null]);
    assert.deepEqual(quiet.summary, { ...Object(summary), counted: 0, heldShare: null, supplyShare: null });
    const unknownQuote = await ask({ quote: address('nothing') });
    assert.equal(rowsOf(unknownQuote.buyers)[0]?.averageCostProfit, '0');
  });

  it('is empty for a token without transfers, and refuses bad parameters', async (t) => {
    const { ask } = launchOf(t, LAUNCH);
    const nothing = await ask({ token: address('first') });
    assert.deepEqual(
      [nothing.buyers, nothing.firstBlock, nothing.openBlock, nothing.count],
      [[], null, null, 0],
    );
    assert.equal(Object(nothing.summary).counted, 0);
    for (const [param, value] of Object.entries({
      token: 'native',
      limit: '201',
      sniper_blocks: '-1',
      bundle_wallets: '1',
      fresh_blocks: '1.5',
      quote: 'usd',
    }))
      await assert.rejects(ask({ [param]: value }), { status: 400, param });
  });
});
