import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { z } from 'zod';
import { transferSchema } from '../../../src/schemas/transfers.ts';
import { type Serving, serve } from '../../server/serving.ts';
import {
  address,
  blockHash,
  createIndex,
  type NamedBlock,
  timestampOf,
  txHash,
  ZERO_ADDRESS,
} from '../../support/index/index-fixture.ts';

const PAGE = z.strictObject({
  address: z.string(),
  transfers: z.array(transferSchema.strict()),
  nextCursor: z.int().nullable(),
  count: z.int(),
  historicalCoverageStartBlock: z.int(),
});
type Page = z.infer<typeof PAGE>;

const ALICE = address('alice');

/** Alice's transfers of every kind, one block each, from block 10 on. */
const EVERY_KIND: NamedBlock[] = [
  { direct: [{ from: 'bob', to: 'alice', amount: 1_500_000_000_000_000_000n }] },
  {
    tokens: [
      { kind: 'erc20', from: 'alice', to: 'bob', token: 'coin', amount: 2n ** 255n, logIndex: 4 },
      { kind: 'erc721', from: 'zero', to: 'alice', token: 'art', tokenId: 0n, logIndex: 5 },
      {
        kind: 'erc1155',
        from: 'alice',
        to: 'zero',
        token: 'items',
        tokenId: 2n ** 200n,
        amount: 7n,
        logIndex: 6,
      },
    ],
  },
  { internal: [{ kind: 'native_internal', from: 'contract', to: 'alice', amount: 5n }] },
  { empty: [{ kind: 'erc20', from: 'bob', to: 'alice', token: 'coin', amount: 0n, logIndex: 0 }] },
  { self: [{ from: 'alice', to: 'alice', amount: 9n }] },
  { others: [{ from: 'bob', to: 'carol' }] },
];

async function serveBlocks(t: TestContext, blocks: readonly NamedBlock[], startBlock = 10): Promise<Serving> {
  const index = createIndex(t, startBlock);
  index.append(blocks);
  return serve(t, { index });
}

async function page(serving: Serving, query: string, of = ALICE): Promise<Page> {
  return PAGE.parse(await serving.json(`/api/address_transfers?address=${of}${query}`));
}

async function refusal(serving: Serving, query: string): Promise<unknown> {
  const response = await serving.fetch(`/api/address_transfers${query}`);
  assert.equal(response.status, 400, query);
  return response.json();
}

const ids = ({ transfers }: Page) => transfers.map(({ id }) => id);

test('every kind is listed with its fields, newest first, without internal transfers', async (t) => {
  const serving = await serveBlocks(t, EVERY_KIND);
  const body = await page(serving, '');
  const common = { symbol: null, decimals: null };
  const native = { tokenAddress: null, tokenId: null, symbol: 'MON', decimals: 18, logIndex: null };
  const at = (block: number, tx: string) => ({
    blockNumber: block,
    blockHash: blockHash(block),
    txHash: txHash(tx),
    timestamp: new Date(timestampOf(block) * 1000).toISOString(),
  });
  assert.deepEqual(body.transfers, [
    {
      id: 7,
      ...at(14, 'self'),
      eventIndex: 0,
      transferType: 'native_direct',
      from: ALICE,
      to: ALICE,
      ...native,
      amount: '9',
      direction: 'out',
    },
    {
      id: 6,
      ...at(13, 'empty'),
      eventIndex: 0,
      transferType: 'erc20',
      from: address('bob'),
      to: ALICE,
      tokenAddress: address('coin'),
      tokenId: null,
      ...common,
      amount: '0',
      direction: 'in',
      logIndex: 0,
    },
    {
      id: 4,
      ...at(11, 'tokens'),
      eventIndex: 2,
      transferType: 'erc1155',
      from: ALICE,
      to: ZERO_ADDRESS,
      tokenAddress: address('items'),
      tokenId: (2n ** 200n).toString(),
      ...common,
      amount: '7',
      direction: 'out',
      logIndex: 6,
    },
    {
      id: 3,
      ...at(11, 'tokens'),
      eventIndex: 1,
      transferType: 'erc721',
      from: ZERO_ADDRESS,
      to: ALICE,
      tokenAddress: address('art'),
      tokenId: '0',
      ...common,
      amount: '1',
      direction: 'in',
      logIndex: 5,
    },
    {
      id: 2,
      ...at(11, 'tokens'),
      eventIndex: 0,
      transferType: 'erc20',
      from: ALICE,
      to: address('bob'),
      tokenAddress: address('coin'),
      tokenId: null,
      ...common,
      amount: (2n ** 255n).toString(),
      direction: 'out',
      logIndex: 4,
    },
    {
      id: 1,
      ...at(10, 'direct'),
      eventIndex: 0,
      transferType: 'native_direct',
      from: address('bob'),
      to: ALICE,
      ...native,
      amount: '1500000000000000000',
      direction: 'in',
    },
  ]);
  assert.deepEqual(
    [body.address, body.count, body.nextCursor, body.historicalCoverageStartBlock],
    [ALICE, 6, null, 10],
  );
});

