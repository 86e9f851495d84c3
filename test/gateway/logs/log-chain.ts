/** A gateway before a node with a log in each block. */
import type { TestContext } from 'node:test';
import { NodeError, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { startGateway, type TestGatewayOptions } from '../gateway.ts';

export const quantity = (number: number) => `0x${number.toString(16)}`;

interface Chain {
  head: number;
  finalized: number;
  branch: number;
  /** Refuses an eth_getLogs by throwing. */
  refuse: (width: number, from: number) => void;
  /** Requested ranges, as written. */
  ranges: [unknown, unknown][];
  /** Most concurrent requests. */
  atOnce: number;
}

/** The head is final. */
const AT_ONCE = { rule: 'instant', maxReorg: 0 } as const;

/** A node with two logs in each block, formatted unlike JSON.stringify. */
export async function setUp(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const chain: Chain = {
    head: 5_000,
    finalized: 5_000,
    branch: 0,
    refuse: () => undefined,
    ranges: [],
    atOnce: 0,
  };
  let asking = 0;
  const height = (id: unknown) =>
    id === 'latest' || id === undefined ? chain.head : id === 'finalized' ? chain.finalized : Number(id);
  const node = await startMisbehavingNode({
    async answer(method, params) {
      const [first = ''] = params as [(Record<string, unknown> & string) | undefined];
      const { fromBlock, toBlock, address }: Record<string, unknown> = Object(first);
      if (method === 'eth_blockNumber') return quantity(chain.head);
      if (method === 'eth_getBlockByNumber') {
        const number =
          first === 'finalized' ? chain.finalized : first === 'safe' ? chain.finalized : height(first);
        const hash = (at: number) => `0x${String(chain.branch)}${at.toString(16).padStart(63, '0')}`;
        return { number: quantity(number), hash: hash(number), parentHash: hash(number - 1) };
      }
      chain.ranges.push([fromBlock, toBlock]);
      asking++;
      chain.atOnce = Math.max(chain.atOnce, asking);
      await new Promise((resolve) => setImmediate(resolve));
      asking--;
      const [from, to] = [height(fromBlock), height(toBlock)];
      if (from > to) throw new NodeError(-32602, 'invalid block range params');
      chain.refuse(to - from + 1, from);
      return Array.from({ length: 2 * (to - from + 1) }, (_, i) => ({
        blockNumber: quantity(from + (i >> 1)),
        logIndex: quantity(i & 1),
        branch: chain.branch,
        address,
      }));
    },
  });
  t.after(() => node.close());
  const gateway = startGateway(t, {
    url: node.url,
    cache: false,
    local: false,
    finality: AT_ONCE,
    ...options,
  });
  const logs = async (fromBlock?: unknown, toBlock?: unknown, rest = {}) => {
    const { result, error } = await gateway.call('eth_getLogs', [{ ...rest, fromBlock, toBlock }]);
    if (error) return error;
    return (result as { blockNumber: string; logIndex: string }[]).map(
      ({ blockNumber, logIndex }) => 2 * Number(blockNumber) + Number(logIndex),
    );
  };
  return { node, chain, gateway, logs };
}

/** Numbers of all logs of a range. */
export const expected = (from: number, to: number) =>
  Array.from({ length: 2 * (to - from + 1) }, (_, i) => 2 * from + i);
