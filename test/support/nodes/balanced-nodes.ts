/**
 * Replay nodes of one chain behind one address, each with its own head, like a load balancer over nodes at different
 * heights. Like Monad, the nodes silently truncate a range of logs at their head.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { GeneratedBlock } from '../../../scripts/simulator/chain/block.ts';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import type { ChainOptions } from '../../../scripts/simulator/chain/options.ts';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import type { ReplayOptions } from '../../../scripts/simulator/replay/options.ts';
import { startHttpProxy } from './http-proxy.ts';
import { type Cleanup, startNode } from './replay.ts';

/** What is balanced. */
type BalancedBy = 'request' | 'connection';

export interface BalancedNodes {
  /** The address of the balancer. */
  url: string;
  nodes: ReplayNode[];
  blocks: GeneratedBlock[];
  /** Bodies of all requests, with the index of the node that received each. */
  received: { body: string; node: number }[];
  /** Sends every request to this node until called with null. */
  pin(node: number | null): void;
  balanceBy(by: BalancedBy): void;
  /** Answers every batch with an error, like nodes that accept none. */
  refuseBatches(): void;
}

/** One node per head. Each node has at least the first block. */
export async function startBalancedNodes(
  owner: Cleanup,
  chain: Partial<ChainOptions>,
  heads: readonly number[],
  options: ReplayOptions = {},
): Promise<BalancedNodes> {
  const generated = generateChain(chain);
  const blocks = [...generated.blocks];
  const { chainId } = generated.options;
  const nodes = await Promise.all(
    heads.map((head) => startNode(owner, { chainId, ...options, chain: blocks, head })),
  );
  const received: BalancedNodes['received'] = [];
  const nodeOf = new WeakMap<Socket, number>();
  let by: BalancedBy = 'request';
  let pinned: number | null = null;
  let takesBatches = true;
  let turn = 0;

  const choose = ({ socket }: IncomingMessage): number => {
    if (pinned !== null) return pinned;
    if (by === 'request') return turn++ % nodes.length;
    const node = nodeOf.get(socket) ?? turn++ % nodes.length;
    nodeOf.set(socket, node);
    return node;
  };
  const url = await startHttpProxy(owner, (body, request) => {
    const node = choose(request);
    received.push({ body, node });
    return !takesBatches && body.startsWith('[') ? { answer: NO_BATCHES } : nodes[node]!.url;
  });
  return {
    url,
    nodes,
    blocks,
    received,
    pin(node) {
      pinned = node;
    },
    balanceBy(next) {
      by = next;
    },
    refuseBatches() {
      takesBatches = false;
    },
  };
}

const NO_BATCHES = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message: 'batch requests are not supported' },
});
