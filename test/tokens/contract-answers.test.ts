/** Conclusions from a token contract's answers, with a node that answers from a table. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { RpcClient } from '../../src/node/client.ts';
import { BALANCE_ACCURACY_NAMES } from '../../src/store/tokens/balance-accuracy.ts';
import { AnchorMismatchError } from '../../src/tokens/anchored-batch.ts';
import { examineToken } from '../../src/tokens/examine-token.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import {
  address,
  createIndex,
  type NamedBlock,
  txHash,
  ZERO_ADDRESS,
} from '../support/index/index-fixture.ts';

const HEAD = 103;

/** The calls of a token contract. */
const SUPPLY = '0x18160ddd';
const balanceOf = (name: string) => `0x70a08231${wordOf(name)}`;
const balanceOfId = (name: string, id: number) => `0x00fdd58e${wordOf(name)}${word(id)}`;

function wordOf(name: string): string {
  return (name === 'zero' ? ZERO_ADDRESS : address(name)).slice(2).padStart(64, '0');
}

function word(value: number): string {
  return value.toString(16).padStart(64, '0');
}

/** The contract's answers by call, of the head or (`call block`) of an earlier block. */
type Answers = Record<string, number>;

interface Case {
  answers: Answers;
  /** The oldest block of which the node has the state. */
  stateFrom?: number;
  wrapped?: boolean;
  startBlock?: number;
  /** For a node at the index's head. */
  headHash?: string;
  /** The node that answers batches has this head, because a load balancer sends them to another chain. */
  batchHeadHash?: string;
  token?: number;
}

type Call = { id: number; method: string; params: [{ data: string }, string] };