test('include_internal adds internal transfers as native_internal', async (t) => {
  const serving = await serveBlocks(t, EVERY_KIND);
  const body = await page(serving, '&include_internal=true');
  assert.deepEqual(ids(body), [7, 6, 5, 4, 3, 2, 1]);
  assert.equal(body.transfers[2]?.transferType, 'native_internal');
  assert.equal(body.transfers[2]?.amount, '5');
  assert.deepEqual(ids(await page(serving, '&include_internal=false')), [7, 6, 4, 3, 2, 1]);
});

test('direction selects transfers, and a self-transfer matches both directions', async (t) => {
  const serving = await serveBlocks(t, EVERY_KIND);
  const incoming = await page(serving, '&direction=in');
  assert.deepEqual(ids(incoming), [7, 6, 3, 1]);
  assert.ok(incoming.transfers.every(({ direction }) => direction === 'in'));
  const outgoing = await page(serving, '&direction=out');
  assert.deepEqual(ids(outgoing), [7, 4, 2]);
  assert.ok(outgoing.transfers.every(({ direction }) => direction === 'out'));
  assert.deepEqual(await page(serving, '&direction=both'), await page(serving, ''));
});

test('before_block and after_block include their block, alone and together', async (t) => {
  const serving = await serveBlocks(t, EVERY_KIND);
  assert.deepEqual(ids(await page(serving, '&before_block=11')), [4, 3, 2, 1]);
  assert.deepEqual(ids(await page(serving, '&after_block=11')), [7, 6, 4, 3, 2]);
  assert.deepEqual(ids(await page(serving, '&after_block=11&before_block=13')), [6, 4, 3, 2]);
  assert.deepEqual(ids(await page(serving, '&after_block=12&before_block=12')), []);
  assert.deepEqual(ids(await page(serving, '&after_block=12&before_block=12&include_internal=true')), [5]);
  assert.deepEqual(ids(await page(serving, '&after_block=13&before_block=11')), []);
  assert.deepEqual(ids(await page(serving, '&before_block=0')), []);
  assert.deepEqual(ids(await page(serving, '&after_block=0')), [7, 6, 4, 3, 2, 1]);
  assert.deepEqual(ids(await page(serving, '&after_block=9007199254740991')), []);
  assert.deepEqual(ids(await page(serving, '&before_block=9007199254740991')), [7, 6, 4, 3, 2, 1]);
});

test('pages linked by cursor yield the whole list, even while new blocks arrive', async (t) => {
  const busy = Array.from(
    { length: 60 },
    (_, block): NamedBlock => ({
      [`a ${block}`]: Array.from({ length: 5 }, (_, i) => ({
        kind: i % 2 ? ('erc20' as const) : ('native_direct' as const),
        from: i % 3 ? 'alice' : 'bob',
        to: i % 3 ? 'bob' : 'alice',
      })),
    }),
  );
  const serving = await serveBlocks(t, busy);
  const whole = ids(await page(serving, '&limit=500'));
  assert.equal(whole.length, 300);
  for (const limit of [1, 7, 100, 299, 300]) {
    const seen: number[] = [];
    let cursor: number | null = null;
    do {
      const body: Page = await page(serving, `&limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`);
      assert.ok(body.count <= limit && body.count === body.transfers.length);
      if (body.nextCursor !== null) assert.equal(body.nextCursor, ids(body).at(-1));
      // Transfers that arrive after the first page are newer than all of it.
      seen.push(...ids(body).filter((id) => id <= whole[0]!));
      cursor = body.nextCursor;
      if (seen.length % 50 === 0)
        serving.index.append([{ [`later ${limit} ${seen.length}`]: [{ from: 'bob', to: 'alice' }] }]);
    } while (cursor !== null && seen.length < 1_000);
    assert.deepEqual(seen, whole, `limit ${limit}`);
  }
});

