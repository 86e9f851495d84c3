/** A gateway before a scripted node, whose answers wait until the test gives them. */
import type { TestContext } from 'node:test';
import { startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { waitFor } from '../../support/wait.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../gateway.ts';

export const ADDRESS = `0x${'11'.repeat(20)}`;

export const quantity = (number: number) => `0x${number.toString(16)}`;

export const hashOf = (number: number, branch = '') =>
  `0x${(branch + number.toString(16)).padStart(64, '0')}`;

/** A node whose chain the test controls. Apart from the block, each answer differs from the one before. */
export async function scripted(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const chain = {
    head: 100,
    finalized: 90,
    branch: '',
    asked: [] as string[],
    /** Holds answers about a block, by its quantity, until this resolves. */
    held: new Map<string, Promise<void>>(),
  };
  let answers = 0;
  const block = (number: number) =>
    number > chain.head
      ? null
      : {
          number: quantity(number),
          hash: hashOf(number, chain.branch),
          parentHash: hashOf(number - 1, chain.branch),
          answer: ++answers,
        };
  const numberOf = (id: string) =>
    id === 'latest' ? chain.head : id === 'finalized' ? chain.finalized : Number(id);
  const node = await startMisbehavingNode({
    answer(method, params) {
      chain.asked.push(`${method} ${JSON.stringify(params)}`);
      const [first] = params as string[];
      switch (method) {
        case 'eth_blockNumber':
          return quantity(chain.head);
        case 'eth_getBlockByNumber': {
          const answer = block(numberOf(first ?? ''));
          return chain.held.get(first ?? '')?.then(() => answer) ?? answer;
        }
        case 'eth_getBlockByHash':
          return block(Number(`0x${(first ?? '').slice(-4)}`));
        case 'eth_getTransactionReceipt': {
          const number = Number(`0x${(first ?? '').slice(-4)}`);
          if (number > chain.head) return null;
          return { transactionHash: first, blockNumber: quantity(number), answer: ++answers };
        }
        default:
          return `answer ${++answers}`;
      }
    },
  });
  t.after(() => node.close());
  const gateway = startGateway(t, { url: node.url, ...options });
  return { node, chain, gateway };
}

/** Makes a call that causes the gateway to learn what is final. */
export async function learnFinality(gateway: TestGateway, block = 1): Promise<void> {
  await waitFor(
    async () => {
      const [one, two] = [
        await gateway.result('eth_getBlockByNumber', quantity(block), false),
        await gateway.result('eth_getBlockByNumber', quantity(block), false),
      ];
      return JSON.stringify(one) === JSON.stringify(two);
    },
    { what: `block ${block} to be answered from the cache` },
  );
}
