/** A small world for the explorer: a treasury that funds a dealer who funds four wallets, a shop, and a token. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Owner } from '../support/cleanup.ts';
import { address, type IndexFixture, type NamedBlock, txHash } from '../support/index-fixture.ts';

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

/** The last block of the node below. */
export const NODE_BLOCK = { number: '0x64', hash: txHash('block 100'), parentHash: txHash('block 99') };

/**
 * A node that knows 100 blocks with one transaction in the last: it made a contract, and moved the token and 42 units of
 * each of the others.
 */
export async function nodeWithTransfer(t: Owner, others: readonly string[] = []): Promise<string> {
  const word = (hex: string) => `0x${hex.replace('0x', '').padStart(64, '0')}`;
  const log = {
    address: GOLD,
    topics: [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      word(address('bob')),
      word(address('carol')),
    ],
    data: word('0x2a'),
    blockNumber: NODE_BLOCK.number,
    transactionHash: txHash('trade'),
    logIndex: '0x0',
  };
  const transaction = {
    hash: txHash('trade'),
    blockHash: NODE_BLOCK.hash,
    from: address('bob'),
    to: null,
    value: '0x14d1120d7b160000',
  };
  const logs = [log, { ...log, data: '0x' }, ...others.map((token) => ({ ...log, address: token }))];
  const receipt = { status: '0x1', contractAddress: address('made'), logs };
  const block = { ...NODE_BLOCK, timestamp: '0x6553f100', transactions: [transaction.hash] };
  const answers: Record<string, (asked: unknown) => unknown> = {
    eth_blockNumber: () => NODE_BLOCK.number,
    eth_getLogs: () => [log, { ...log, data: '0x' }],
    eth_getTransactionByHash: (hash) => (hash === transaction.hash ? transaction : null),
    eth_getTransactionReceipt: (hash) => (hash === transaction.hash ? receipt : null),
    eth_getBlockByHash: (hash) => (hash === block.hash ? block : null),
    eth_getBlockByNumber: (number) => (number === block.number ? block : null),
  };
  const node = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params[0]) }));
  }).listen(0, '127.0.0.1');
  t.after(() => void node.close());
  await new Promise((resolve) => node.once('listening', resolve));
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
}