test('limit has the specified default and maximum', async (t) => {
  const serving = await serveBlocks(t, [
    { many: Array.from({ length: 600 }, () => ({ from: 'bob', to: 'alice' })) },
  ]);
  assert.equal((await page(serving, '')).count, 100);
  assert.equal((await page(serving, '&limit=1')).count, 1);
  const most = await page(serving, '&limit=500');
  assert.deepEqual([most.count, most.nextCursor], [500, 101]);
  const last = await page(serving, '&limit=500&cursor=101');
  assert.deepEqual([last.count, last.nextCursor], [100, null]);
});

test('addresses are case-insensitive, and a wallet without transfers has an empty list', async (t) => {
  const serving = await serveBlocks(t, EVERY_KIND);
  const shouted = `0x${ALICE.slice(2).toUpperCase()}`;
  assert.deepEqual(
    PAGE.parse(await serving.json(`/api/address_transfers?address=${shouted}`)),
    await page(serving, ''),
  );
  for (const name of ['nobody', 'coin']) {
    const body = await page(serving, '', address(name));
    assert.deepEqual([body.transfers, body.count, body.nextCursor], [[], 0, null]);
  }
});

test('every bad parameter is refused by name', async (t) => {
  const serving = await serveBlocks(t, EVERY_KIND);
  const message = (code: string, param: string | undefined, text: string) => ({
    error: { code, message: text, ...(param === undefined ? {} : { param }) },
  });
  const rule = 'must be an address: 0x and 40 hex digits';
  const bad: [string, string, string | undefined, string][] = [
    ['', 'invalid_address', 'address', `address is required; it ${rule}`],
    ['?address=', 'invalid_address', 'address', `address ${rule}`],
    ['?address=alice', 'invalid_address', 'address', `address ${rule}`],
    [`?address=${ALICE}0`, 'invalid_address', 'address', `address ${rule}`],
    [`?address=${ALICE.slice(2)}`, 'invalid_address', 'address', `address ${rule}`],
    [`?address=0X${ALICE.slice(2)}`, 'invalid_address', 'address', `address ${rule}`],
    [`?address=${ALICE}%20`, 'invalid_address', 'address', `address ${rule}`],
    [`?address=${ALICE}'%20OR%201=1--`, 'invalid_address', 'address', `address ${rule}`],
    [`?address=${ALICE}&address=${ALICE}`, 'invalid_parameter', 'address', 'address is given more than once'],
    [
      `?address=${ALICE}&address=%zz`,
      'invalid_parameter',
      undefined,
      'the query string has bad percent encoding',
    ],
    ...['IN', '', 'sideways'].map((word): [string, string, string, string] => [
      `?address=${ALICE}&direction=${word}`,
      'invalid_parameter',
      'direction',
      'direction must be one of in, out, both',
    ]),
    ...['0', '501', '-1', '1.5', '1e2', '', 'ten', '0x10', '99999999999999999999', '%D9%A1', '+5'].map(
      (value): [string, string, string, string] => [
        `?address=${ALICE}&limit=${value}`,
        'invalid_parameter',
        'limit',
        'limit must be an integer from 1 to 500',
      ],
    ),
    ...['0', 'x', '-3', '99999999999999999'].map((value): [string, string, string, string] => [
      `?address=${ALICE}&cursor=${value}`,
      'invalid_parameter',
      'cursor',
      'cursor must be an integer of at least 1',
    ]),
    ...['before_block', 'after_block'].map((name): [string, string, string, string] => [
      `?address=${ALICE}&${name}=latest`,
      'invalid_parameter',
      name,
      `${name} must be an integer of at least 0`,
    ]),
    [
      `?address=${ALICE}&include_internal=1`,
      'invalid_parameter',
      'include_internal',
      'include_internal must be one of true, false',
    ],
  ];
  for (const [query, code, param, text] of bad) {
    assert.deepEqual(await refusal(serving, query), message(code, param, text), query);
  }
});

test('unknown parameters are ignored, even when repeated', async (t) => {
  const serving = await serveBlocks(t, EVERY_KIND);
  assert.deepEqual(
    await page(serving, '&color=red&color=blue&&=&__proto__=1&toString=2'),
    await page(serving, ''),
  );
});