/** Examines the first token of an index of these blocks, which end with HEAD. */
async function examine(t: TestContext, blocks: NamedBlock[], { answers, ...options }: Case) {
  const startBlock = options.startBlock ?? HEAD + 1 - blocks.length;
  const index = createIndex(t, startBlock);
  index.append([...Array<NamedBlock>(HEAD + 1 - startBlock - blocks.length).fill({}), ...blocks]);
  const hash = options.headHash ?? index.writer.head()?.hash;
  const answer = ({ id, method, params: [call, quantity] }: Call, inBatch: boolean) => {
    const reply = { jsonrpc: '2.0', id };
    const block = Number(quantity);
    const error = (code: number, message: string) => ({ ...reply, error: { code, message } });
    if (method === 'eth_getBlockByNumber')
      return {
        ...reply,
        result: {
          number: `0x${HEAD.toString(16)}`,
          hash: (inBatch && options.batchHeadHash) || hash,
          parentHash: txHash('no parent'),
        },
      };
    if (block < (options.stateFrom ?? 0)) return error(-32000, 'no such state');
    if (method === 'eth_getBalance') return { ...reply, result: '0x0' };
    const value = answers[block === HEAD ? call.data : `${call.data} ${block}`];
    return value === undefined ? error(3, 'execution reverted') : { ...reply, result: `0x${word(value)}` };
  };
  const server = createServer(async (request, response) => {
    const body: Call | Call[] = JSON.parse((await request.setEncoding('utf8').toArray()).join(''));
    response.end(
      JSON.stringify(Array.isArray(body) ? body.map((call) => answer(call, true)) : answer(body, false)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new RpcClient({
    url: `http://127.0.0.1:${port}`,
    timeoutMs: 20_000,
    maxSockets: 2,
    maxBatch: 50,
  });
  t.after(async () => {
    await client.close();
    server.close();
  });
  const found = await examineToken(
    {
      db: index.reader(t),
      client,
      startBlock,
      wrappedNative: new Set(options.wrapped ? [address('token')] : []),
      random: randomSource(1),
      signal: new AbortController().signal,
    },
    options.token ?? 1,
  );
  if (found === null) return null;
  const { quality, reason, driftRange } = found;
  return { quality: quality === null ? null : BALANCE_ACCURACY_NAMES[quality], reason, driftRange };
}

const erc20 = (from: string, to: string, amount: bigint): NamedBlock[string] => [
  { kind: 'erc20', from, to, amount },
];
/** alice is given 10 and passes 4 on to bob. */
const PASSED_ON: NamedBlock[] = [{ a: erc20('zero', 'alice', 10n) }, { b: erc20('alice', 'bob', 4n) }];
const FITTING: Answers = { [balanceOf('alice')]: 6, [balanceOf('bob')]: 4, [SUPPLY]: 10 };

test('a token is exact when balances and supply of its contract equal the sums of its transfers', async (t) => {
  assert.deepEqual(await examine(t, PASSED_ON, { answers: FITTING, startBlock: 1 }), {
    quality: 'exact',
    reason: `2 balances and the supply at block ${HEAD} equal the sums of transfers`,
    driftRange: null,
  });
  const { [SUPPLY]: _, ...withoutSupply } = FITTING;
  assert.equal(
    (await examine(t, PASSED_ON, { answers: withoutSupply, startBlock: 1 }))?.reason,
    `2 balances at block ${HEAD} equal the sums of transfers`,
  );
});

test('a supply that is off counts, but not of wrapped coins, nor coins that lie at the zero address', async (t) => {
  const answers = { ...FITTING, [SUPPLY]: 17 };
  const found = await examine(t, PASSED_ON, { answers, startBlock: 0 });
  assert.equal(found?.quality, 'unreliable');
  assert.match(found.reason, /^the total supply moved without transfers .*: it is off by 7$/);
  assert.equal(found.driftRange, null);
  assert.equal((await examine(t, PASSED_ON, { answers, wrapped: true }))?.quality, 'exact');
  const burnt = [...PASSED_ON, { c: erc20('bob', 'zero', 3n) }];
  const kept = { ...FITTING, [balanceOf('bob')]: 1, [balanceOf('zero')]: 3 };
  assert.equal((await examine(t, burnt, { answers: kept }))?.quality, 'exact', 'the contract credits zero');
  assert.equal(
    (await examine(t, burnt, { answers: { ...kept, [balanceOf('zero')]: 0, [SUPPLY]: 7 } }))?.quality,
    'exact',
  );
});

test('requests the balance of each ERC-1155 id of a wallet, and no supply', async (t) => {
  const moves = (name: string, tokenId: bigint, amount: bigint): NamedBlock => ({
    [name]: [{ kind: 'erc1155', from: 'zero', to: 'alice', tokenId, amount }],
  });
  const blocks = [moves('a', 7n, 5n), moves('b', 9n, 2n), moves('c', 7n, 1n)];
  const answers = { [balanceOfId('alice', 7)]: 6, [balanceOfId('alice', 9)]: 2, [SUPPLY]: 100 };
  const found = await examine(t, blocks, { answers });
  assert.equal(found?.reason, `1 balances at block ${HEAD} equal the sums of transfers`);
  const off = await examine(t, blocks, { answers: { ...answers, [balanceOfId('alice', 9)]: 3 } });
  assert.match(off?.reason ?? '', new RegExp(`the balance of ${address('alice')} moved .*: it is off by 1$`));
});

test('skips a wallet with more ids than the limit', async (t) => {
  const mint = (_: unknown, i: number): NamedBlock[string][number] => ({
    kind: 'erc1155',
    from: 'zero',
    to: 'alice',
    tokenId: BigInt(i),
  });
  const found = await examine(t, [{ a: Array.from({ length: 21 }, mint) }], { answers: {} });
  assert.equal(found?.quality, null);
});

test('checks wallets that sent more than they received first', async (t) => {
  const sold = erc20('alice', 'carol', 5n);
  const onward = Array.from({ length: 40 }, (_, i) => erc20('zero', `wallet ${i}`, 1n)).flat();
  const blocks: NamedBlock[] = [
    { a: [...erc20('zero', 'bob', 1n), ...erc20('bob', 'carol', 1n), ...sold] },
    { b: onward },
  ];
  const answers = Object.fromEntries(onward.map(({ to }) => [balanceOf(to), 1]));
  const fitting = { ...answers, [balanceOf('bob')]: 0, [balanceOf('carol')]: 6, [balanceOf('alice')]: 0 };
  const found = await examine(t, blocks, { answers: fitting });
  assert.match(found?.reason ?? '', new RegExp(`^the balance of ${address('alice')} .* off by 5`));
});

test('an offset from before the index is history, a later one is not', async (t) => {
  const before = HEAD - 2;
  const answers = { ...FITTING, [balanceOf('alice')]: 106, [SUPPLY]: 110 };
  const old = {
    [`${balanceOf('alice')} ${before}`]: 100,
    [`${balanceOf('bob')} ${before}`]: 0,
    [`${SUPPLY} ${before}`]: 100,
  };
  assert.deepEqual(await examine(t, PASSED_ON, { answers: { ...answers, ...old } }), {
    quality: 'partial',
    reason:
      `the balance of ${address('alice')} is off by 100 at block ${HEAD}, as it was at block ` +
      `${before}: history before block ${HEAD - 1}`,
    driftRange: null,
  });
  const drifted = await examine(t, PASSED_ON, {
    answers: { ...answers, ...old, [`${balanceOf('alice')} ${before}`]: 99 },
  });
  assert.equal(drifted?.quality, 'unreliable');
  assert.deepEqual(drifted.driftRange, { wallet: 1, from: before, to: HEAD });
});

test('without the state before the index a block 64 back is compared, minus the transfers since then', async (t) => {
  const startBlock = HEAD - 80;
  const recent = HEAD - 64;
  const answers = {
    ...FITTING,
    [balanceOf('alice')]: 106,
    [SUPPLY]: 110,
    [`${balanceOf('alice')} ${recent}`]: 100,
    [`${balanceOf('bob')} ${recent}`]: 0,
    [`${SUPPLY} ${recent}`]: 100,
  };
  const found = await examine(t, PASSED_ON, { answers, startBlock, stateFrom: startBlock });
  assert.equal(found?.quality, 'partial');
  assert.match(found.reason, new RegExp(`as it was at block ${recent}: history before block ${startBlock}$`));
  const alone = await examine(t, PASSED_ON, { answers, startBlock, stateFrom: HEAD });
  assert.match(
    alone?.reason ?? '',
    new RegExp(`off by 100 at block ${HEAD}: history before block ${startBlock}$`),
  );
});

test('a contract that does not answer balanceOf is unreliable, and one without wallets is undecided', async (t) => {
  const silent = await examine(t, PASSED_ON, { answers: { [SUPPLY]: 10 } });
  assert.equal(silent?.quality, 'unreliable');
  assert.equal(silent.reason, `the contract does not answer balanceOf at block ${HEAD}`);
  const nobody = [{ a: erc20('zero', 'zero', 1n) }];
  assert.equal((await examine(t, nobody, { answers: {} }))?.quality, null);
});

test('a removed token gives no result, and a removed head is retried', async (t) => {
  assert.equal(await examine(t, PASSED_ON, { answers: FITTING, token: 2 }), null);
  await assert.rejects(
    examine(t, PASSED_ON, { answers: FITTING, headHash: txHash('another') }),
    AnchorMismatchError,
  );
  await assert.rejects(examine(t, PASSED_ON, { answers: FITTING, stateFrom: HEAD + 1 }), AnchorMismatchError);
});

test('balances of another chain behind the same address are not compared', async (t) => {
  const answers = { ...FITTING, [balanceOf('alice')]: 106 };
  await assert.rejects(
    examine(t, PASSED_ON, { answers, batchHeadHash: txHash('another') }),
    AnchorMismatchError,
  );
});
